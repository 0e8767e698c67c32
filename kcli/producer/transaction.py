"""Transactions: begin, registered partitions, offsets, commit and abort, by protocol v1 (KIP-98) or v2 (KIP-890).

A transaction counts as committed when the coordinator says so, and never else. An outcome that cannot be found out is
raised as UnknownOutcome and ends the producer (D38).
"""

from __future__ import annotations

import asyncio

from kcli import codes
from kcli.errors import BrokerError, DeadlineExceeded, KcliError, UnknownOutcome, UnsupportedVersion
from kcli.producer.registration import Registration
from kcli.producer.transaction_requests import FENCING, Coordination
from kcli.producer.transaction_state import AbortRequired, Fenced, Standing, State
from kcli.producer.transactional_identity import TransactionalIdentity
from kcli.proto.messages.end_txn import EndTxnRequest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kcli.model import Cluster, GroupMetadata, TopicPartition
    from kcli.producer.accumulator import Accumulator
    from kcli.producer.ledger import Ledger
    from kcli.producer.offsets import Position
    from kcli.settings import ProducerSettings

FATAL = (
    codes.CLUSTER_AUTHORIZATION_FAILED, codes.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, codes.PRODUCER_FENCED,
    codes.INVALID_PRODUCER_ID_MAPPING, codes.INVALID_TXN_STATE, codes.UNSUPPORTED_FOR_MESSAGE_FORMAT,
    codes.INVALID_TRANSACTION_TIMEOUT,
)  # fmt: skip
"""Errors after which the producer cannot go on; on Produce INVALID_PRODUCER_EPOCH is not among them (D41)."""

LOOK_AGAIN = 5.0  # seconds for which what the cluster's features said is believed
FIND_OUT = 10.0  # seconds for learning how a transaction ended whose EndTxn was lost


class Transactions:
    """The transactions of one producer, one after the other. `wake` has the engine look again."""

    def __init__(
        self,
        cluster: Cluster,
        settings: ProducerSettings,
        accumulator: Accumulator,
        ledger: Ledger,
        wake: Callable[[], None],
    ) -> None:
        self._settings = settings
        self._accumulator = accumulator
        self._ledger = ledger
        self._wake = wake
        self._coordination = Coordination(cluster, settings)
        self.identity = TransactionalIdentity(self._coordination, settings)
        self.standing = Standing()
        self._v2 = False
        self._looked = -1e18
        self.registration = Registration(self._coordination, self.identity, self.failed, wake)
        self._offsets_sent = False
        ledger.on_failure = self.failed

    # -- what the engine asks ---------------------------------------------------------------------------------------

    def admits(self, at: TopicPartition) -> bool:
        """Whether a batch of that partition may be sent: the partition is part of the open transaction (D36); under
        v2 sending makes it so (D37)."""
        if self.standing.state not in (State.IN_TRANSACTION, State.COMMITTING):
            return False
        return self._v2 or self.registration.has(at)

    def sent(self, at: TopicPartition) -> None:
        """A batch leaves. Whatever becomes of it, the partition belongs to the transaction now (D39)."""
        self.registration.touched.add(at)

    @property
    def produce_cap(self) -> int | None:
        """The highest version of Produce: from 12 on it means v2."""
        return None if self._v2 else 11

    def failed(self, error: KcliError) -> None:
        """Something of the transaction failed: it can only be aborted, or nothing at all any more."""
        code = error.code if isinstance(error, BrokerError) else None
        self.standing.fail(error, fatal=code in FATAL or isinstance(error, UnsupportedVersion))
        self._wake()

    @property
    def open(self) -> bool:
        """A transaction that can be aborted."""
        return self.standing.state in (State.IN_TRANSACTION, State.ABORTABLE_ERROR)

    # -- the life of a transaction ----------------------------------------------------------------------------------

    async def initialise(self) -> None:
        """Get a producer id, which fences every older producer of this transactional id and ends what it left open
        (D35). Does nothing the second time. Raises Fenced, BrokerError, ConnectError, DeadlineExceeded; after the
        last two it may be called again."""
        standing = self.standing
        if standing.state is not State.UNINITIALIZED:
            return
        standing.go(State.INITIALIZING)
        try:
            await self.identity.obtain()
        except BaseException as problem:
            final = isinstance(problem, KcliError) and not isinstance(problem, DeadlineExceeded)
            if isinstance(problem, BrokerError) or (final and isinstance(problem, UnsupportedVersion)):
                standing.fail(_plain(problem), fatal=True)
                raise self._final() from problem
            standing.go(State.UNINITIALIZED)
            raise
        standing.go(State.READY)

    async def begin(self) -> None:
        """Open a transaction. Which protocol it speaks is decided here, and stays (D37)."""
        await self.initialise()
        self.standing.check("begin")
        now = asyncio.get_running_loop().time()
        if now - self._looked >= LOOK_AGAIN:
            self._v2 = await self._coordination.speaks_v2()
            self._looked = now
        self.standing.go(State.IN_TRANSACTION)

    async def send_offsets(self, offsets: Mapping[TopicPartition, Position], group: GroupMetadata) -> None:
        """Store a group's positions with the transaction (D40, KIP-447). Raises AbortRequired, Fenced."""
        from kcli.producer.offsets import commit_offsets

        self.standing.check("send_offsets")
        if not offsets:
            return
        self._offsets_sent = True
        try:
            await commit_offsets(self._coordination, self.identity, offsets, group, v2=self._v2)
        except KcliError as problem:
            self._give_up(problem)

    async def commit(self) -> None:
        """Send what is left and commit. Raises AbortRequired when something failed, Fenced, UnknownOutcome."""
        self.standing.check("commit")
        self.standing.go(State.COMMITTING)
        await self._flush()
        if self.standing.state is not State.COMMITTING:
            self._raise_standing()
        await self._end(committed=True)

    async def abort(self) -> None:
        """Give up what was not sent, wait for what is on the wire, and abort. Raises Fenced, UnknownOutcome."""
        self.standing.check("abort")
        self.standing.go(State.ABORTING)
        error = AbortRequired("the transaction was aborted before the record was sent")
        while True:
            self._ledger.fail_unsent(error)
            if not any(queue.in_flight for queue in self._accumulator.active.values()):
                break
            self._ledger.changed.clear()
            await self._ledger.changed.wait()
        await self._end(committed=False)

    async def _flush(self) -> None:
        """Until all is settled, or something failed: then there is no point in waiting for the rest."""
        changed = self._ledger.changed
        self._accumulator.close_all()
        while self._accumulator.incomplete and self.standing.state is State.COMMITTING:
            changed.clear()
            await changed.wait()

    # -- the end ----------------------------------------------------------------------------------------------------

    async def _end(self, *, committed: bool) -> None:
        try:
            if self.registration.touched or self._offsets_sent:  # else there is nothing to end (D42)
                await self._ask_for_end(committed)
            await self._next_epoch()
        except KcliError as problem:
            if self.standing.state in (State.COMMITTING, State.ABORTING):
                self.standing.fail(problem, fatal=True)
            raise
        except BaseException:
            self.standing.fail(UnknownOutcome(f"{self._coordination.about}: the end was interrupted"), fatal=True)
            raise
        self.registration.clear()
        self._offsets_sent = False
        if self.standing.state is not State.FATAL_ERROR:
            self.standing.go(State.READY)

    async def _ask_for_end(self, committed: bool) -> None:
        doubt: list[KcliError] = []
        request = EndTxnRequest(
            transactional_id=self._settings.transactional_id or "",
            producer_id=self.identity.producer_id,
            producer_epoch=self.identity.epoch,
            committed=committed,
        )
        try:
            # the same request again is safe: the coordinator knows its epoch, and that it has done this (KIP-890)
            answer = await self._coordination.ask(
                request, lambda one: codes.of(one.error_code), self._coordination.about,
                max_version=None if self._v2 else 4, doubt=doubt,
            )  # fmt: skip
        except KcliError as problem:
            await self._not_ended(committed, problem, doubt)
            return
        if answer.producer_id >= 0:
            self.identity.become(answer.producer_id, answer.producer_epoch)
            self._begin_sequences()

    async def _not_ended(self, committed: bool, problem: KcliError, doubt: list[KcliError]) -> None:
        """EndTxn brought no good answer. Returns if the transaction ended as it should, and else raises."""
        if isinstance(problem, BrokerError) and not doubt:
            if committed and problem.code is codes.TRANSACTION_ABORTABLE:
                self.standing.fail(problem, fatal=False)
                self._raise_standing()
            self.standing.fail(_plain(problem), fatal=True)
            raise self._final() from problem
        ended = await self._find_out()
        if ended is committed:
            self.standing.fail(_plain(problem), fatal=True)  # it is done; who goes on is another producer
            return
        verb = "commit" if committed else "abort"
        if ended is None:
            text = f"{self._coordination.about}: nobody can say whether the {verb} was done; the last: {problem}"
            raise UnknownOutcome(text) from problem
        raise Fenced(f"{self._coordination.about}: the coordinator had ended the transaction otherwise") from problem

    async def _find_out(self) -> bool | None:
        """Whether the transaction was committed (True) or aborted (False); None if nobody can say."""
        from kcli.proto.messages.describe_transactions import DescribeTransactionsRequest

        try:
            answer = await self._coordination.ask(
                DescribeTransactionsRequest(transactional_ids=[self._coordination.key.name]),
                lambda one: codes.of(one.transaction_states[0].error_code),
                self._coordination.about,
                deadline=asyncio.get_running_loop().time() + FIND_OUT,
            )
        except KcliError:
            return None
        (told,) = answer.transaction_states
        ours = (self.identity.epoch, self.identity.epoch + 1)
        if told.producer_id != self.identity.producer_id or told.producer_epoch not in ours:
            return None
        return {
            "PrepareCommit": True, "CompleteCommit": True, "PrepareAbort": False, "CompleteAbort": False,
        }.get(told.transaction_state)  # fmt: skip

    async def _next_epoch(self) -> None:
        """Sequences that were lost need another epoch, unless EndTxn gave one (D27)."""
        if any(queue.needs_epoch for queue in self._accumulator.queues.values()):
            await self.identity.renew()
            self._begin_sequences()

    def _begin_sequences(self) -> None:
        for queue in self._accumulator.queues.values():
            queue.rewind(self.identity)

    # -- errors -----------------------------------------------------------------------------------------------------

    def _give_up(self, problem: KcliError) -> None:
        """A request for the transaction failed for good. From the coordinator fencing is final (D41)."""
        if isinstance(problem, BrokerError) and problem.code in FENCING:
            self.standing.fail(_plain(problem), fatal=True)
        else:
            self.failed(problem)
        self._raise_standing()

    def _raise_standing(self) -> None:
        error = self.standing.error
        assert error is not None
        if self.standing.state is State.FATAL_ERROR:
            raise self._final() from error
        raise AbortRequired(f"the transaction can only be aborted: {error}") from error

    def _final(self) -> KcliError:
        assert self.standing.error is not None
        return self.standing.error


def _plain(problem: BaseException) -> KcliError:
    """The error as its reader should see it."""
    if isinstance(problem, BrokerError) and problem.code in FENCING:
        return Fenced(f"{problem.about}: another producer with this transactional id has taken over, "
                      f"or the transaction took longer than transaction.timeout.ms ({problem.code.name})")  # fmt: skip
    assert isinstance(problem, KcliError)
    return problem
