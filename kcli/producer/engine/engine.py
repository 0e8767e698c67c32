"""The engine: a supervisor task that runs a sender per leader, closes batches and enforces deadlines.

If a task ends unexpectedly the producer fails: every waiter gets the error, and nothing hangs.
"""

from __future__ import annotations

import asyncio
import atexit
import math
import sys

from kcli.errors import Closed, KcliError
from kcli.producer.batches.accumulator import Accumulator
from kcli.producer.batches.active import Active
from kcli.producer.batches.ledger import Budget, Ledger
from kcli.producer.batches.queue import Identity
from kcli.producer.engine.draining import Draining, Pacing
from kcli.producer.engine.lookups import Search
from kcli.producer.engine.responses import Returns
from kcli.producer.engine.sender import LeaderSender
from kcli.system.child import after_fork
from kcli.tasks import DaemonThread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from kcli.metrics.observer import ProducerObserver
    from kcli.metrics.values import ProducerMetrics
    from kcli.model import Cluster, TopicPartition
    from kcli.producer.batches.batch import ProducerBatch
    from kcli.producer.batches.ledger import Counts
    from kcli.producer.batches.queue import PartitionQueue
    from kcli.producer.transactions.transaction import Transactions
    from kcli.settings import ProducerSettings

_unsettled: dict[int, Counts] = {}
"""The counts of each producer that was started and not stopped, by id. Only the counts, so that an unstopped producer
can still be garbage-collected."""
SEALERS = 2


class Engine:
    """`refreshed` is called with the topics whose metadata was refreshed."""

    def __init__(
        self,
        cluster: Cluster,
        settings: ProducerSettings,
        refreshed: Callable[[Iterable[str]], None],
        observer: ProducerObserver,
    ) -> None:
        self._cluster = cluster
        self._settings = settings
        self._observer = observer
        self._wake = asyncio.Event()
        self.poison: BaseException | None = None
        self.budget = Budget(settings.buffer_memory, settings.buffer_records, self._wake.set)
        self.ledger = Ledger(settings, self.budget, self._on_flow)
        self._sealers = Sealers(settings, self._was_sealed)
        active = Active(cluster.leader_id, cluster.leaders_version)
        self.accumulator = Accumulator(settings, active, self._on_flow, self._sealers.seal, self.ledger.too_large)
        self.ledger.accumulator = self.accumulator
        self.transactions = self._transactions()
        self.identity = Identity(cluster, settings) if self.transactions is None else self.transactions.identity
        self._returns = Returns(cluster, settings, self.accumulator, self.ledger, self._on_ready, observer)
        self._search = Search(cluster, settings, self.identity, self._on_ready, refreshed, self.ledger.fail_everything)
        self._senders: dict[int, LeaderSender] = {}
        self._resting: dict[int, LeaderSender] = {}  # idle senders, reused for the next batches of their leaders
        self._broken: BaseException | None = None  # the error that broke a sender
        self._over = False
        self._left: list[asyncio.Task[Any]] = []  # requests that senders had on the wire at the end
        self._seen_leaders = -1  # version of the leaders in the last turn
        compresses = settings.compression != "none"
        self.pacing = Pacing(compresses=compresses)
        self._looks_always = compresses or self.transactions is not None  # whether every event needs the supervisor
        self.loop: asyncio.AbstractEventLoop
        """Set by `start`: looking up the running loop costs a system call each time in Python 3.11."""
        self._supervisor: asyncio.Task[None] | None = None
        self._alarm: asyncio.TimerHandle | None = None
        self._wanted = False  # a record is about to be sent: get the id while metadata is looked up
        self._old: set[str] = set()  # topics whose metadata should be refreshed
        self._abandoning = 0  # running calls of `abandon`
        self._entering: set[object] = set()  # senders between their call and the append

    def _transactions(self) -> Transactions | None:
        if self._settings.transactional_id is None:
            return None
        from kcli.producer.transactions.transaction import Transactions

        return Transactions(self._cluster, self._settings, self.accumulator, self.ledger, self._on_ready)

    def metrics(self) -> ProducerMetrics:
        """The current counters."""
        metrics, budget = self._observer.metrics.copy(), self.budget
        metrics.buffered_records, metrics.buffered_bytes, metrics.waiting = budget.records, budget.bytes, budget.waiting
        metrics.failed_batches = self.ledger.failed_batches
        return metrics

    def start(self) -> None:
        self.loop = asyncio.get_running_loop()
        note_open(self.ledger.counts)
        self._returns.time = self.loop.time
        self._supervisor = self.loop.create_task(self._supervise(), name="producer")
        self._supervisor.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (problem := task.exception()) is not None:
            while isinstance(problem, BaseExceptionGroup):
                problem = problem.exceptions[0]
            self.poison = problem
            self._stop_senders()
            error = problem if isinstance(problem, KcliError) else KcliError(f"the producer broke: {problem!r}")
            self.ledger.fail_everything(error)
            self.ledger.changed.set()

    async def stop(self, closed: str) -> None:
        """End all tasks. Unsettled batches fail with Closed, or are unknown if they may be stored; `closed` is the
        error text. Idempotent."""
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        if self._supervisor is not None:
            self._supervisor.cancel()
        self._stop_senders()
        self._sealers.stop()
        unknown = Closed(f"{closed} was closed before the record was acknowledged")
        self.ledger.fail_everything(unknown, Closed(f"{closed} was closed before the record was stored"))
        self.ledger.changed.set()
        note_stopped(self.ledger.counts)
        if self._supervisor is not None:
            await asyncio.gather(self._supervisor, *self._left, return_exceptions=True)

    def _stop_senders(self) -> None:
        self._over = True
        for sender in self._senders.values():
            self._left += sender.stop()
        self._senders.clear()

    # -- senders that are about to append ---------------------------------------------------------------------------

    def enter(self) -> object:
        """Register a send, so that a flush that begins now waits for its records."""
        self.want()
        ticket = object()
        self._entering.add(ticket)
        return ticket

    def want(self) -> None:
        """Prepare for a record that will be sent."""
        self._wanted = True
        if self.identity.missing:
            self._wake.set()

    def leave(self, ticket: object) -> None:
        self._entering.discard(ticket)
        self.ledger.changed.set()

    def refresh_later(self, topic: str) -> None:
        """Have the topic's metadata refreshed in the background."""
        self._old.add(topic)
        self._wake.set()

    async def drained(self) -> None:
        """Wait until all records accepted, or about to be accepted, before this call are settled."""
        changed = self.ledger.changed
        self.accumulator.close_all()
        pending, entering = set(self.accumulator.incomplete), set(self._entering)
        while True:
            if entering:
                self.accumulator.close_all()
                pending |= self.accumulator.incomplete
                entering &= self._entering
            pending = {part for batch in pending for part in unsettled(batch)}
            if not pending and not entering:
                return
            changed.clear()
            await changed.wait()

    async def abandon(self, error: KcliError) -> None:
        """Fail all records accepted before this call that are not on the wire. Wait for those on the wire; they fail if
        they would have to be sent again."""
        self.budget.refuse(error)
        self.ledger.fail_unsent(error)
        pending, changed = set(self.accumulator.incomplete), self.ledger.changed
        self._abandoning += 1
        try:
            while True:
                pending = {part for batch in pending for part in unsettled(batch)}
                for batch in sorted(pending, key=lambda batch: batch.number):
                    queue = self.accumulator.queues[batch.at]
                    if batch not in queue.in_flight:
                        self.ledger.fail(queue, batch, error)
                        pending.discard(batch)
                if not pending:
                    return
                changed.clear()
                await changed.wait()
        finally:
            self._abandoning -= 1

    # -- the supervisor ---------------------------------------------------------------------------------------------

    def _on_ready(self) -> None:
        self._wake.set()
        if self._abandoning or self.transactions is not None:
            self.ledger.changed.set()  # an abort waits for batches that come back
        for sender in self._senders.values():
            sender.wake()

    def _on_flow(self, queue: PartitionQueue) -> None:
        """Handle a batch that may be sent, or was settled.

        Normally only the queue's sender has to know; otherwise the supervisor has to, too. If a turn of the sender is
        already scheduled, this is decided when the turn begins, once for everything that happened until then.
        """
        sender = self._senders.get(queue.leader)
        if sender is not None and sender.awake and not queue.needs_epoch:
            sender.unseen = True
            return
        if self.pacing.paused:
            self.pacing.end_pauses()
        if queue.leader < 0 or queue.needs_epoch or self._is_odd():
            self._on_ready()
        elif queue.open is not None or queue.waiting or queue.in_flight:
            (sender or self._start_sender(queue.leader)).wake()

    def _on_unseen(self) -> None:
        """A sender begins its turn, and something happened since the turn was scheduled."""
        if self.pacing.paused:
            self.pacing.end_pauses()
        if self._is_odd():
            self._wake.set()
            if self._abandoning or self.transactions is not None:
                self.ledger.changed.set()

    def _is_odd(self) -> bool:
        """Whether the supervisor has to handle what happened."""
        accumulator, budget = self.accumulator, self.budget
        return (
            self._looks_always
            or self._alarm is None
            or accumulator.hurried
            or accumulator.pressed
            or 2 * budget.bytes > budget.max_bytes  # like `Budget.pressed`
            or 2 * budget.records > budget.max_records
            or (self._settings.linger > 0 and (accumulator.first_linger() or math.inf) < self._alarm.when())
            or self._abandoning > 0
            or (self.identity.producer_id < 0 and self.identity.missing)
            or self._over
            or self._cluster.leaders_version() != self._seen_leaders
        )

    async def _supervise(self) -> None:
        """Handle linger, memory pressure, expiry and leaders. Each turn checks the whole state."""
        loop = asyncio.get_running_loop()
        async with asyncio.TaskGroup() as group:
            while True:
                self._wake.clear()
                if self._broken is not None:
                    raise self._broken
                now = loop.time()
                self._seen_leaders = self._cluster.leaders_version()
                self.accumulator.hurried = self.budget.waiting > 0
                self.accumulator.pressed = self.budget.pressed
                self.accumulator.mature(now)
                for queue, batch in self.accumulator.expired(now):
                    self.ledger.expire(queue, batch, self.identity.unreachable)
                if self.transactions is None:
                    self._renew_epochs()
                else:
                    self.transactions.turn(group)
                if self.identity.missing and (self.accumulator.active or self._wanted):
                    self._wanted = False
                    self._search.identity(group)
                leaderless = self._place(now)
                if (leaderless or self._old) and self._search.leaders(group, leaderless, self._old):
                    self._old = set()
                await self._rest(now)

    async def _rest(self, now: float) -> None:
        """Wait for a wake-up, or for the next linger or delivery timeout to end.

        The timer is only moved to an earlier time, because most turns do not need a timer and a needless turn does no
        harm.
        """
        moments = (self.accumulator.next_linger(now), self.accumulator.next_expiry())
        due = min((moment for moment in moments if moment is not None), default=None)
        if due is not None and (self._alarm is None or due < self._alarm.when()):
            if self._alarm is not None:
                self._alarm.cancel()
            self._alarm = asyncio.get_running_loop().call_at(due, self._ring)
        await self._wake.wait()

    def _ring(self) -> None:
        self._alarm = None
        self._wake.set()

    def _renew_epochs(self) -> None:
        """Begin a new epoch in partitions whose sequence was lost, once none of their batches is on the wire."""
        lost = [queue for queue in self.accumulator.queues.values() if queue.needs_epoch and queue.may_begin_epoch()]
        if not lost or self.identity.missing:
            return
        self.identity.bump()
        if not self.identity.missing:  # otherwise an id is needed first, and this runs again
            for queue in lost:
                queue.rewind(self.identity)
            self._on_ready()
            self._wake.clear()

    def _place(self, now: float) -> list[TopicPartition]:
        """Start or wake a sender for every leader with something to send; return the partitions without a leader."""
        accumulator = self.accumulator
        leaderless: list[TopicPartition] = []
        ripe, held = accumulator.any_ripe(now), accumulator.held(now)
        leaders, moved = accumulator.active.leaders(), accumulator.active.moved
        accumulator.active.moved = False
        for leader in leaders:
            sender = self._senders.get(leader)
            if sender is not None:
                if ripe or moved:  # batches of another node may belong to this one now
                    sender.wake()
                continue
            led = accumulator.active.led_by(leader)
            wanting = (queue for queue in led if queue.waiting or (not held and accumulator.ripe(queue, now)))
            if leader < 0:
                leaderless = [queue.at for queue in wanting]
            elif any(wanting):
                self._start_sender(leader).wake()
        return leaderless

    def _start_sender(self, leader: int) -> LeaderSender:
        sender = self._resting.pop(leader, None)
        if sender is not None:
            self._senders[leader] = sender
            sender.begin()
            return sender
        cluster, settings, transactions = self._cluster, self._settings, self.transactions
        draining = Draining(leader, cluster, self.accumulator, settings, transactions)
        sender = self._senders[leader] = LeaderSender(
            draining, cluster, self.identity, settings, self._returns, self._on_ready, self._sender_ended, transactions
        )
        sender.on_unseen, sender.loop = self._on_unseen, self.loop
        return sender

    def _sender_ended(self, leader: int, problem: BaseException | None) -> None:
        sender = self._senders.pop(leader, None)
        if problem is not None:
            self._broken = problem
        elif sender is not None:
            self._resting[leader] = sender
        if problem is not None or self.accumulator.active:
            self._wake.set()  # for what arrived in the meantime

    def _was_sealed(self, batch: ProducerBatch, problem: KcliError | None) -> None:
        if problem is None:
            self.accumulator.sealed(batch)
        elif not batch.settled:
            self.ledger.fail(self.accumulator.queues[batch.at], batch, problem)
        self._on_ready()


def unsettled(batch: ProducerBatch) -> list[ProducerBatch]:
    """The batch, or its parts after splits, as far as they are unsettled."""
    if batch.parts:
        return [batch for part in batch.parts for batch in unsettled(part)]
    return [] if batch.settled else [batch]


def note_open(counts: Counts) -> None:
    """Record a started producer."""
    if not _unsettled:
        atexit.unregister(_warn_unsent)
        atexit.register(_warn_unsent)
    _unsettled[id(counts)] = counts


def note_stopped(counts: Counts) -> None:
    """Record that all records of a producer are settled."""
    _unsettled.pop(id(counts), None)


def _warn_unsent() -> None:
    left = sum(counts.accepted - counts.acked - counts.failed - counts.unknown for counts in _unsettled.values())
    if left > 0 and sys.stderr is not None:
        what = "1 record is" if left == 1 else f"{left} records are"
        print(
            f"kcli: the program ends, and {what} in the queue or on the wire and may be lost: "
            "leave the producer's `with` block, or call flush()",
            file=sys.stderr,
        )


after_fork(_unsettled.clear)


class Sealers:
    """Seals batches in threads. `done` is called in the loop with the batch, and with the error if sealing failed."""

    def __init__(self, settings: ProducerSettings, done: Callable[[ProducerBatch, KcliError | None], None]) -> None:
        self._settings = settings
        self._done = done
        self._threads: DaemonThread | None = None
        self._under_way: dict[asyncio.Future[None], None] = {}

    def seal(self, batch: ProducerBatch) -> None:
        """Seal the batch in a thread."""
        if self._threads is None:
            self._threads = DaemonThread("kcli-seal", SEALERS)
        future = self._threads.do(batch.close, self._settings)
        batch.sealing = True
        self._under_way[future] = None
        future.add_done_callback(lambda done: self._sealed(batch, done))

    def _sealed(self, batch: ProducerBatch, done: asyncio.Future[None]) -> None:
        del self._under_way[done]
        batch.sealing = False
        problem = None if done.cancelled() else done.exception()
        if problem is not None and not isinstance(problem, KcliError):
            problem = KcliError(f"a batch could not be sealed: {problem!r}")
        self._done(batch, problem)

    def stop(self) -> None:
        """End the threads after the batches in progress, without waiting; the remaining batches stay open."""
        for future in list(self._under_way):
            future.cancel()
        if self._threads is not None:
            self._threads.stop()
            self._threads = None
