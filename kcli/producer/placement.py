"""Where records go: a topic's partitions as last seen, the key's hash, or the partition the topic sticks to now."""

from __future__ import annotations

import asyncio

from kcli.errors import DeadlineExceeded, UsageError
from kcli.model import TopicPartition
from kcli.producer.partitioner import Sticky
from kcli.proto.core import partition_keys, partition_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterable, Sequence

    from kcli.model import Cluster
    from kcli.producer.engine import Engine
    from kcli.proto.columns import Lines
    from kcli.proto.schema import Buffer
    from kcli.settings import ProducerSettings

METADATA_CHECK = 60.0  # seconds after which the number of partitions is looked up again (D14)


class Placement:
    """The partitions of topics and the sticky choice, a state per topic (A5.08)."""

    def __init__(self, cluster: Cluster, settings: ProducerSettings) -> None:
        self._cluster = cluster
        self._settings = settings
        self._sticky: dict[str, Sticky] = {}
        self._partitions: dict[str, tuple[float, Sequence[int]]] = {}
        self.engine: Engine  # each knows the other; the producer introduces them

    def forget(self, topics: Iterable[str]) -> None:
        """Their metadata was refreshed: look at them anew."""
        for topic in topics:
            self._partitions.pop(topic, None)

    def known(self, topic: str, partition: int | None) -> Sequence[int] | None:
        """The topic's partitions, unless they have to be looked up first."""
        known = self._partitions.get(topic)
        if known is None or (partition is not None and partition not in known[1]):
            return None
        now = asyncio.get_running_loop().time()
        if now - known[0] >= METADATA_CHECK:
            self._partitions[topic] = (now, known[1])  # goes on meanwhile
            self.engine.look_again(topic)
        return known[1]

    async def look_up(self, topic: str, partition: int | None) -> Sequence[int]:
        """As `known`, asking the cluster. Raises BrokerError for a topic that does not exist, UsageError for a
        partition that is still not there after a refresh (D13)."""
        try:
            async with asyncio.timeout(self._settings.max_block):
                found = await self._cluster.partitions(topic)
                if partition is not None and partition not in found:
                    await self._cluster.refresh([topic])
                    found = await self._cluster.partitions(topic)
        except TimeoutError:
            text = f"nothing was learned of {topic} within {self._settings.max_block:g} s (max.block.ms)"
            raise DeadlineExceeded(text) from None
        self._partitions[topic] = (asyncio.get_running_loop().time(), found)
        if partition is not None and partition not in found:
            raise UsageError(f"{topic} has no partition {partition}: its partitions are 0-{max(found)}")
        return found

    def of_key(self, key: bytes, everyone: Sequence[int]) -> int:
        """Where a key's records go (D11)."""
        return partition_of(key, len(everyone))

    def sticky(self, topic: str) -> Sticky:
        """The topic's sticky choice (D12)."""
        found = self._sticky.get(topic)
        if found is None:
            cluster, accumulator = self._cluster, self.engine.accumulator
            found = self._sticky[topic] = Sticky(
                lambda: accumulator.sizing.limit(topic),
                lambda p: cluster.has_leader(TopicPartition(topic, p)),
                lambda p: accumulator.depth(topic, p),
            )
        return found

    def rows(self, topic: str, chunk: Buffer, lines: Lines, everyone: Sequence[int]) -> array[int]:
        """Each row's partition. Rows without a key go where the topic sticks now, among the others and in their
        order: a batch of their own would overtake or fall behind the keyed rows of that partition."""
        places = partition_keys(chunk, lines, len(everyone))
        if -1 in places:
            sticky = self.sticky(topic)
            chosen = sticky.choose(everyone)
            keyless = sum(length for length, place in zip(lines.value_lengths, places) if place < 0)
            sticky.went(keyless, full=keyless >= self.engine.accumulator.sizing.limit(topic))
            places = type(places)("i", [chosen if place < 0 else place for place in places])
        return places
