"""Transactions: begin, add partitions and offsets, commit and abort, with protocol v1 (KIP-98) or v2 (KIP-890).

A transaction counts as committed only when the coordinator confirms it. An outcome that cannot be determined is raised
as UnknownOutcome and ends the producer.
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

LOOK_AGAIN = 5.0  # seconds for which the cluster's features are cached
FIND_OUT = 10.0  # seconds to find out how a transaction ended after the response to EndTxn was lost
DECIDED = {"PrepareCommit": True, "CompleteCommit": True, "PrepareAbort": False, "CompleteAbort": False}


class Transactions(Gate):
    """The transactions of one producer, one at a time. `wake` wakes the engine."""

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
        self._offsets = asyncio.Lock()  # held while offsets are sent; the end of the transaction waits for it
        self._offsets_sent = False

    async def initialise(self) -> None:
        """Get a producer id, which fences every older producer of this transactional id and ends its open transaction.

        Does nothing the second time. Raises Fenced, BrokerError, ConnectError, DeadlineExceeded; after the last two it
        may be called again.
        """
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
        """Begin a transaction. It keeps the protocol that is chosen here."""
        await self.initialise()
        self.standing.check("begin")
        now = asyncio.get_running_loop().time()
        if now - self._looked >= LOOK_AGAIN:
            self._v2 = await self._coordination.speaks_v2()
            self._looked = now
            self.standing.check("begin")  # another task may have begun one in the meantime
        self.standing.go(State.IN_TRANSACTION)

    async def send_offsets(self, offsets: Mapping[TopicPartition, Position | int], group: GroupMetadata) -> None:
        """Commit a group's offsets with the transaction (KIP-447). Raises AbortRequired, Fenced."""
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
        """Discard unsent records, wait for those on the wire, and abort.

        Raises Fenced, BrokerError; after DeadlineExceeded and ConnectError it may be called again. Otherwise the
        coordinator aborts after the transaction timeout.
        """
        self.standing.check("abort")
        self.standing.go(State.ABORTING)
        try:
            await self._come_to_rest()
        except BaseException:
            self.standing.abort_again(AbortRequired("the abort was interrupted"))
            raise
        await self._end(committed=False)

    async def _flush(self) -> None:
        """Wait until all records are settled, or until one failed, because waiting for the rest is then pointless."""
        async with self._offsets:
            pass
        changed = self._ledger.changed
        self._accumulator.close_all()
        while self._accumulator.incomplete and self.standing.state is State.COMMITTING:
            changed.clear()
            await changed.wait()

    async def _come_to_rest(self) -> None:
        """Wait until nothing of the transaction is on the wire: anything that arrived after its end would begin another
        one."""
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
            if self.registration.touched or self._offsets_sent:  # otherwise there is nothing to end
                ended = await self._ending.ask(committed=committed, v2=self._v2)
        except KcliError as problem:
            self._not_ended(committed, problem)
        except BaseException:
            if committed:
                text = "the commit was interrupted; it is unknown whether it succeeded"
                self.standing.fail(UnknownOutcome(f"{self._coordination.about}: {text}"), fatal=True)
            else:
                self.standing.abort_again(AbortRequired("the abort was interrupted"))
            raise
        self.registration.clear()
        self._offsets_sent = False
        await self._go_on(ended)

    def _not_ended(self, committed: bool, problem: KcliError) -> None:
        """Raise the error of a failed end. If the transaction was certainly not committed it can be aborted, even if
        the failed call was itself an abort."""
        abortable = not isinstance(problem, BrokerError | Fenced | UnknownOutcome | UnsupportedVersion)
        if isinstance(problem, BrokerError) and problem.code is codes.TRANSACTION_ABORTABLE:
            abortable = committed
        if committed or not abortable:
            self.standing.fail(problem, fatal=not abortable)
            self._raise_standing()
        self.standing.abort_again(problem)
        raise problem

    async def _go_on(self, ended: Ended | None) -> None:
        """Prepare for the next transaction after this one has ended; errors are reported by the next call."""
        try:
            if ended is not None and not ended.usable:
                text = "the last transaction ended as requested, but the next epoch is unknown"
                self.standing.fail(KcliError(f"{self._coordination.about}: {text}"), fatal=True)
                return
            if ended is not None and ended.renewed:
                self._begin_sequences()
            elif any(queue.needs_epoch for queue in self._accumulator.queues.values()):
                await self.identity.renew()  # after lost sequences a new epoch is needed
                self._begin_sequences()
        except KcliError as problem:
            self.standing.fail(plain(problem), fatal=True)
        except BaseException:
            self.standing.fail(KcliError("the request for a new epoch was interrupted"), fatal=True)
            raise
        if self.standing.state is not State.FATAL_ERROR:
            self.standing.go(State.READY)

    def _begin_sequences(self) -> None:
        for queue in self._accumulator.queues.values():
            queue.rewind(self.identity)


class Ended:
    """The transaction ended as requested. `renewed`: the response set a new epoch, and sequences begin at 0 (KIP-890).
    `usable` is False if only the coordinator knows the next epoch: the transaction has ended, but this producer cannot
    continue."""

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
        """End the transaction.

        Raises BrokerError TRANSACTION_ABORTABLE (it can only be aborted), and DeadlineExceeded or ConnectError if it
        was certainly not committed (abort it, again if this was an abort). After Fenced, UnknownOutcome and any other
        BrokerError the producer cannot continue.
        """
        doubt: list[KcliError] = []
        request = EndTxnRequest(
            transactional_id=self._coordination.key.name,
            producer_id=self._identity.producer_id,
            producer_epoch=self._identity.epoch,
            committed=committed,
        )
        try:
            # repeating the request is safe: the coordinator knows its epoch and that it was executed (KIP-890)
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
        """Handle an EndTxn without a successful response. Returns if the transaction ended as requested."""
        refused = isinstance(problem, BrokerError)
        if isinstance(problem, BrokerError) and problem.code is codes.INVALID_TXN_STATE and not committed:
            return Ended(renewed=False, usable=True)  # nothing was ever added, so there is nothing to abort
        if not doubt:  # no attempt can have been executed
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
            text = f"{about}: it is unknown whether the transaction was committed; last error: {problem}"
            raise UnknownOutcome(text) from problem
        if refused:
            raise plain(problem) from problem
        raise DeadlineExceeded(
            f"{about}: no answer to the abort; the coordinator aborts by itself after transaction.timeout.ms"
        ) from problem

    async def _find_out(self, v2: bool) -> bool | None:
        """Return True if the transaction was committed, False if aborted, None if unknown.

        In v2 the end bumps the epoch. In v1 it does not, and a later epoch may belong to another producer.
        """
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
            return None  # not ended, or already another producer's
        return DECIDED.get(transaction.transaction_state)
