"""All batches that are not settled: a queue per partition, the batches that may be sent, and those that are overdue.

Pure but for its budget: time is an argument (`overdue` asks the loop), and `on_ready` wakes the sender when a batch may
have become sendable. A batch closes when it is full, when its linger is over, when a send waits for memory, or on flush
(D2).
"""

from __future__ import annotations

import asyncio

from kcli.model import TopicPartition
from kcli.producer.batches.batch import ProducerBatch
from kcli.producer.batches.queue import PartitionQueue
from kcli.producer.batches.sizing import Sizing
from kcli.producer.batches.split import split

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from kcli.proto.batch import SealedBatch
    from kcli.settings import ProducerSettings

CLOSE_IN_THREAD = 64 * 1024  # compressing more than this would keep heartbeats and answers waiting (B31)


class Accumulator:
    """`seal_later` has a thread seal a batch; `too_large` gets a record that no request may carry."""

    def __init__(
        self,
        settings: ProducerSettings,
        on_ready: Callable[[], None],
        seal_later: Callable[[ProducerBatch], None],
        too_large: Callable[[PartitionQueue, ProducerBatch], None],
    ) -> None:
        self._settings = settings
        self._on_ready = on_ready
        self._seal_later = seal_later
        self._too_large = too_large
        self.sizing = Sizing(settings)
        self._numbers = 0
        self.queues: dict[TopicPartition, PartitionQueue] = {}
        self.active: dict[TopicPartition, PartitionQueue] = {}  # those with anything unsettled
        self.lingering: dict[TopicPartition, PartitionQueue] = {}  # those with an open batch
        self.incomplete: set[ProducerBatch] = set()

    def queue(self, topic: str, partition: int) -> PartitionQueue:
        at = TopicPartition(topic, partition)
        queue = self.queues.get(at)
        if queue is None:
            queue = self.queues[at] = PartitionQueue(at)
        return queue

    def depth(self, topic: str, partition: int) -> int:
        """Unsettled batches of a partition, for the sticky choice."""
        queue = self.active.get(TopicPartition(topic, partition))
        return queue.depth if queue is not None else 0

    def deepest(self, topic: str) -> int:
        """The largest depth of a partition of the topic."""
        return max((queue.depth for queue in self.active.values() if queue.at.topic == topic), default=0)

    def overdue(self, at: TopicPartition, patience: float) -> bool:
        """Whether a batch of the partition has waited for its leader for longer than that many seconds (KIP-794)."""
        queue = self.active.get(at)
        if queue is None or not queue.waiting:
            return False
        now = asyncio.get_running_loop().time()
        return now - queue.waiting[0].created > patience + self._settings.linger

    def open(self, queue: PartitionQueue, now: float) -> ProducerBatch:
        """The open batch of a queue; created on first use."""
        if queue.open is None:
            self._numbers += 1
            queue.open = ProducerBatch(queue.at, now, (self._numbers,))
            self.incomplete.add(queue.open)
            self.active[queue.at] = queue
            self.lingering[queue.at] = queue
            if len(self.lingering) == 1 or self._settings.linger == 0:
                self._on_ready()  # the linger clock has to be started
        return queue.open

    def appended(self, queue: PartitionQueue, batch: ProducerBatch, *, full: bool) -> None:
        """Records were added to the open batch."""
        batch.count = batch.builder.count
        limit = self.sizing.limit(queue.at.topic)
        if full or batch.builder.size >= limit or batch.count >= self._settings.batch_records:
            self.close(queue)

    def close(self, queue: PartitionQueue) -> None:
        """End the open batch: it waits for its turn from now on."""
        batch, queue.open = queue.open, None
        self.lingering.pop(queue.at, None)
        if batch is None:
            return
        batch.count = batch.builder.count
        if not batch.count:
            self.incomplete.discard(batch)
            self._forget_if_idle(queue)
            return
        queue.waiting.append(batch)
        if batch.count == 1 and batch.builder.size > self._settings.max_request_size:
            self._too_large(queue, batch)
        elif not self.closes_at_once(batch):
            batch.sealing = True
            self._seal_later(batch)
        else:
            batch.close(self._settings)
            self.sealed(batch)
            self._on_ready()

    def add_sealed(self, queue: PartitionQueue, sealed: SealedBatch, now: float) -> None:
        """Queue an encoded batch behind the open ones."""
        self.close(queue)
        self._numbers += 1
        batch = ProducerBatch(queue.at, now, (self._numbers,))
        batch.sealed, batch.count, batch.charged, batch.raw = sealed, sealed.count, sealed.size, sealed.size
        self.incomplete.add(batch)
        self.active[queue.at] = queue
        queue.waiting.append(batch)
        self._on_ready()

    def closes_at_once(self, batch: ProducerBatch) -> bool:
        """Whether closing the batch is quick enough to be done in the loop."""
        return self._settings.compression == "none" or batch.builder.size <= CLOSE_IN_THREAD

    def sealed(self, batch: ProducerBatch) -> None:
        """The batch is ready to be sent: what it came to corrects the estimate (D5). One that turned out larger than
        a request is cut in two here: no broker need say so first."""
        if batch.settled:
            return
        self.sizing.observe(batch.at.topic, batch.raw, batch.size)
        if batch.size > self._settings.max_request_size and batch.count > 1 and self.sizing.estimates:
            parts = split(batch, self._settings)
            self.replace(self.queues[batch.at], batch, parts)
            for part in parts:
                self.sealed(part)

    def close_all(self) -> None:
        """Flush, close and a full buffer end every linger at once (A1.09)."""
        for queue in list(self.lingering.values()):
            self.close(queue)

    def close_lingered(self, now: float) -> None:
        """Close what has lingered long enough and could be sent."""
        for queue in list(self.lingering.values()):
            ripe = queue.ripe_at(self._settings.linger, self._settings.max_in_flight)
            if ripe is not None and ripe <= now:
                self.close(queue)

    def next_linger(self) -> float | None:
        """When the next linger is over."""
        linger, most = self._settings.linger, self._settings.max_in_flight
        ripe = [queue.ripe_at(linger, most) for queue in self.lingering.values()]
        return min((moment for moment in ripe if moment is not None), default=None)

    def expired(self, now: float) -> Iterable[tuple[PartitionQueue, ProducerBatch]]:
        """Batches over their delivery timeout, in order; those on the wire too (D29)."""
        timeout = self._settings.delivery_timeout
        for queue in list(self.active.values()):
            if queue.open is not None and queue.open.created + timeout <= now:
                self.close(queue)
            for batch in (*queue.in_flight, *queue.waiting):
                if batch.created + timeout <= now:
                    yield queue, batch

    def next_expiry(self) -> float | None:
        oldest = [batch.created for batch in self.incomplete]
        return min(oldest) + self._settings.delivery_timeout if oldest else None

    def settled(self, queue: PartitionQueue, batch: ProducerBatch) -> None:
        """The batch is out of everything."""
        queue.landed(batch)
        self.incomplete.discard(batch)
        self._forget_if_idle(queue)

    def replace(self, queue: PartitionQueue, batch: ProducerBatch, parts: list[ProducerBatch]) -> None:
        """Replace a batch by its parts, in its place."""
        batch.parts = parts
        queue.landed(batch)
        self.incomplete.discard(batch)
        for part in parts:
            queue.insert(part)
            self.incomplete.add(part)

    def _forget_if_idle(self, queue: PartitionQueue) -> None:
        if not queue.depth:
            self.active.pop(queue.at, None)
