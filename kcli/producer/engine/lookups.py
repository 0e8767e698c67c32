"""Look-ups in the background, one task for leaders and one for the producer id, so that lingers and timeouts are
handled meanwhile."""

from __future__ import annotations

import asyncio

from kcli.backoff import Backoff
from kcli.errors import BrokerError, KcliError, cannot_connect

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from kcli.model import Cluster, TopicPartition
    from kcli.producer.batches.queue import Identity
    from kcli.settings import ProducerSettings


class Search:
    """`on_found` is called after each look-up, `refreshed` with the refreshed topics, `hopeless` with permanent
    errors."""

    def __init__(
        self,
        cluster: Cluster,
        settings: ProducerSettings,
        identity: Identity,
        on_found: Callable[[], None],
        refreshed: Callable[[Iterable[str]], None],
        hopeless: Callable[[KcliError], None],
    ) -> None:
        self._cluster = cluster
        self._settings = settings
        self._identity = identity
        self._on_found = on_found
        self._refreshed = refreshed
        self._hopeless = hopeless
        self._leaders: asyncio.Task[None] | None = None
        self._id: asyncio.Task[None] | None = None
        self._backoff = Backoff(settings.retry_backoff, settings.retry_backoff_max)
        self._in_vain: set[TopicPartition] = set()
        self._rested_at = 0.0

    def identity(self, group: asyncio.TaskGroup) -> None:
        """Request the producer id, unless a request is in progress."""
        if self._id is None or self._id.done():
            self._id = group.create_task(self._obtain(), name="obtain producer id")

    async def _obtain(self) -> None:
        try:
            await self._identity.obtain()
        except KcliError as problem:
            self._hopeless(problem)
        self._on_found()

    def leaders(self, group: asyncio.TaskGroup, wanted: list[TopicPartition], topics: set[str]) -> bool:
        """Look up the leaders of `wanted` and refresh `topics`.

        Returns False if it has to wait, because a look-up is in progress or the last one for all of these just failed;
        `on_found` is called when it makes sense to try again.
        """
        if (self._leaders is not None and not self._leaders.done()) or (
            not topics and self._in_vain.issuperset(wanted)
        ):
            return False
        rested = asyncio.get_running_loop().time() - self._rested_at
        if not self._in_vain and rested > self._settings.retry_backoff_max:
            self._backoff.reset()  # the search that failed was abandoned; this is a new one
        self._leaders = group.create_task(self._check(wanted, topics), name="find leaders")
        return True

    async def _check(self, wanted: list[TopicPartition], topics: set[str]) -> None:
        """Run the look-up. Permanent errors fail; everything else waits until its delivery timeout."""
        names = sorted({at.topic for at in wanted} | topics)
        try:
            await self._cluster.refresh(names)
        except KcliError as problem:  # while no broker can be reached, the delivery timeout decides
            if cannot_connect(problem) or (isinstance(problem, BrokerError) and not problem.retriable):
                self._hopeless(problem)
        self._refreshed(topics)
        still = {at for at in wanted if self._cluster.leader_id(at) < 0}
        if not still:
            self._backoff.reset()
        elif not self._in_vain.issuperset(still):
            self._in_vain |= still
            asyncio.get_running_loop().call_later(self._backoff.next(), self._rested)
        asyncio.get_running_loop().call_soon(self._on_found)  # after this task has ended

    def _rested(self) -> None:
        self._rested_at = asyncio.get_running_loop().time()
        self._in_vain.clear()
        self._on_found()
