"""The engine room: who sends to whom, what an answer leads to, what took too long. One supervisor task owns it all.

A task that ends unexpectedly poisons the producer: everybody who waits is told, nothing hangs (B29).
"""

from __future__ import annotations

import asyncio

from kcli import codes
from kcli.errors import AuthError, BrokerError, Closed, ConnectError, DeadlineExceeded, KcliError
from kcli.producer.accumulator import Accumulator
from kcli.producer.batch import BatchOutcome
from kcli.producer.budget import Budget
from kcli.producer.sender import LeaderSender
from kcli.producer.sequence import Identity
from kcli.producer.split import split
from kcli.producer.verdict import MAYBE_WRITTEN, Verdict, judge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import ThreadPoolExecutor

    from kcli.model import Cluster
    from kcli.producer.batch import ProducerBatch
    from kcli.producer.exchange import Answer
    from kcli.producer.queue import PartitionQueue
    from kcli.settings import ProducerSettings

SEALERS = 2


class Counts:
    """Records by what became of them; `accepted` is the sum of the others and of what is still on its way."""

    __slots__ = ("accepted", "acked", "failed", "unknown")

    def __init__(self) -> None:
        self.accepted = self.acked = self.failed = self.unknown = 0

    def __repr__(self) -> str:
        return f"Counts(accepted={self.accepted}, acked={self.acked}, failed={self.failed}, unknown={self.unknown})"


class Engine:
    """`report` is called once for every settled batch."""

    def __init__(self, cluster: Cluster, settings: ProducerSettings, report: Callable[[BatchOutcome], None]) -> None:
        self._cluster = cluster
        self._settings = settings
        self._report = report
        self.counts = Counts()
        self.budget = Budget(settings.buffer_memory, settings.buffer_records)
        self.accumulator = Accumulator(settings, self._on_ready, self._seal_later, self._too_large)
        self.identity = Identity(cluster, settings)
        self.poison: BaseException | None = None
        self.settled = asyncio.Event()  # set whenever a batch was settled; flush waits for it
        self._wake = asyncio.Event()
        self._senders: dict[int, LeaderSender] = {}
        self._sealers: ThreadPoolExecutor | None = None
        self._supervisor: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._supervisor = asyncio.get_running_loop().create_task(self._supervise(), name="producer")
        self._supervisor.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (problem := task.exception()) is not None:
            while isinstance(problem, BaseExceptionGroup):
                problem = problem.exceptions[0]
            self.poison = problem
            error = problem if isinstance(problem, KcliError) else KcliError(f"the producer broke: {problem!r}")
            self.fail_everything(error)

    async def stop(self, error: KcliError) -> None:
        """End every task; what is not settled fails with `error`, or is unknown if it may have arrived."""
        if self._supervisor is not None:
            self._supervisor.cancel()
            await asyncio.gather(self._supervisor, return_exceptions=True)
        for sender in self._senders.values():
            sender.abandon()
        if self._sealers is not None:
            self._sealers.shutdown(wait=True, cancel_futures=True)
            self._sealers = None
        self.fail_everything(error)
        await asyncio.sleep(0)

    def fail_everything(self, error: KcliError) -> None:
        """Settle what is left, in order."""
        for queue in list(self.accumulator.active.values()):
            if queue.open is not None:
                batch, queue.open = queue.open, None
                batch.count = batch.builder.count
                queue.waiting.append(batch)
            for batch in sorted((*queue.in_flight, *queue.waiting), key=lambda one: one.number):
                batch.maybe_written = batch.maybe_written or batch in queue.in_flight
                self._fail(queue, batch, error)
        self.accumulator.lingering.clear()

    # -- the supervisor ---------------------------------------------------------------------------------------------

    def _on_ready(self) -> None:
        self._wake.set()
        for sender in self._senders.values():
            sender.wake()

    async def _supervise(self) -> None:
        """Linger, memory pressure, expiry, leaders: each turn looks at everything (A4.19)."""
        loop = asyncio.get_running_loop()
        async with asyncio.TaskGroup() as group:
            while True:
                self._wake.clear()
                now = loop.time()
                if self.budget.waiting:
                    self.accumulator.close_all()
                self.accumulator.close_lingered(now)
                self._expire(now)
                if self.identity.missing and self.accumulator.active:
                    await self._obtain_identity()
                self._renew_epochs()
                leaderless = self._place(group)
                if leaderless:
                    await self._find_leaders(leaderless)
                    continue
                await self._rest(loop.time())

    async def _rest(self, now: float) -> None:
        moments = (self.accumulator.next_linger(), self.accumulator.next_expiry())
        due = min((moment for moment in moments if moment is not None), default=None)
        try:
            async with asyncio.timeout(None if due is None else max(0.0, due - now)):
                await self._wake.wait()
        except TimeoutError:
            return

    async def _obtain_identity(self) -> None:
        try:
            await self.identity.obtain()
        except KcliError as problem:
            self.fail_everything(problem)
        self._on_ready()
        self._wake.clear()

    def _renew_epochs(self) -> None:
        """Partitions whose sequence was lost begin a new epoch once nothing of theirs is on the wire (D27)."""
        for queue in self.accumulator.queues.values():
            if queue.needs_epoch and not queue.in_flight:
                self.identity.bump()
                if not self.identity.missing:
                    queue.rewind(self.identity)
                    self._wake_senders()
                else:
                    self._wake.set()

    def _wake_senders(self) -> None:
        for sender in self._senders.values():
            sender.wake()

    def _place(self, group: asyncio.TaskGroup) -> list[PartitionQueue]:
        """Make sure that every leader in use has its sender; the partitions that have none."""
        leaderless = []
        for queue in self.accumulator.active.values():
            leader = self._cluster.leader_id(queue.at)
            if leader < 0:
                if queue.waiting:
                    leaderless.append(queue)
            elif leader not in self._senders:
                sender = LeaderSender(
                    leader, self._cluster, self.accumulator, self.identity, self._settings, self._answered, self._lost
                )
                self._senders[leader] = sender
                group.create_task(sender.run(), name=f"send to node {leader}")
        return leaderless

    async def _find_leaders(self, queues: list[PartitionQueue]) -> None:
        """Ask for metadata; what cannot be mended fails, everything else waits until its delivery timeout."""
        loop = asyncio.get_running_loop()
        topics = sorted({queue.at.topic for queue in queues})
        try:
            async with asyncio.timeout(max(0.0, (self.accumulator.next_expiry() or loop.time()) - loop.time())):
                await self._cluster.refresh(topics)
        except TimeoutError:
            return
        except BrokerError as problem:
            if not problem.code.retriable:
                raise
        except KcliError:
            pass  # nobody can be reached now: the delivery timeout decides
        if all(self._cluster.leader_id(queue.at) < 0 for queue in queues):
            await asyncio.sleep(self._settings.retry_backoff)
        self._wake_senders()

    def _expire(self, now: float) -> None:
        for queue, batch in self.accumulator.expired(now):
            topic, partition = batch.at
            seconds = self._settings.delivery_timeout
            error = BrokerError(
                codes.REQUEST_TIMED_OUT,
                f"{topic}[{partition}]",
                f"not acknowledged within {seconds:g} s (delivery.timeout.ms)",
            )
            if batch.stamp is not None:
                queue.needs_epoch = True  # its sequence is used up and may or may not be in the log
            self._fail(queue, batch, error)

    # -- answers ----------------------------------------------------------------------------------------------------

    def _answered(self, queue: PartitionQueue, batch: ProducerBatch, answer: Answer) -> None:
        if batch.settled:
            return
        verdict = judge(
            answer.code,
            records=batch.count,
            next_in_line=queue.is_next_in_line(batch),
            idempotent=self._settings.idempotence,
        )
        if answer.code in MAYBE_WRITTEN:
            batch.maybe_written = True
        if verdict is Verdict.DONE:
            duplicate = answer.code is codes.DUPLICATE_SEQUENCE_NUMBER
            self._acknowledge(queue, batch, -1 if duplicate else answer.base_offset, answer.append_time)
        elif verdict is Verdict.SPLIT:
            self._split(queue, batch)
        elif verdict is Verdict.FAILED or batch.attempts > self._settings.retries:
            self._refuse(queue, batch, answer)
        else:
            if verdict is Verdict.NEW_EPOCH:
                queue.needs_epoch = True
            if answer.code.forget == "leader":
                self._cluster.leader_moved(batch.at, answer.leader_id, answer.leader_epoch, answer.endpoint)
            moved_at_once = answer.leader_id >= 0 and self._cluster.leader_id(batch.at) == answer.leader_id
            self._again(queue, batch, wait=not moved_at_once and verdict is not Verdict.NEW_EPOCH)

    def _lost(self, queue: PartitionQueue, batch: ProducerBatch, problem: KcliError, may_have_arrived: bool) -> None:
        """The exchange broke. Only in its old place may the batch be tried again (D22)."""
        if batch.settled:
            return
        batch.maybe_written = batch.maybe_written or may_have_arrived
        if (
            not _passing(problem)
            or batch.attempts > self._settings.retries
            or (self._settings.acks == 0 and may_have_arrived)
        ):
            self._fail(queue, batch, problem)
            return
        self._cluster.leader_moved(batch.at)
        self._again(queue, batch, wait=True)

    def _again(self, queue: PartitionQueue, batch: ProducerBatch, *, wait: bool) -> None:
        if wait:
            import random

            first, most = self._settings.retry_backoff, self._settings.retry_backoff_max
            pause = min(first * 2.0 ** min(batch.attempts - 1, 30), most) * random.uniform(0.8, 1.2)
            batch.not_before = asyncio.get_running_loop().time() + pause
        queue.back(batch)
        self._on_ready()

    def _split(self, queue: PartitionQueue, batch: ProducerBatch) -> None:
        parts = split(batch, self._settings)
        queue.landed(batch)
        self.accumulator.incomplete.discard(batch)
        for part in parts:
            queue.in_flight.append(part)
            self.accumulator.incomplete.add(part)
        for part in parts:
            queue.back(part)
        self._on_ready()

    # -- the end of a batch -----------------------------------------------------------------------------------------

    def _acknowledge(self, queue: PartitionQueue, batch: ProducerBatch, base_offset: int, append_time: int) -> None:
        self.counts.acked += batch.count
        batch.keep_promises(base_offset, append_time)
        self._settle(queue, batch, BatchOutcome(*batch.at, batch.count, base_offset, None, False))

    def _refuse(self, queue: PartitionQueue, batch: ProducerBatch, answer: Answer) -> None:
        about = f"{batch.at.topic}[{batch.at.partition}]"
        text = answer.message
        if answer.code is codes.MESSAGE_TOO_LARGE:
            text = f"a record of {batch.size} bytes is more than the topic takes (max.message.bytes)"
        error = BrokerError(answer.code, about, text)
        own: dict[int, KcliError] = {}
        if answer.records:
            own = {index: BrokerError(answer.code, about, reason) for index, reason in answer.records.items()}
            error = BrokerError(answer.code, about, "it was part of a batch with invalid records")
        self._fail(queue, batch, error, own)

    def _fail(
        self, queue: PartitionQueue, batch: ProducerBatch, error: KcliError, own: dict[int, KcliError] | None = None
    ) -> None:
        if batch.maybe_written:
            self.counts.unknown += batch.count
        else:
            self.counts.failed += batch.count
        batch.break_promises(error, own)
        first = next(iter(own.values()), error) if own else error
        self._settle(queue, batch, BatchOutcome(*batch.at, batch.count, -1, first, batch.maybe_written))

    def _settle(self, queue: PartitionQueue, batch: ProducerBatch, outcome: BatchOutcome) -> None:
        batch.settled = True
        if batch in queue.in_flight:
            queue.landed(batch)
        elif batch in queue.waiting:
            queue.waiting.remove(batch)
        self.accumulator.settled(queue, batch)
        self.budget.give(batch.charged, batch.count)
        self.settled.set()
        self._on_ready()
        self._report(outcome)

    def _too_large(self, queue: PartitionQueue, batch: ProducerBatch) -> None:
        """One record that no request may carry fails alone, before anything is sent (D8)."""
        size, most = batch.size, self._settings.max_request_size
        text = f"a record of {size} bytes is more than a request takes ({most}, max.request.size)"
        self._fail(queue, batch, BrokerError(codes.MESSAGE_TOO_LARGE, f"{batch.at.topic}[{batch.at.partition}]", text))

    # -- sealing in threads -----------------------------------------------------------------------------------------

    def _seal_later(self, batch: ProducerBatch) -> None:
        """Compress while the loop goes on: the codecs release the GIL."""
        if self._sealers is None:
            from concurrent.futures import ThreadPoolExecutor

            self._sealers = ThreadPoolExecutor(SEALERS, thread_name_prefix="kcli-seal")
        future = asyncio.get_running_loop().run_in_executor(self._sealers, batch.close, self._settings)
        future.add_done_callback(lambda done: self._was_sealed(batch, done))

    def _was_sealed(self, batch: ProducerBatch, done: asyncio.Future[None]) -> None:
        batch.sealing = False
        if not done.cancelled() and (problem := done.exception()) is not None and not batch.settled:
            error = problem if isinstance(problem, KcliError) else KcliError(f"a batch could not be sealed: {problem}")
            self._fail(self.accumulator.queues[batch.at], batch, error)
        self._on_ready()


def _passing(problem: KcliError) -> bool:
    """Trouble that may be over next time: of a connection, or of a broker that is away."""
    if isinstance(problem, AuthError):
        return False
    if isinstance(problem, BrokerError):
        return problem.code.retriable or problem.code is codes.BROKER_NOT_AVAILABLE
    return isinstance(problem, ConnectError | DeadlineExceeded | Closed)
