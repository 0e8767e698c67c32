"""Where records go: a topic's partitions as last seen, the key's hash, or the partition the topic sticks to now."""

from __future__ import annotations

import asyncio

from kcli import codes
from kcli.backoff import Backoff, retry
from kcli.errors import BrokerError, DeadlineExceeded, UsageError
from kcli.model import TopicPartition
from kcli.producer.intake.hashing import MURMUR2, Partitioner
from kcli.producer.intake.partitioner import Sticky
from kcli.proto.core import OpenTopic, partition_keys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable, Iterable, Sequence

    from kcli.errors import KcliError
    from kcli.model import Cluster
    from kcli.producer.engine.engine import Engine
    from kcli.producer.intake.own_partitioner import OwnPartitioner
    from kcli.proto.buffer import Buffer
    from kcli.proto.columns import Lines
    from kcli.settings import ProducerSettings

UNKNOWN = (codes.UNKNOWN_TOPIC_OR_PARTITION, codes.UNKNOWN_TOPIC_ID)


class Placement:
    """The partitions of topics and the sticky choice, a state per topic (A5.08)."""

    def __init__(self, cluster: Cluster, settings: ProducerSettings, metadata_max_age: float) -> None:
        """`metadata_max_age`: the seconds after which the number of partitions is looked up again (D14)."""
        self._cluster = cluster
        self._max_age = metadata_max_age
        self._settings = settings
        self._sticky: dict[str, Sticky] = {}
        self._partitioners: dict[str, Partitioner | OwnPartitioner] = {}
        self.columnar = settings.partitioner in MURMUR2
        self._partitions: dict[str, tuple[float, Sequence[int]]] = {}
        self.opened: dict[str, OpenTopic] = {}  # what is known of topics with open batches
        self.closing = False  # what does not exist by now is not waited for any longer
        self.engine: Engine  # each knows the other; the producer introduces them

    def forget(self, topics: Iterable[str]) -> None:
        """Forget these topics, whose metadata was refreshed."""
        for topic in topics:
            self._partitions.pop(topic, None)
            self.opened.pop(topic, None)

    def known(self, topic: str, partition: int | None) -> Sequence[int] | None:
        """The topic's partitions, unless they have to be looked up first."""
        known = self._partitions.get(topic)
        if known is None or (partition is not None and partition not in known[1]):
            return None
        now = self.engine.loop.time()
        if now - known[0] >= self._max_age:
            self._partitions[topic] = (now, known[1])  # usable meanwhile
            self.engine.look_again(topic)
        return known[1]

    async def look_up(self, topic: str, partition: int | None, *, wait: bool = True) -> Sequence[int]:
        """As `known`, asking the cluster; with `wait` a topic that does not exist is waited for if the settings say so
        (D47). Raises BrokerError for a topic that does not exist, UsageError for a partition that is still not there
        after a refresh (D13)."""
        unknown: list[BrokerError] = []
        try:
            async with asyncio.timeout(self._settings.max_block):
                partitions = await self._partitions_of(topic, unknown, wait=wait and self._settings.wait_for_topic)
                if partition is not None and partition not in partitions:
                    await self._cluster.refresh([topic])
                    partitions = await self._cluster.partitions(topic)
                if partitions[-1] == len(partitions) - 1:
                    partitions = range(len(partitions))  # to be in it is one comparison, however many there are
        except TimeoutError:
            if unknown:
                raise self._not_created(unknown[-1]) from None
            text = f"nothing was learned of {topic} within {self._settings.max_block:g} s (max.block.ms)"
            raise DeadlineExceeded(text) from None
        self._partitions[topic] = (asyncio.get_running_loop().time(), partitions)
        if partition is not None and partition not in partitions:
            raise UsageError(f"{topic} has no partition {partition}: its partitions are 0-{max(partitions)}")
        return partitions

    async def _partitions_of(self, topic: str, unknown: list[BrokerError], *, wait: bool) -> Sequence[int]:
        """Kafka's own clients wait for a topic, too: a program may start before its topic is created. `unknown` gets
        each answer that the topic does not exist."""
        settings = self._settings
        pauses = Backoff(settings.retry_backoff, settings.retry_backoff_max)

        def missing(problem: KcliError) -> Backoff | None:
            if not isinstance(problem, BrokerError) or problem.code not in UNKNOWN:
                return None
            unknown.append(problem)
            return None if self.closing else pauses

        if not wait:
            return await self._cluster.partitions(topic)
        until = asyncio.get_running_loop().time() + settings.max_block
        try:
            return await retry(lambda: self._cluster.partitions(topic), pauses, until, policy=missing)
        except BrokerError as problem:
            if problem.code not in UNKNOWN or self.closing:
                raise
            raise self._not_created(problem) from None

    def _not_created(self, problem: BrokerError) -> BrokerError:
        text = f"the topic does not exist, and was not created within {self._settings.max_block:g} s (max.block.ms)"
        return BrokerError(problem.code, problem.about, text)

    def of_key(self, topic: str, key: bytes | None, everyone: Sequence[int]) -> int | None:
        """Where the records of a key go, None where the topic sticks (D11)."""
        if key is None and self.columnar:
            return None
        partitioner = self._partitioners.get(topic)
        if partitioner is None:
            partitioner = self._partitioners[topic] = self._partitioner(topic)
        return partitioner.of(key, everyone)

    def _partitioner(self, topic: str) -> Partitioner | OwnPartitioner:
        chosen = self._settings.partitioner
        if isinstance(chosen, str):
            return Partitioner(chosen, self._available(topic))
        from kcli.producer.intake.own_partitioner import OwnPartitioner

        return OwnPartitioner(chosen, topic, self._available(topic))

    def _available(self, topic: str) -> Callable[[int], bool]:
        """Whether a partition of the topic has a leader that takes records (D12)."""
        cluster, accumulator = self._cluster, self.engine.accumulator
        patience = self._settings.partitioner_availability_timeout
        places: dict[int, TopicPartition] = {}

        def available(partition: int) -> bool:
            at = places.get(partition)
            if at is None:
                at = places[partition] = TopicPartition(topic, partition)
            return cluster.has_leader(at) and not (patience and accumulator.overdue(at, patience))

        return available

    def sticky(self, topic: str) -> Sticky:
        """The topic's sticky choice (D12)."""
        sticky = self._sticky.get(topic)
        if sticky is None:
            accumulator = self.engine.accumulator
            sticky = self._sticky[topic] = Sticky(
                lambda: accumulator.sizing.limit(topic),
                self._available(topic),
                lambda p: accumulator.depth(topic, p),
                lambda: accumulator.deepest(topic),
            )
        return sticky

    def keyless(self, topic: str, size: int, everyone: Sequence[int]) -> int | None:
        """The partition for rows without keys, of `size` bytes in all; None if the partitioner places each by
        itself."""
        if not self.columnar:
            return None
        sticky = self.sticky(topic)
        chosen = sticky.choose(everyone)
        sticky.went(size, full=size >= self.engine.accumulator.sizing.limit(topic))
        return chosen

    def rows(self, topic: str, chunk: Buffer, lines: Lines, everyone: Sequence[int]) -> array[int]:
        """Each row's partition. Rows without a key go where the topic sticks now, among the others and in their
        order: a batch of their own would overtake or fall behind the keyed rows of that partition."""
        places = partition_keys(chunk, lines, len(everyone))
        if not self.columnar:
            places = self._one_by_one(topic, chunk, lines, everyone, places)
        if -1 in places:
            sticky = self.sticky(topic)
            chosen = sticky.choose(everyone)
            keyless = sum(length for length, place in zip(lines.value_lengths, places) if place < 0)
            sticky.went(keyless, full=keyless >= self.engine.accumulator.sizing.limit(topic))
            places = type(places)("i", [chosen if place < 0 else place for place in places])
        return places

    def _one_by_one(
        self, topic: str, chunk: Buffer, lines: Lines, everyone: Sequence[int], places: array[int]
    ) -> array[int]:
        """By a partitioner the record core does not know."""
        keys = zip(lines.key_starts, lines.key_lengths, strict=True)
        partitions = (self.of_key(topic, bytes(chunk[at : at + n]) if n >= 0 else None, everyone) for at, n in keys)
        return type(places)("i", [-1 if partition is None else partition for partition in partitions])
