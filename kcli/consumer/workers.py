"""Parallel processing: a worker per partition, with backpressure between the workers and the poller.

The poller never waits for a worker: a partition is paused while its worker's queue is half full, and resumed at a
quarter. A revoked partition is given back only after its worker has finished and its offsets are committed; records
that the worker had not started are read by the next owner.

The group does not wait forever. A worker that does not finish in time loses its partition: its stop event is set, its
later work is not committed, and the member stays in the group.
"""

from __future__ import annotations

import asyncio
from collections import deque

from kcli.consumer.group.session import overtaken
from kcli.errors import KcliError
from kcli.model import OffsetAndMetadata, TopicPartition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence
    from concurrent.futures import ThreadPoolExecutor

    from kcli.consumer.consumer import Consumer
    from kcli.consumer.poll import Fetched

    Work = Callable[[Fetched, asyncio.Event], Awaitable[None]]
    PlainWork = Callable[[Fetched, asyncio.Event], None]

PATIENCE = 0.2  # seconds of a poll; between polls, finished work is committed
LAST_COMMIT = 5.0  # seconds for a commit while an exception is propagating
HIGH, LOW = 0.5, 0.25
LEFT = "this member lost its place in the group"


class Worker:
    """The worker of one partition, which processes fetches in order. `done` is what may be committed. It starts after
    the task `after`, the partition's previous worker, which lost it."""

    def __init__(
        self,
        at: TopicPartition,
        work: Work,
        progress: Callable[[Worker], None],
        after: asyncio.Task[None] | None = None,
    ) -> None:
        self.at = at
        self.done: OffsetAndMetadata | None = None
        self.queue: deque[Fetched] = deque()
        self.stop = asyncio.Event()  # the partition is lost
        self.busy = False
        self._work = work
        self._progress = progress
        self._after = after
        self._more = asyncio.Event()
        self._ending = False
        self.task = asyncio.get_running_loop().create_task(self._run(), name=f"work on {at.topic}[{at.partition}]")

    def give(self, fetched: Fetched) -> None:
        """Queue a fetch. Never waits."""
        self.queue.append(fetched)
        self._more.set()

    def end(self, *, drop: bool) -> None:
        """Finish the current call, and the queue unless `drop`; then the task ends."""
        self._ending = True
        self._more.set()
        if drop:
            self.queue.clear()
            if self._after is not None and not self._after.done():
                self.task.cancel()  # it has not started

    def lose(self, grace: float) -> None:
        """The partition is lost: nothing more is `done`. The task is cancelled if it does not end within `grace`
        seconds. Never waits."""
        self.end(drop=True)
        self.stop.set()
        cancelling = asyncio.get_running_loop().call_later(grace, self.task.cancel)
        self.task.add_done_callback(lambda _: cancelling.cancel())

    async def _run(self) -> None:
        if self._after is not None:
            await asyncio.wait({self._after})
        while True:
            while self.queue:
                fetched = self.queue.popleft()
                self.busy = True
                await self._work(fetched, self.stop)
                self.busy = False
                if self.stop.is_set():
                    return
                epoch = fetched.batches[-1].leader_epoch if fetched.batches else -1
                self.done = OffsetAndMetadata(fetched.next_offset, epoch)
                self._progress(self)
            if self._ending:
                return
            self._more.clear()
            await self._more.wait()


class Workers:
    """Process a group's partitions in parallel.

    `work(fetched, stop)` is called with the records fetched from one partition: one call at a time per partition, in
    order. It is a coroutine function, or a plain function, which is called in one of `threads` threads. Records count
    as processed when `work` has returned; they are committed every `commit_interval` seconds, when a partition is
    revoked, and at the end. Nothing else is committed, so a consumer with `auto_commit=True` is a UsageError. An
    exception of `work` ends `run` with that exception. `size` is how many fetches of a partition may be queued.

    The event `stop` is set when the partition is lost: the group revoked it and `work` did not return within the
    rebalance timeout less a margin, or the membership ended. Another member then reads the same records; `work` should
    return soon, and is cancelled after `grace` seconds. A thread can check `stop.is_set()`. The consumer's `on_notice`
    is called for each partition lost in this way. If this member gets the partition again, its next call waits until
    the lost one has ended.

        async with client.consumer("orders", group="g") as consumer:
            await Workers(consumer, work).run(["orders"])
    """

    def __init__(
        self,
        consumer: Consumer,
        work: Work | PlainWork,
        *,
        size: int = 8,
        commit_interval: float = 5.0,
        grace: float = 1.0,
        threads: int = 32,
    ) -> None:
        consumer.commit_by_hand()
        self._consumer = consumer
        self._threads: ThreadPoolExecutor | None = None
        self._work = self._in_threads(work, threads)
        self._size = max(size, 4)
        self._every = commit_interval
        self._grace = grace
        self._workers: dict[TopicPartition, Worker] = {}
        self._losers: dict[TopicPartition, Worker] = {}  # lost their partition and have not ended
        self._held: set[TopicPartition] = set()  # paused by us, not by the user
        self._stopping = False

    def _in_threads(self, work: Work | PlainWork, threads: int) -> Work:
        """Wrap the function as a coroutine function. A call of a plain function cannot be cancelled: its worker ends
        only when it has returned, so that a partition never has two calls."""
        from concurrent.futures import ThreadPoolExecutor
        from inspect import isawaitable, iscoroutinefunction

        if iscoroutinefunction(work):
            coroutine_function: Work = work
            return coroutine_function
        pool = self._threads = ThreadPoolExecutor(threads, thread_name_prefix="kcli-worker")

        async def call(fetched: Fetched, stop: asyncio.Event) -> None:
            under_way = asyncio.get_running_loop().run_in_executor(pool, work, fetched, stop)
            try:
                await asyncio.wait({under_way})
            except asyncio.CancelledError:
                stop.set()
                await asyncio.wait({under_way})
                raise
            result = under_way.result()
            if isawaitable(result):  # from a callable that hides a coroutine function
                await result

        return call

    @property
    def partitions(self) -> set[TopicPartition]:
        """Partitions that currently have a worker."""
        return set(self._workers)

    def stop(self) -> None:
        """Make `run` finish: queued records are still processed and committed."""
        self._stopping = True

    async def run(self, topics: Sequence[str] | str) -> None:
        """Join the group and process records until `stop` is called, or until a worker or the consumer raises."""
        await self._consumer.subscribe(topics, on_assigned=self._assigned, on_revoked=self._revoked, on_lost=self._lost)
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
            await self._finish()
        finally:
            workers = [*self._workers.values()]
            ending = [worker.task for worker in (*workers, *self._losers.values())]
            self._workers = {}
            for task in ending:
                task.cancel()
            await asyncio.gather(*ending, return_exceptions=True)
            await self._commit_last(workers)
            if self._threads is not None:
                self._threads.shutdown(wait=False)

    async def _commit_last(self, workers: Sequence[Worker]) -> None:
        """Commit finished work when `run` ends by an exception; otherwise nothing is left to commit."""
        try:
            async with asyncio.timeout(LAST_COMMIT):
                await self._commit(workers)
        except (KcliError, TimeoutError) as error:
            self._say(f"{_names(workers)}: records processed since the last commit will be read again: {error}")

    async def _finish(self) -> None:
        """Process what is queued and commit it. The member keeps polling, or it would leave the group."""
        for worker in self._workers.values():
            worker.end(drop=False)
        self._consumer.pause(*self._consumer.assignment)
        while True:
            if all(worker.task.done() for worker in self._workers.values()):
                try:
                    await self._commit(self._workers.values())
                    break
                except KcliError as error:
                    if not overtaken(error):
                        raise
            await self._consumer.poll(PATIENCE)
        self._raise_failure(self._workers.values())

    def _hand_over(self, fetched: Fetched) -> None:
        if fetched.error is not None:
            raise fetched.error
        at = TopicPartition(fetched.topic, fetched.partition)
        worker = self._workers.get(at)
        if worker is None:
            return  # revoked meanwhile: the next owner reads it
        worker.give(fetched)
        if len(worker.queue) >= HIGH * self._size and at not in self._consumer.paused:
            self._held.add(at)
            self._consumer.pause(at)

    def _progress(self, worker: Worker) -> None:
        if worker.at in self._held and len(worker.queue) <= LOW * self._size and not self._stopping:
            self._held.discard(worker.at)
            if worker.at in self._consumer.assignment:
                self._consumer.resume(worker.at)

    # -- called by the group ----------------------------------------------------------------------------------------

    async def _assigned(self, partitions: set[TopicPartition]) -> None:
        if self._stopping:
            self._consumer.pause(*partitions)
            return
        for at in sorted(partitions):
            before = self._losers.get(at)
            self._workers[at] = Worker(at, self._work, self._progress, None if before is None else before.task)

    async def _revoked(self, partitions: set[TopicPartition]) -> None:
        """Finish and commit the work of revoked partitions, while the group waits for this.

        A worker that does not finish in time loses its partition; all do if the membership ends meanwhile.
        """
        ending = [self._workers[at] for at in sorted(partitions) if at in self._workers]
        for worker in ending:
            worker.end(drop=True)
        while (working := {worker.task for worker in ending if not worker.task.done()}) and self._consumer.patience:
            await asyncio.wait(working, timeout=min(self._consumer.patience, PATIENCE))
        late = [worker for worker in ending if not worker.task.done()]
        try:
            await self._commit(ending)
        except KcliError as error:
            if not (overtaken(error) or error.retriable):
                raise
            self._say(f"{_names(ending)}: records processed since the last commit will be read again: {error}")
        gone = self._consumer.group_metadata().generation < 0
        self._lose(late, LEFT if gone else "the rebalance could not wait for its worker any longer")
        self._forget(partitions)
        self._raise_failure(ending)

    async def _lost(self, partitions: set[TopicPartition]) -> None:
        """Stop the workers: other members already own these partitions, and nothing is committed."""
        losing = [self._workers[at] for at in sorted(partitions & self._workers.keys())]
        self._lose(losing, LEFT)
        self._forget(partitions)

    def _lose(self, workers: Sequence[Worker], why: str) -> None:
        for worker in workers:
            worker.lose(self._grace)
            self._losers[worker.at] = worker
            worker.task.add_done_callback(lambda _, loser=worker: self._gone(loser))  # type: ignore[misc]
        if stopping := [worker for worker in workers if worker.busy or worker.done is not None]:
            self._say(f"{_names(stopping)}: lost, {why}; uncommitted records will be read again")

    def _gone(self, loser: Worker) -> None:
        """A worker that lost its partition has ended. Its exception is ignored: the next owner gets the same
        records."""
        if self._losers.get(loser.at) is loser:
            del self._losers[loser.at]
        if not loser.task.cancelled() and (problem := loser.task.exception()) is not None:
            self._say(f"{_names([loser])}: its worker raised {problem!r} after the partition was lost")

    def _forget(self, partitions: set[TopicPartition]) -> None:
        for at in partitions:
            self._workers.pop(at, None)
            self._held.discard(at)

    def _say(self, text: str) -> None:
        if self._consumer.on_notice is not None:
            self._consumer.on_notice(text)

    # -- commits and failures ---------------------------------------------------------------------------------------

    async def _commit_in_time(self) -> None:
        try:
            await self._commit(self._workers.values())
        except KcliError as error:
            if error.retriable:
                self._say(f"the commit failed; the next attempt is in {self._every:g} s: {error}")
            elif not overtaken(error):
                raise  # otherwise it is repeated on revocation, or after the rebalance

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


def _names(workers: Sequence[Worker]) -> str:
    return ", ".join(f"{worker.at.topic}[{worker.at.partition}]" for worker in workers)
