"""Transactions: begin, registered partitions, offsets, commit and abort, by protocol v1 (KIP-98) or v2 (KIP-890).

A transaction counts as committed only when the coordinator confirms it. An outcome that cannot be found out is raised
as UnknownOutcome and ends the producer (D38).
"""

from __future__ import annotations

import asyncio

from kcli import codes
from kcli.errors import BrokerError, DeadlineExceeded, KcliError, UnknownOutcome, UnsupportedVersion
from kcli.producer.transactions.gate import Gate
from kcli.producer.transactions.requests import plain
from kcli.producer.transactions.state import AbortRequired, Fenced, State
from kcli.proto.messages.end_txn import EndTxnRequest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kcli.model import Cluster, GroupMetadata, TopicPartition
    from kcli.producer.batches.accumulator import Accumulator
    from kcli.producer.batches.ledger import Ledger
    from kcli.producer.transactions.offsets import Position
    from kcli.producer.transactions.requests import Coordination, TransactionalIdentity
    from kcli.settings import ProducerSettings

LOOK_AGAIN = 5.0  # seconds for which what the cluster's features said is believed
FIND_OUT = 10.0  # seconds for learning how a transaction ended whose EndTxn was lost
DECIDED = {"PrepareCommit": True, "CompleteCommit": True, "PrepareAbort": False, "CompleteAbort": False}


class Transactions(Gate):
    """The transactions of one producer, one after the other. `wake` wakes the engine."""

    def __init__(
        self,
        cluster: Cluster,
        settings: ProducerSettings,
        accumulator: Accumulator,
        ledger: Ledger,
        wake: Callable[[], None],
    ) -> None:
        super().__init__(cluster, settings, accumulator, ledger, wake)
        self._looked = -1e18
        self._ending = Ending(self._coordination, self.identity)
        self._offsets = asyncio.Lock()  # held while positions are sent: the end of the transaction waits for it
        self._offsets_sent = False

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
        except (BrokerError, UnsupportedVersion) as problem:
            standing.fail(plain(problem), fatal=True)
            self._raise_standing()
        except BaseException:
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
            self.standing.check("begin")  # another task may have begun meanwhile
        self.standing.go(State.IN_TRANSACTION)

    async def send_offsets(self, offsets: Mapping[TopicPartition, Position | int], group: GroupMetadata) -> None:
        """Store a group's positions with the transaction (D40, KIP-447). Raises AbortRequired, Fenced."""
        from kcli.producer.transactions.offsets import commit_offsets

        self.standing.check("send_offsets")
        if not offsets:
            return
        async with self._offsets:
            self.standing.check("send_offsets")
            self._offsets_sent = True
            try:
                await commit_offsets(self._coordination, self.identity, offsets, group, v2=self._v2)
            except KcliError as problem:
                self._refused(problem)
                self._raise_standing()
            except BaseException:
                self.standing.fail(AbortRequired("sending positions was interrupted"), fatal=False)
                raise

    async def commit(self) -> None:
        """Send the remaining records and commit. Raises AbortRequired if one failed, Fenced, UnknownOutcome."""
        self.standing.check("commit")
        self.standing.go(State.COMMITTING)
        try:
            await self._flush()
        except BaseException:
            self.standing.fail(AbortRequired("the commit was interrupted"), fatal=False)
            raise
        if self.standing.state is not State.COMMITTING:
            self._raise_standing()
        await self._end(committed=True)

    async def abort(self) -> None:
        """Drop unsent records, wait for those on the wire, and abort. Raises Fenced, BrokerError; after
        DeadlineExceeded and ConnectError it may be called again. If it is not, the coordinator aborts after the
        transaction's timeout."""
        self.standing.check("abort")
        self.standing.go(State.ABORTING)
        try:
            await self._come_to_rest()
        except BaseException:
            self.standing.abort_again(AbortRequired("the abort was interrupted"))
            raise
        await self._end(committed=False)

    async def _flush(self) -> None:
        """Until all is settled, or something failed: then there is no point in waiting for the rest."""
        async with self._offsets:
            pass
        changed = self._ledger.changed
        self._accumulator.close_all()
        while self._accumulator.incomplete and self.standing.state is State.COMMITTING:
            changed.clear()
            await changed.wait()

    async def _come_to_rest(self) -> None:
        """Nothing of the transaction is on its way any more: what came after its end would open another one."""
        await self.registration.stop()
        async with self._offsets:
            pass
        error = AbortRequired("the transaction was aborted before the record was sent")
        while True:
            self._ledger.fail_unsent(error)
            if not self._on_wire and not any(queue.in_flight for queue in self._accumulator.active.values()):
                return
            self._ledger.changed.clear()
            await self._ledger.changed.wait()

    async def _end(self, *, committed: bool) -> None:
        ended = None
        try:
            if self.registration.touched or self._offsets_sent:  # else there is nothing to end (D42)
                ended = await self._ending.ask(committed=committed, v2=self._v2)
        except KcliError as problem:
            self._not_ended(committed, problem)
        except BaseException:
            if committed:
                text = "the commit was interrupted; it is unknown whether it was done"
                self.standing.fail(UnknownOutcome(f"{self._coordination.about}: {text}"), fatal=True)
            else:
                self.standing.abort_again(AbortRequired("the abort was interrupted"))
            raise
        self.registration.clear()
        self._offsets_sent = False
        await self._go_on(ended)

    def _not_ended(self, committed: bool, problem: KcliError) -> None:
        """Raises. What certainly was not committed can be aborted, also when it was the abort that did not work."""
        abortable = not isinstance(problem, BrokerError | Fenced | UnknownOutcome | UnsupportedVersion)
        if isinstance(problem, BrokerError) and problem.code is codes.TRANSACTION_ABORTABLE:
            abortable = committed
        if committed or not abortable:
            self.standing.fail(problem, fatal=not abortable)
            self._raise_standing()
        self.standing.abort_again(problem)
        raise problem

    async def _go_on(self, ended: Ended | None) -> None:
        """The transaction is over, whatever happens here: trouble is for the next call to tell."""
        try:
            if ended is not None and not ended.usable:
                text = "the last transaction ended as requested, but the next epoch is unknown"
                self.standing.fail(KcliError(f"{self._coordination.about}: {text}"), fatal=True)
                return
            if ended is not None and ended.renewed:
                self._begin_sequences()
            elif any(queue.needs_epoch for queue in self._accumulator.queues.values()):
                await self.identity.renew()  # sequences that were lost need another epoch (D27)
                self._begin_sequences()
        except KcliError as problem:
            self.standing.fail(plain(problem), fatal=True)
        except BaseException:
            self.standing.fail(KcliError("asking for a new epoch was interrupted"), fatal=True)
            raise
        if self.standing.state is not State.FATAL_ERROR:
            self.standing.go(State.READY)

    def _begin_sequences(self) -> None:
        for queue in self._accumulator.queues.values():
            queue.rewind(self.identity)


class Ended:
    """How it ended as asked. `renewed`: the answer gave a new epoch, sequences begin at 0 (KIP-890). `usable` is
    False when only the coordinator knows the epoch that comes next: it is done, and this producer is at its end."""

    __slots__ = ("renewed", "usable")

    def __init__(self, *, renewed: bool, usable: bool) -> None:
        self.renewed = renewed
        self.usable = usable


class Ending:
    """Ends the transactions of one producer."""

    def __init__(self, coordination: Coordination, identity: TransactionalIdentity) -> None:
        self._coordination = coordination
        self._identity = identity

    async def ask(self, *, committed: bool, v2: bool) -> Ended:
        """End it. Raises BrokerError TRANSACTION_ABORTABLE (it can only be aborted), DeadlineExceeded or ConnectError
        when it certainly was not committed (abort it, once more if it was the abort); after Fenced, UnknownOutcome
        and every other BrokerError there is no way on."""
        doubt: list[KcliError] = []
        request = EndTxnRequest(
            transactional_id=self._coordination.key.name,
            producer_id=self._identity.producer_id,
            producer_epoch=self._identity.epoch,
            committed=committed,
        )
        try:
            # the same request again is safe: the coordinator knows its epoch, and that it has done this (KIP-890)
            answer = await self._coordination.ask(
                request,
                lambda response: codes.of(response.error_code),
                self._coordination.about,
                max_version=None if v2 else 4,
                doubt=doubt,
            )
        except KcliError as problem:
            return await self._without_answer(committed, v2, problem, doubt)
        if answer.producer_id < 0:
            return Ended(renewed=False, usable=True)
        self._identity.become(answer.producer_id, answer.producer_epoch)
        return Ended(renewed=True, usable=True)

    async def _without_answer(self, committed: bool, v2: bool, problem: KcliError, doubt: list[KcliError]) -> Ended:
        """EndTxn brought no good answer. Returns if the transaction ended as it should."""
        refused = isinstance(problem, BrokerError)
        if isinstance(problem, BrokerError) and problem.code is codes.INVALID_TXN_STATE and not committed:
            return Ended(renewed=False, usable=True)  # nothing was ever added: there is nothing to abort
        if not doubt:  # no attempt was acted on
            if isinstance(problem, BrokerError) and problem.code is codes.INVALID_TXN_STATE:
                text = "the coordinator had ended the transaction: it took longer than transaction.timeout.ms"
                raise Fenced(f"{problem.about}: {text} ({problem.code.name})") from problem
            raise plain(problem) from problem
        ended = await self._find_out(v2)
        if ended is committed:
            return Ended(renewed=False, usable=False)
        about = self._coordination.about
        if committed and ended is not None:
            raise Fenced(f"{about}: the coordinator had ended the transaction otherwise") from problem
        if committed:
            text = f"{about}: it is unknown whether the transaction was committed; the last: {problem}"
            raise UnknownOutcome(text) from problem
        if refused:
            raise plain(problem) from problem
        raise DeadlineExceeded(
            f"{about}: no answer to the abort; the coordinator aborts by itself after transaction.timeout.ms"
        ) from problem

    async def _find_out(self, v2: bool) -> bool | None:
        """Whether the transaction was committed (True) or aborted (False); None if that is unknown. Under v2 its end
        bumps the epoch. Under v1 it does not, and a later epoch there may be another producer's."""
        from kcli.proto.messages.describe_transactions import DescribeTransactionsRequest

        try:
            answer = await self._coordination.ask(
                DescribeTransactionsRequest(transactional_ids=[self._coordination.key.name]),
                lambda response: codes.of(response.transaction_states[0].error_code),
                self._coordination.about,
                deadline=asyncio.get_running_loop().time() + FIND_OUT,
            )
        except KcliError:
            return None
        (transaction,) = answer.transaction_states
        ours = (self._identity.producer_id, self._identity.epoch + v2)
        if (transaction.producer_id, transaction.producer_epoch) != ours:
            return None  # not ended, or another producer's by now
        return DECIDED.get(transaction.transaction_state)
