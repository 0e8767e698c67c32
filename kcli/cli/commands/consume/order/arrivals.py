"""Partitions that appear while a run follows: of topics that begin to match a pattern, or that grow.

What is new has nothing that was written before we came, so it is read from its beginning.
"""

from __future__ import annotations

from time import monotonic

from kcli.errors import KcliError
from kcli.model import TopicPartition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from kcli.cli.commands.consume.selection import Selection
    from kcli.model import Cluster

FIRST_LOOK = 1.0  # seconds, doubling up to metadata.max.age: as a classic member of a group refreshes


class Arrivals:
    """When to look, and what is there that was not."""

    def __init__(self, selection: Selection, cluster: Cluster, known: Iterable[TopicPartition]) -> None:
        self._selection = selection
        self._cluster = cluster
        self._known = set(known)
        self._longest = selection.connection.client().metadata_max_age
        self._pause = min(FIRST_LOOK, self._longest)
        self._at = monotonic() + self._pause

    @property
    def wait(self) -> float:
        """Seconds until it is time to look."""
        return max(self._at - monotonic(), 0.0)

    async def new(self) -> set[TopicPartition]:
        """New partitions, if a refresh is due. A failed refresh is repeated later: reading raises its own errors."""
        if monotonic() < self._at:
            return set()
        try:
            new = set(await self._there()) - self._known
        except KcliError:
            new = set()
        self._known |= new
        self._pause = FIRST_LOOK if new else self._pause * 2
        self._pause = min(self._pause, self._longest)
        self._at = monotonic() + self._pause
        return new

    async def _there(self) -> list[TopicPartition]:
        from kcli.consumer.subscription import Interest

        chosen = self._selection
        names = await chosen.names(self._cluster)
        layout = await Interest(self._cluster, names).layout(names, with_racks=False)
        return [
            TopicPartition(topic, n)
            for topic, places in layout.items()
            for n in range(len(places))
            if chosen.partitions is None or n in chosen.partitions
        ]
