"""Looking things up on the side, one task for leaders and one for the producer's id, so that lingering and expiry go
on meanwhile."""

from __future__ import annotations

import asyncio

from kcli.errors import AuthError, BrokerError, KcliError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from kcli.model import Cluster, TopicPartition
    from kcli.producer.sequence import Identity
    from kcli.settings import ProducerSettings


class Search:
    """`found` is called after each look-up, `refreshed` with the topics that were looked at again, `hopeless` with
    what no waiting will mend."""

    def __init__(
        self,
        cluster: Cluster,
        settings: ProducerSettings,
        identity: Identity,
        found: Callable[[], None],
        refreshed: Callable[[Iterable[str]], None],
        hopeless: Callable[[KcliError], None],
    ) -> None:
        self._cluster = cluster
        self._settings = settings
        self._identity = identity
        self._found = found
        self._refreshed = refreshed
        self._hopeless = hopeless
        self._leaders: asyncio.Task[None] | None = None
        self._id: asyncio.Task[None] | None = None
        self._backoff = settings.retry_backoff

    def identity(self, group: asyncio.TaskGroup) -> None:
        """Obtain the producer's id, unless somebody is at it."""
        if self._id is None or self._id.done():
            self._id = group.create_task(self._obtain(), name="obtain producer id")

    async def _obtain(self) -> None:
        try:
            await self._identity.obtain()
        except KcliError as problem:
            self._hopeless(problem)
        self._found()

    def leaders(self, group: asyncio.TaskGroup, wanted: list[TopicPartition], topics: set[str]) -> None:
        """Ask who leads those partitions, and how those topics look now, unless somebody is at it."""
        if self._leaders is None or self._leaders.done():
            self._leaders = group.create_task(self._look(wanted, topics), name="find leaders")

    async def _look(self, wanted: list[TopicPartition], topics: set[str]) -> None:
        """What cannot be mended fails, everything else waits until its delivery timeout."""
        names = sorted({at.topic for at in wanted} | topics)
        try:
            await self._cluster.refresh(names)
        except AuthError as problem:
            self._hopeless(problem)
        except BrokerError as problem:
            if not problem.code.retriable:
                self._hopeless(problem)
        except KcliError:
            pass  # nobody can be reached now: the delivery timeout decides
        self._refreshed(topics)
        self._found()
        if wanted and all(self._cluster.leader_id(at) < 0 for at in wanted):
            await asyncio.sleep(self._backoff)
            self._backoff = min(self._backoff * 2, self._settings.retry_backoff_max)
            self._found()
        else:
            self._backoff = self._settings.retry_backoff
