"""Chooses partitions: caches the partitions of topics, hashes keys, and keeps the sticky partition of each topic."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from itertools import accumulate

from kcli import codes
from kcli.backoff import Backoff, retry
from kcli.errors import BrokerError, DeadlineExceeded, UsageError
from kcli.model import TopicPartition
from kcli.proto.core import OpenTopic, Stay, partition_keys, partition_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    import random
    from array import array
    from collections.abc import Callable, Iterable, Sequence

    from kcli.errors import KcliError
    from kcli.model import Cluster
    from kcli.producer.engine.engine import Engine
    from kcli.proto.buffer import Buffer
    from kcli.proto.columns import Lines
    from kcli.settings import ProducerSettings

    Hash = Callable[[bytes, int], int]
    from collections.abc import Callable

    from kcli.settings import Partition

UNKNOWN = (codes.UNKNOWN_TOPIC_OR_PARTITION, codes.UNKNOWN_TOPIC_ID)
MURMUR2 = ("murmur2", "murmur2_random")
FEW = 32
"""Up to this many partitions, each is weighed. With more, one is drawn at random and accepted with the probability of
its weight: the same distribution, at a cost that does not grow with the topic."""


TRIES = 64  # after this many draws all are weighed: most have no leader, or long queues


class Placement:
    """The partitions of topics, and the state of the partitioner per topic."""

    def __init__(self, cluster: Cluster, settings: ProducerSettings, metadata_max_age: float) -> None:
        """`metadata_max_age`: seconds after which the number of partitions is looked up again."""
        self._cluster = cluster
        self._max_age = metadata_max_age
        self._settings = settings
        self._sticky: dict[str, Sticky] = {}
        self._partitioners: dict[str, Partitioner | OwnPartitioner] = {}
        self.columnar = settings.partitioner in MURMUR2
        self._partitions: dict[str, tuple[float, Sequence[int]]] = {}
        self.opened: dict[str, OpenTopic] = {}  # topics with open batches
        self.closing = False  # missing topics are no longer waited for
        self.engine: Engine  # the two refer to each other; the producer connects them

    def forget(self, topics: Iterable[str]) -> None:
        """Discard these topics, whose metadata was refreshed."""
        for topic in topics:
            self._partitions.pop(topic, None)
            self.opened.pop(topic, None)

    def known(self, topic: str, partition: int | None) -> Sequence[int] | None:
        """Return the topic's partitions, or None if they have to be looked up first."""
        known = self._partitions.get(topic)
        if known is None or (partition is not None and partition not in known[1]):
            return None
        now = self.engine.loop.time()
        if now - known[0] >= self._max_age:
            self._partitions[topic] = (now, known[1])  # still used until the refresh is done
            self.engine.refresh_later(topic)
        return known[1]

    async def look_up(self, topic: str, partition: int | None, *, wait: bool = True) -> Sequence[int]:
        """Return the topic's partitions, asking the cluster if needed.

        With `wait`, a missing topic is waited for if the settings allow it. Raises BrokerError if the topic does not
        exist, and UsageError if the partition does not exist even after a refresh.
        """
        unknown: list[BrokerError] = []
        try:
            async with asyncio.timeout(self._settings.max_block):
                partitions = await self._partitions_of(topic, unknown, wait=wait and self._settings.wait_for_topic)
                if partition is not None and partition not in partitions:
                    await self._cluster.refresh([topic])
                    partitions = await self._cluster.partitions(topic)
                if partitions[-1] == len(partitions) - 1:
                    # membership in a range costs one comparison, however many there are
                    partitions = range(len(partitions))
        except TimeoutError:
            if unknown:
                raise self._not_created(unknown[-1]) from None
            text = f"no metadata of {topic} received within {self._settings.max_block:g} s (max.block.ms)"
            raise DeadlineExceeded(text) from None
        self._partitions[topic] = (asyncio.get_running_loop().time(), partitions)
        if partition is not None and partition not in partitions:
            raise UsageError(f"{topic} has no partition {partition}: its partitions are 0-{max(partitions)}")
        return partitions

    async def _partitions_of(self, topic: str, unknown: list[BrokerError], *, wait: bool) -> Sequence[int]:
        """Look up the partitions, waiting for a missing topic like Kafka's own clients, because a program may start
        before its topic is created. `unknown` receives each response that the topic does not exist."""
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
        """Return the partition for a key; None means the topic's sticky partition."""
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

        return OwnPartitioner(chosen, topic, self._available(topic))

    def _available(self, topic: str) -> Callable[[int], bool]:
        """Return a function that tells whether a partition of the topic has a leader that accepts records."""
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
        """Return the topic's sticky choice."""
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
        """Return the partition for `size` bytes of rows without keys; None if the partitioner places each row
        individually."""
        if not self.columnar:
            return None
        sticky = self.sticky(topic)
        chosen = sticky.choose(everyone)
        sticky.went(size, full=size >= self.engine.accumulator.sizing.limit(topic))
        return chosen

    def rows(self, topic: str, chunk: Buffer, lines: Lines, everyone: Sequence[int]) -> array[int]:
        """Return each row's partition. Rows without a key go to the topic's current sticky partition in order with the
        others: in a separate batch they could overtake, or fall behind, the keyed rows of that partition."""
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
        """Place rows with a partitioner that the record core does not implement."""
        keys = zip(lines.key_starts, lines.key_lengths, strict=True)
        partitions = (self.of_key(topic, bytes(chunk[at : at + n]) if n >= 0 else None, everyone) for at, n in keys)
        return type(places)("i", [-1 if partition is None else partition for partition in partitions])


# Partitioners by the names that librdkafka and Java use; kcli gives the same results.
#
# | name | key | no key |
# |---|---|---|
# | murmur2, murmur2_random | Java's default | sticky |
# | consistent_random | CRC-32, librdkafka's default; an empty key counts as none | sticky |
# | consistent | CRC-32 | as an empty key: one partition |
# | fnv1a_random | FNV-1a, sarama's default | sticky |
# | fnv1a | FNV-1a | as an empty key: one partition |
# | random | sticky, whatever the key | sticky |
# | roundrobin | partitions with a leader in turn, whatever the key | the same |
#
# A function of the caller can decide instead (`OwnPartitioner`).
def crc32(key: bytes, count: int) -> int:
    """librdkafka's `consistent`."""
    import zlib

    return zlib.crc32(key) % count


def fnv1a(key: bytes, count: int) -> int:
    """sarama's hash partitioner and librdkafka's `fnv1a`: absolute value of the signed 32-bit FNV-1a hash."""
    value = 0x811C9DC5
    for byte in key:
        value = ((value ^ byte) * 0x01000193) & 0xFFFFFFFF
    return (value if value < 1 << 31 else (1 << 32) - value) % count


class Partitioner:
    """A partitioner by name. `of` returns a partition, or None for the topic's sticky choice. `available(partition)`:
    whether the partition has a leader that accepts records."""

    def __init__(self, name: str, available: Callable[[int], bool]) -> None:
        self._available = available
        self._turn = -1 if name == "roundrobin" else None
        self._hash: Hash | None = {
            "murmur2": partition_of,
            "murmur2_random": partition_of,
            "consistent": crc32,
            "consistent_random": crc32,
            "fnv1a": fnv1a,
            "fnv1a_random": fnv1a,
        }.get(name)
        self._keyless = name in ("consistent", "fnv1a")
        self._empty_is_none = name == "consistent_random"

    def of(self, key: bytes | None, everyone: Sequence[int]) -> int | None:
        """Return the partition for a key, out of all partitions of the topic."""
        count = len(everyone)
        if self._turn is not None:
            return self._next(count)
        if self._hash is None or (key is None and not self._keyless) or (self._empty_is_none and not key):
            return None
        return self._hash(key or b"", count)

    def _next(self, count: int) -> int:
        """Return the next available partition, or simply the next one if none is available."""
        assert self._turn is not None
        for ahead in range(1, count + 1):
            if self._available(turn := (self._turn + ahead) % count):
                self._turn = turn
                return turn
        self._turn = (self._turn + 1) % count
        return self._turn


# Uniform sticky partitioning (KIP-794) for records without key and partition, with a state per topic.
#
# It stays on a partition until about one batch of bytes was sent there, and then picks another one with a leader; the
# longer a partition's queue, the less likely it is picked.
class Sticky(Stay):
    """The sticky choice of one topic.

    `batch_size()` in raw bytes, `depth(partition)` (number of waiting batches) and `deepest()` (their maximum over the
    partitions) are only called when another partition is picked, about once per batch. `has_leader(partition)` is
    called every time, because a partition without a leader is left at once.
    """

    def __init__(
        self,
        batch_size: Callable[[], int],
        has_leader: Callable[[int], bool],
        depth: Callable[[int], int],
        deepest: Callable[[], int],
    ) -> None:
        self._batch_size = batch_size
        self._has_leader = has_leader
        self._depth = depth
        self._deepest = deepest
        self.current = -1
        self.left = 0  # bytes until another partition is picked
        self.rng: random.Random | None = None

    def choose(self, everyone: Sequence[int]) -> int:
        """Return the partition for the next bytes. Leaderless partitions are used only if all are leaderless."""
        if self.left <= 0 or self.current >= len(everyone) or not self._has_leader(self.current):
            self.current = everyone[0] if len(everyone) == 1 else self._pick(everyone)
            self.left = self._batch_size()
        return self.current

    def _pick(self, everyone: Sequence[int]) -> int:
        if self.rng is None:
            import random

            self.rng = random.Random()
        tries = 0 if len(everyone) <= FEW else TRIES
        deepest = self._deepest() if tries else 0
        for _ in range(tries):
            drawn = everyone[self.rng.randrange(len(everyone))]
            weight = deepest + 1 - self._depth(drawn)
            if drawn != self.current and self.rng.randrange(deepest + 1) < weight and self._has_leader(drawn):
                return drawn
        return self._pick_among_all(everyone, self.rng)

    def _pick_among_all(self, everyone: Sequence[int], rng: random.Random) -> int:
        """Make the same choice by weighing each partition."""
        candidates = [p for p in everyone if self._has_leader(p)] or list(everyone)
        others = [p for p in candidates if p != self.current] or candidates
        depths = [self._depth(p) for p in others]
        heaviest = max(depths) + 1
        weights = list(accumulate(heaviest - d for d in depths))
        at = rng.randrange(weights[-1])
        return others[bisect_right(weights, at)]

    def went(self, size: int, *, full: bool = False) -> None:
        """Record `size` bytes sent to the chosen partition. `full`: its batch has no more room."""
        self.left = 0 if full else self.left - size


# A custom partitioner: a function of the caller that places each record.


# seconds for which the list of available partitions is reused: for large topics it costs more than the call
AVAILABLE_FOR = 0.05


class OwnPartitioner:
    """Calls the function for one topic, with the interface of `Partitioner`."""

    def __init__(self, function: Partition, topic: str, available: Callable[[int], bool]) -> None:
        self._function = function
        self._topic = topic
        self._is_available = available
        self._available: Sequence[int] = ()
        self._of: Sequence[int] = ()
        self._until = 0.0

    def of(self, key: bytes | None, everyone: Sequence[int]) -> int | None:
        """Return the function's choice. Raises UsageError if the topic does not have that partition. Exceptions of the
        function reach the caller of `send`."""
        now = asyncio.get_running_loop().time()
        if now >= self._until or self._of is not everyone:
            self._available = [partition for partition in everyone if self._is_available(partition)]
            self._of, self._until = everyone, now + AVAILABLE_FOR
        chosen = self._function(self._topic, key, everyone, self._available)
        if chosen is not None and (type(chosen) is not int or chosen not in everyone):
            raise UsageError(
                f"{self._topic}: the partitioner returned {chosen!r}; the partitions are 0-{max(everyone)}"
            )
        return chosen
