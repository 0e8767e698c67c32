"""Room in batches that are open: what most records of a loop over `send` need, and all that they need.

Of 10,000 small records one opens a batch. What that one found out about its topic is true for the others until a leader
may have changed, the topic's metadata is forgotten, or the batch is full.
"""

from __future__ import annotations

import time

from kcli.producer.intake.placement import OpenTopic
from kcli.proto.core import partition_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Sequence

    from kcli.model import Cluster
    from kcli.producer.batches.batch import ProducerBatch, RecordMetadata
    from kcli.producer.batches.queue import PartitionQueue
    from kcli.producer.engine.engine import Engine
    from kcli.producer.intake.partitioner import Sticky
    from kcli.producer.intake.placement import Placement
    from kcli.proto.columns import Headers
    from kcli.settings import ProducerSettings

AT_A_TIME = 2000  # records without a pause: 10 to 20 ms
OVERHEAD = 40  # bytes a record may take on top of its key and value, without headers


class Room:
    """`check` raises when nothing may be sent now. `in_a_row` counts the records since the loop last ran for us."""

    def __init__(
        self,
        cluster: Cluster,
        engine: Engine,
        placement: Placement,
        settings: ProducerSettings,
        check: Callable[[], None],
    ) -> None:
        self._leaders_version = cluster.leaders_version
        self._engine = engine
        self._budget = engine.budget
        self._accumulator = engine.accumulator
        self._counts = engine.ledger.counts
        self._placement = placement
        self._opened = placement.opened
        self._check = check
        self.in_a_row = 0
        self.free = False  # whether `check` has nothing to say but that the engine broke
        self._largest = settings.max_request_size
        self._most = settings.batch_records
        # another partitioner, and one that leaves slow partitions, look at each record
        self._used = placement.columnar and not settings.partitioner_availability_timeout

    def remember(self, topic: str, everyone: Sequence[int], queue: PartitionQueue) -> None:
        """A record went to the queue's open batch."""
        if not self._used:
            return
        opened, version = self._opened.get(topic), self._leaders_version()
        if opened is None or opened.version != version or opened.everyone is not everyone:
            sticky = self._placement.sticky(topic)
            opened = self._opened[topic] = OpenTopic(everyone, sticky, version)
        opened.queues[queue.at.partition] = queue
        opened.limit = self._accumulator.sizing.limit(topic)

    def take(
        self,
        topic: str,
        value: bytes | None,
        key: bytes | None,
        headers: Headers,
        partition: int | None,
        timestamp: int | None,
    ) -> asyncio.Future[RecordMetadata] | None:
        """Append a record without headers to the open batch it belongs to; None, and nothing is done, where it needs
        more than that. Raises what `check` raises."""
        opened = self._opened.get(topic)
        if opened is None or headers or headers is None:
            return None
        if type(value) is not bytes or (key is not None and type(key) is not bytes):
            return None
        if self.in_a_row >= AT_A_TIME or opened.version != self._leaders_version():
            return None
        if not self.free or self._engine.poison is not None:
            self._check()
        sticky = None
        size = OVERHEAD + len(value) + (0 if key is None else len(key))
        if partition is None and key is not None:
            partition = partition_of(key, len(opened.everyone))
        elif partition is None:
            sticky = opened.sticky
            partition = sticky.current if sticky.left > 0 else -1
        queue = opened.queues.get(partition)
        if queue is None or queue.open is None or size > self._largest:
            return None
        stamp = time.time_ns() // 1_000_000 if timestamp is None else timestamp
        return self._append(queue, queue.open, opened.limit, sticky, size, stamp, key, value)

    def _append(
        self,
        queue: PartitionQueue,
        batch: ProducerBatch,
        limit: int,
        sticky: Sticky | None,
        size: int,
        stamp: int,
        key: bytes | None,
        value: bytes,
    ) -> asyncio.Future[RecordMetadata] | None:
        """A record of at most `size` bytes; None without room for it, in the batch or in memory."""
        builder = batch.builder
        before = builder.size
        if before + size > limit or not self._budget.take_now(size, 1):
            return None
        try:
            builder.append(stamp, key, value)
        except BaseException:
            self._budget.give(size, 1)
            raise
        grown = builder.size - before
        batch.spare += size - grown
        if sticky is not None:
            sticky.left -= grown
        self.in_a_row += 1
        self._counts.accepted += 1
        future: asyncio.Future[RecordMetadata] = self._engine.loop.create_future()
        batch.promises.append((builder.count - 1, future))
        batch.timestamps.append(stamp)
        if before + grown >= limit or builder.count >= self._most:
            self._accumulator.close(queue)
        return future
