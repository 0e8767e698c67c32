"""The engine of a share consumer: a fetcher per broker, and the results of acknowledgements.

An event only wakes a task, which then reads the whole state.
"""

from __future__ import annotations

import asyncio

from kcli.backoff import Backoff, after
from kcli.consumer.share.fetcher import ShareFetcher
from kcli.errors import KcliError
from kcli.metrics.observer import ConsumerObserver

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from kcli.consumer.share.chunk import Arrived, Place
    from kcli.consumer.share.ranges import Outcome
    from kcli.consumer.share.settings import ShareSettings
    from kcli.model import Cluster, TopicPartition
    from kcli.settings import ConsumerSettings

LOCK = 30.0  # seconds, Kafka's default, until a broker sends its own


class ShareReader:
    """`demand` is True while a poll waits for records, `most` is how many it wants. `arrived` is set when a poll may
    have records, `acknowledged` when a fetcher has no acknowledgements left."""

    def __init__(
        self,
        cluster: Cluster,
        settings: ConsumerSettings,
        share: ShareSettings,
        observer: ConsumerObserver | None = None,
    ) -> None:
        self.cluster = cluster
        self.settings = settings
        self.share = share
        self.observer = observer or ConsumerObserver()
        self.member_id = ""
        self.demand = False
        self.closing = False
        self.most = share.max_records
        self.lock_timeout = LOCK
        self.assigned: dict[Place, TopicPartition] = {}
        self.names: dict[Place, TopicPartition] = {}  # of all partitions that were ever assigned
        self.fetchers: dict[int, ShareFetcher] = {}
        self.arrived = asyncio.Event()
        self.acknowledged = asyncio.Event()
        self.failure: BaseException | None = None
        self.outcomes: Callable[[list[Outcome]], None] = lambda _: None
        self._retry_at: dict[TopicPartition, tuple[float, int]] = {}  # next attempt, after how many failures
        self._leaders = -1  # version of the leaders on which `_led` is based
        self._led: dict[int, dict[Place, TopicPartition]] = {}  # assigned partitions by leader
        self._leaderless = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._timers: set[asyncio.TimerHandle] = set()

    # -- assignment -------------------------------------------------------------------------------------------------

    def assign(self, places: dict[Place, TopicPartition]) -> None:
        """Acquire records of these partitions only. Records of others that are already acquired stay so."""
        self.assigned = dict(places)
        self._leaders = -1
        self.names |= places
        for fetcher in self.fetchers.values():
            fetcher.empty &= places.keys()
        self.changed()

    def changed(self) -> None:
        """Wake all tasks, because the assignment or the leaders changed."""
        if self.closing:
            return
        if not self._tasks and self.assigned:
            self._run(self._find_leaders())
        self._settle()
        for node in self._led:
            if node < 0:
                self._leaderless.set()
            elif node not in self.fetchers:
                fetcher = self.fetchers[node] = ShareFetcher(self, node)
                self._run(fetcher.run())
        self.wake()

    def wake(self) -> None:
        for fetcher in self.fetchers.values():
            fetcher.wake.set()

    def wanted(self, node: int) -> dict[Place, TopicPartition]:
        """Return what to fetch from this broker now."""
        if self.cluster.leaders_version() != self._leaders:
            self._settle()
        now = asyncio.get_running_loop().time()
        led = self._led.get(node, {})
        return {place: at for place, at in led.items() if self._retry_at.get(at, (0.0, 0))[0] <= now}

    def _settle(self) -> None:
        """Find the leaders of assigned partitions, once for all fetchers, until one may have changed."""
        self._leaders = self.cluster.leaders_version()
        self._led = {}
        for place, at in self.assigned.items():
            self._led.setdefault(self.cluster.leader_id(at), {})[place] = at

    def later(self, at: TopicPartition, error: KcliError, *, at_once: bool = False) -> None:
        """Retry a partition after a growing pause."""
        _, troubles = self._retry_at.get(at, (0.0, 0))
        self.observer.retried(at, troubles + 1, str(error))
        settings = self.settings
        pause = after(troubles, settings.retry_backoff, settings.retry_backoff_max) if troubles or not at_once else 0.0
        loop = asyncio.get_running_loop()
        self._retry_at[at] = (loop.time() + pause, troubles + 1)
        self._timers = {timer for timer in self._timers if timer.when() > loop.time()}
        self._timers.add(loop.call_later(pause + 0.001, self.changed))
        self.changed()

    def well(self, at: TopicPartition) -> None:
        """Note a successful response."""
        self._retry_at.pop(at, None)

    @property
    def drained(self) -> bool:
        """Whether every assigned partition had nothing to deliver when it was last asked; False without an
        assignment."""
        empty: set[Place] = set()
        for fetcher in self.fetchers.values():
            empty |= fetcher.empty
            if fetcher.buffer:
                return False
        return bool(self.assigned) and self.assigned.keys() <= empty

    @property
    def waiting(self) -> list[Arrived]:
        """Return everything that arrived and was not returned yet, without taking it."""
        return [arrived for fetcher in self.fetchers.values() for arrived in fetcher.buffer]

    def taken(self) -> list[Arrived]:
        """Take everything that arrived and was not returned yet."""
        got: list[Arrived] = []
        for fetcher in self.fetchers.values():
            got += fetcher.buffer
            fetcher.buffer = []
        return got

    def settled(self, outcomes: list[Outcome]) -> None:
        self.outcomes(outcomes)

    def fail(self, error: BaseException) -> None:
        """End: no more records will arrive."""
        if self.failure is None:
            self.failure = error
        self.arrived.set()
        self.acknowledged.set()

    # -- leaders ----------------------------------------------------------------------------------------------------

    async def _find_leaders(self) -> None:
        backoff = Backoff(self.settings.retry_backoff, self.settings.retry_backoff_max)
        while True:
            self._leaderless.clear()
            lost = {at.topic for at in self.assigned.values() if self.cluster.leader_id(at) < 0}
            if not lost:
                backoff.reset()
                await self._leaderless.wait()
                continue
            try:
                await self.cluster.refresh(sorted(lost))
            except KcliError as error:
                if not error.retriable:
                    raise
            self.changed()
            if any(self.cluster.leader_id(at) < 0 for at in self.assigned.values()):
                await backoff.pause()

    # -- tasks ------------------------------------------------------------------------------------------------------

    def _run(self, work: Awaitable[None]) -> None:
        """Run a task. If it fails the consumer fails, so that no caller waits forever."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self.fail(error)

    async def close(self, patience: float) -> None:
        """Wait for requests in flight, send the last acknowledgements to every broker, and end the sessions."""
        self.closing = True
        self.demand = False
        try:
            async with asyncio.timeout(patience):
                await asyncio.gather(*(fetcher.finish() for fetcher in self.fetchers.values()))
        except TimeoutError:
            for fetcher in self.fetchers.values():
                fetcher.acks.abandon()
        finally:
            for timer in self._timers:
                timer.cancel()
            tasks = list(self._tasks)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
