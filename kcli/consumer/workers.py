"""A worker for each partition, and two thresholds between them and the poller (A3).

The poller never waits for a worker: a partition whose worker has half of its queue to do is paused, and resumed when a
quarter is left. A partition that is taken away is given back only after its worker has ended and committed what it
did; what it had not begun is read by the next owner.
"""

from __future__ import annotations

import asyncio
from collections import deque

from kcli import codes
from kcli.consumer.bounds import OffsetAndEpoch
from kcli.errors import BrokerError
from kcli.model import TopicPartition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    from kcli.consumer.consumer import Consumer
    from kcli.consumer.delivery import Fetched

    Work = Callable[[Fetched], Awaitable[None]]

PATIENCE = 0.2  # seconds of a poll: what a worker did meanwhile is committed in between
HIGH, LOW = 0.5, 0.25
MOVED_ON = (codes.REBALANCE_IN_PROGRESS, codes.ILLEGAL_GENERATION, codes.UNKNOWN_MEMBER_ID)


class Worker:
    """One partition's: takes what was fetched in order. `done` is what may be committed."""

    def __init__(self, at: TopicPartition, work: Work, progress: Callable[[Worker], None]) -> None:
        self.at = at
        self.done: OffsetAndEpoch | None = None
        self.queue: deque[Fetched] = deque()
        self._work = work
        self._progress = progress
        self._more = asyncio.Event()
        self._ending = False
        self.task = asyncio.get_running_loop().create_task(self._run(), name=f"work on {at.topic}[{at.partition}]")

    def give(self, fetched: Fetched) -> None:
        """More to do. Never waits."""
        self.queue.append(fetched)
        self._more.set()

    def end(self, *, drop: bool) -> None:
        """Finish what was begun, and what is queued unless it is dropped; then the task ends."""
        if drop:
            self.queue.clear()
        self._ending = True
        self._more.set()

    async def _run(self) -> None:
        while True:
            while self.queue:
                fetched = self.queue.popleft()
                await self._work(fetched)
                epoch = fetched.batches[-1].leader_epoch if fetched.batches else -1
                self.done = OffsetAndEpoch(fetched.next_offset, epoch)
                self._progress(self)
            if self._ending:
                return
            self._more.clear()
            await self._more.wait()


class Workers:
    """`work` is called with what was fetched of one partition, one call at a time for each partition and in order.
    What it returned from is committed every `commit_interval` seconds, when a partition goes, and at the end. What it
    raises ends `run` with it. `size` is how many fetches of a partition may wait.

        async with client.consumer(settings, GroupSettings(group="g", auto_commit=False)) as consumer:
            await Workers(consumer, work).run(["orders"])
    """

    def __init__(self, consumer: Consumer, work: Work, *, size: int = 8, commit_interval: float = 5.0) -> None:
        self._consumer = consumer
        self._work = work
        self._size = max(size, 4)
        self._every = commit_interval
        self._workers: dict[TopicPartition, Worker] = {}
        self._held: set[TopicPartition] = set()  # paused by us, not by the user
        self._stopping = False

    @property
    def partitions(self) -> set[TopicPartition]:
        """Those that have a worker now."""
        return set(self._workers)

    def stop(self) -> None:
        """Have `run` end: what is queued is still done and committed."""
        self._stopping = True

    async def run(self, topics: Sequence[str] | str) -> None:
        """Join the group and work until `stop`, or until a worker or the consumer raises."""
        await self._consumer.subscribe(
            topics, on_assigned=self._assigned, on_revoked=self._revoked, on_lost=self._lost
        )  # fmt: skip
        loop = asyncio.get_running_loop()
        committed_at = loop.time()
        try:
            while not self._stopping:
                for fetched in await self._consumer.poll(PATIENCE):
                    self._hand_over(fetched)
                self._raise_failure(self._workers.values())
                if loop.time() - committed_at >= self._every:
                    await self._commit_in_time()
                    committed_at = loop.time()
            await self._end(self._workers.values(), drop=False)
        finally:
            ending, self._workers = [worker.task for worker in self._workers.values()], {}
            for task in ending:
                task.cancel()
            await asyncio.gather(*ending, return_exceptions=True)

    def _hand_over(self, fetched: Fetched) -> None:
        if fetched.error is not None:
            raise fetched.error
        at = TopicPartition(fetched.topic, fetched.partition)
        worker = self._workers.get(at)
        if worker is None:
            return  # taken away meanwhile: the next owner reads it (A3.15)
        worker.give(fetched)
        if len(worker.queue) >= HIGH * self._size and at not in self._consumer.paused:
            self._held.add(at)
            self._consumer.pause(at)

    def _progress(self, worker: Worker) -> None:
        if worker.at in self._held and len(worker.queue) <= LOW * self._size:
            self._held.discard(worker.at)
            if worker.at in self._consumer.assignment:
                self._consumer.resume(worker.at)

    # -- what the group tells ---------------------------------------------------------------------------------------

    async def _assigned(self, partitions: set[TopicPartition]) -> None:
        for at in sorted(partitions):
            self._workers[at] = Worker(at, self._work, self._progress)

    async def _revoked(self, partitions: set[TopicPartition]) -> None:
        """The join waits for this: workers end, then their commits are made (A3.13)."""
        await self._end([self._workers[at] for at in partitions if at in self._workers], drop=True)
        self._forget(partitions)

    async def _lost(self, partitions: set[TopicPartition]) -> None:
        """Somebody else owns them already: nothing of ours is committed."""
        tasks = [self._workers[at].task for at in partitions & self._workers.keys()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._forget(partitions)

    def _forget(self, partitions: set[TopicPartition]) -> None:
        for at in partitions:
            self._workers.pop(at, None)
            self._held.discard(at)

    async def _end(self, workers: Iterable[Worker], *, drop: bool) -> None:
        ending = list(workers)
        for worker in ending:
            worker.end(drop=drop)
        await asyncio.gather(*(worker.task for worker in ending), return_exceptions=True)
        await self._commit(ending)
        self._raise_failure(ending)

    async def _commit_in_time(self) -> None:
        try:
            await self._commit(self._workers.values())
        except BrokerError as error:
            if error.code not in MOVED_ON:
                raise  # else it is made when the partitions are given up, or after the rebalance

    async def _commit(self, workers: Iterable[Worker]) -> None:
        done = {worker.at: worker.done for worker in workers if worker.done is not None}
        if done:
            await self._consumer.commit(done)
            for worker in list(self._workers.values()):
                if done.get(worker.at) is worker.done:
                    worker.done = None

    def _raise_failure(self, workers: Iterable[Worker]) -> None:
        for worker in workers:
            if worker.task.done() and not worker.task.cancelled() and (problem := worker.task.exception()) is not None:
                raise problem
