"""All unsettled batches: a queue per partition, the batches that may be sent, and those past their delivery timeout.

Free of I/O except for its budget: time is an argument (`overdue` asks the loop), and `on_ready` is called with a queue
that may have a batch to send. A batch closes when it is full, on flush, or when the next request to its leader takes it
after its linger is over or while a send waits for memory. Until then it keeps filling.
"""

from __future__ import annotations

import asyncio

from kcli.model import TopicPartition
from kcli.producer.batches.batch import ProducerBatch
from kcli.producer.batches.queue import PartitionQueue, after
from kcli.proto.batch import RESERVED, read_batches
from kcli.proto.core import SharedOutcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from kcli.producer.batches.active import Active
    from kcli.proto.batch import SealedBatch
    from kcli.proto.core import Builder
    from kcli.settings import ProducerSettings

CLOSE_IN_THREAD = 64 * 1024  # compressing more than this in the loop would delay heartbeats and responses
FAST = 64 * 1024  # bytes in one call that count as bulk input
SMALL = 16 * 1024  # bytes: Kafka's default batch.size; a batch of this size is worth sending
LONGEST = 1.0  # longest time in seconds that a small batch is held during a rush
LINGERS = 200
WORSE = 0.05  # the smallest step up, as in Java
BETTER = 8  # a step down is this fraction of the difference
MARGIN = 1.05  # safety factor of the estimate, as in Java
MOST = 4
"""Largest raw size of a batch, as a multiple of batch.size: one thread compresses a batch in one piece, and its reader
has to hold it in one piece."""


class Accumulator:
    """`seal_later` seals a batch in a thread; `too_large` is called with a record that no request can carry. `hurried`:
    a send waits for memory. `pressed`: memory is short."""

    def __init__(
        self,
        settings: ProducerSettings,
        active: Active,
        on_ready: Callable[[PartitionQueue], None],
        seal_later: Callable[[ProducerBatch], None],
        too_large: Callable[[PartitionQueue, ProducerBatch], None],
    ) -> None:
        self._settings = settings
        self.active = active  # queues with unsettled batches
        self._on_ready = on_ready
        self._seal_later = seal_later
        self._too_large = too_large
        self.sizing = Sizing(settings)
        self.rush = Rush(settings.linger)
        self.hurried = self.pressed = False
        self._numbers = 0
        self._oldest = 0.0  # no batch is older than this
        self._held, self._next_look = False, 0.0
        self.queues: dict[TopicPartition, PartitionQueue] = {}
        self.lingering: dict[TopicPartition, PartitionQueue] = {}  # queues with an open batch, the oldest first
        self.due: dict[TopicPartition, PartitionQueue] = {}  # queues with an open batch whose linger is over
        self.incomplete: set[ProducerBatch] = set()
        self._builders: dict[str, list[Builder | None]] = {}

    def queue(self, topic: str, partition: int) -> PartitionQueue:
        at = TopicPartition(topic, partition)
        queue = self.queues.get(at)
        if queue is None:
            queue = self.queues[at] = PartitionQueue(at)
        return queue

    def depth(self, topic: str, partition: int) -> int:
        """Number of unsettled batches of a partition, for the sticky choice."""
        queue = self.active.get(TopicPartition(topic, partition))
        return queue.depth if queue is not None else 0

    def deepest(self, topic: str) -> int:
        """The largest depth of any partition of the topic."""
        return max((queue.depth for queue in self.active.values() if queue.at.topic == topic), default=0)

    def overdue(self, at: TopicPartition, patience: float) -> bool:
        """Whether a batch of the partition has waited for its leader for more than `patience` seconds (KIP-794)."""
        queue = self.active.get(at)
        oldest = queue and (queue.waiting[0] if queue.waiting else queue.open)
        if not oldest:
            return False
        return asyncio.get_running_loop().time() - oldest.created > patience + self._settings.linger

    # -- open batches -----------------------------------------------------------------------------------------------

    def builders(self, topic: str, partitions: int) -> list[Builder | None]:
        """The builders of a topic's open batches by partition. The list is live: it always shows the current
        builders."""
        builders = self._builders.setdefault(topic, [])
        if len(builders) < partitions:
            for partition in range(len(builders), partitions):
                queue = self.queues.get(TopicPartition(topic, partition))
                builders.append(queue.open.builder if queue is not None and queue.open is not None else None)
        return builders

    def open(self, queue: PartitionQueue, now: float) -> ProducerBatch:
        """Return the open batch of a queue, creating it if needed."""
        if queue.open is None:
            queue.open = self._new(queue, now)
            if self._builders:
                self._show(queue, queue.open.builder)
            self.lingering[queue.at] = queue
            if len(self.lingering) == 1 or self._settings.linger == 0:
                self._on_ready(queue)  # so that the linger timer starts
        return queue.open

    def _new(self, queue: PartitionQueue, now: float) -> ProducerBatch:
        self._numbers += 1
        batch = ProducerBatch(queue.at, now, (self._numbers,))
        if not self.incomplete:
            self._oldest = now
        self.incomplete.add(batch)
        self.active.add(queue)
        return batch

    def _show(self, queue: PartitionQueue, builder: Builder | None) -> None:
        shown = self._builders.get(queue.at.topic)
        if shown is not None and queue.at.partition < len(shown):
            shown[queue.at.partition] = builder

    def appended(self, queue: PartitionQueue, batch: ProducerBatch, *, full: bool) -> None:
        """Records were added to the open batch."""
        builder = batch.builder
        if full or builder.size >= self.sizing.limit(queue.at.topic) or builder.count >= self._settings.batch_records:
            self.close(queue)

    def ripe(self, queue: PartitionQueue, now: float) -> bool:
        """Whether the open batch should be sent although it is not full. During a rush of input, and while there is
        memory, a small batch is held longer."""
        batch = queue.open
        if batch is None or queue.waiting or not batch.builder.count:
            return False
        if self.hurried:
            return True
        if batch.created + self._settings.linger > now:
            return False
        return (
            self.pressed
            or batch.builder.size >= SMALL
            or batch.created + self.rush.longest <= now
            or not self.rush.on(now)
        )

    def held(self, now: float) -> bool:
        """Whether a rush is holding back all open batches. They are checked once per linger."""
        if self.hurried or self.pressed or not self._settings.linger or not self.rush.on(now):
            return False
        if now >= self._next_look:
            self._next_look = now + self._settings.linger
            self._held = not any(self.ripe(queue, now) for queue in self.due.values())
        return self._held

    def _ended(self, queue: PartitionQueue) -> ProducerBatch | None:
        """End the open batch and return it; None if it has no records."""
        batch, queue.open = queue.open, None
        if self._builders:
            self._show(queue, None)
        self.lingering.pop(queue.at, None)
        if self.due:
            self.due.pop(queue.at, None)
        if batch is None:
            return None
        batch.end()
        if not batch.count:
            self.incomplete.discard(batch)
            self._forget_if_idle(queue)
            return None
        queue.waiting.append(batch)
        return batch

    def close(self, queue: PartitionQueue) -> None:
        """End the open batch, which then waits to be sent."""
        if self.seal(queue):
            self._on_ready(queue)

    def seal(self, queue: PartitionQueue) -> bool:
        """Like `close`, but without notifying the senders. Returns whether the batch may be sent at once."""
        batch = self._ended(queue)
        if batch is None:
            return False
        if batch.count == 1 and batch.builder.size > self._settings.largest_record:
            self._too_large(queue, batch)
            return False
        if self.sizing.estimates and not self.closes_at_once(batch):
            batch.sealing = True
            self._seal_later(batch)
            return False
        batch.close(self._settings)
        if self.sizing.estimates:
            self.sealed(batch)
        return True

    def add_sealed(self, queue: PartitionQueue, sealed: SealedBatch, now: float) -> None:
        """Queue an encoded batch after the open one."""
        self.close(queue)
        batch = self._new(queue, now)
        batch.sealed, batch.count, batch.charged, batch.raw = sealed, sealed.count, sealed.size, sealed.size
        queue.waiting.append(batch)
        self._on_ready(queue)

    def add_whole(self, queue: PartitionQueue, whole: list[SealedBatch], now: float) -> None:
        """Queue batches that were encoded in one step, when the queue has no open batch."""
        if not self.incomplete:
            self._oldest = now
        for number, sealed in enumerate(whole, self._numbers + 1):
            batch = ProducerBatch(queue.at, now, (number,))
            batch.sealed, batch.count = sealed, sealed.count
            batch.raw = batch.charged = sealed.raw_size - RESERVED
            self.incomplete.add(batch)
            queue.waiting.append(batch)
        self._numbers += len(whole)
        self.active.add(queue)
        self._on_ready(queue)

    def closes_at_once(self, batch: ProducerBatch) -> bool:
        """Whether the batch is small enough to be closed in the loop."""
        return not self.sizing.estimates or batch.builder.size <= CLOSE_IN_THREAD

    def sealed(self, batch: ProducerBatch) -> None:
        """Handle a sealed batch that is ready to be sent: its size corrects the estimate. A batch that turned out
        larger than a request is split in two at once, without waiting for the broker to reject it."""
        if batch.settled:
            return
        self.sizing.observe(batch.at.topic, batch.raw, batch.size)
        if batch.size > self._settings.max_request_size and batch.count > 1 and self.sizing.estimates:
            parts = split(batch, self._settings)
            self.replace(self.queues[batch.at], batch, parts)
            for part in parts:
                self.sealed(part)

    def close_all(self) -> None:
        """End every linger at once, for flush and close."""
        for queue in [*self.due.values(), *self.lingering.values()]:
            self.close(queue)

    def end_all(self) -> None:
        """End every open batch as it is, to be settled without being sent."""
        for queue in [*self.due.values(), *self.lingering.values()]:
            self._ended(queue)

    # -- time -------------------------------------------------------------------------------------------------------

    def mature(self, now: float) -> None:
        """Record which lingers are over, and start to seal the batches that need a thread."""
        for queue in list(self.lingering.values()):
            assert queue.open is not None
            if queue.open.created + self._settings.linger > now:
                break
            self.due[queue.at] = self.lingering.pop(queue.at)
        if self._settings.compression != "none":
            for queue in [*self.due.values(), *self.lingering.values()] if self.hurried else list(self.due.values()):
                if self.ripe(queue, now) and queue.open is not None and not self.closes_at_once(queue.open):
                    self.close(queue)

    def any_ripe(self, now: float) -> bool:
        """Whether the open batch of any partition should be sent now."""
        if self.held(now):
            return False
        return any(self.ripe(queue, now) for queue in self.due.values()) or (self.hurried and bool(self.lingering))

    def first_linger(self) -> float | None:
        """When the linger of the oldest open batch ends."""
        first = next(iter(self.lingering.values()), None)
        return None if first is None or first.open is None else first.open.created + self._settings.linger

    def next_linger(self, now: float) -> float | None:
        """When the next linger, or a rush that holds batches back, ends."""
        due = self.first_linger()
        if not self.due or self.pressed or not self.rush.on(now):
            return due
        look = self.rush.next_look(now)
        return look if due is None else min(look, due)

    def expired(self, now: float) -> Iterable[tuple[PartitionQueue, ProducerBatch]]:
        """Batches past their delivery timeout, in order, including those on the wire."""
        timeout = self._settings.delivery_timeout
        if self._oldest + timeout > now:
            return
        for queue in list(self.active.values()):
            if queue.open is not None and queue.open.created + timeout <= now:
                self.close(queue)
            for batch in (*queue.in_flight, *queue.waiting):
                if batch.created + timeout <= now:
                    yield queue, batch
        self._oldest = min((batch.created for batch in self.incomplete), default=now)

    def next_expiry(self) -> float | None:
        """A time before which no batch expires."""
        return self._oldest + self._settings.delivery_timeout if self.incomplete else None

    # -- settling ---------------------------------------------------------------------------------------------------

    def settled(self, queue: PartitionQueue, batch: ProducerBatch) -> None:
        """Remove a settled batch from all structures."""
        if queue.in_flight and queue.in_flight[0] is batch:
            del queue.in_flight[0]  # the usual case
        else:
            queue.landed(batch)
        self.incomplete.discard(batch)
        if not queue.waiting and not queue.in_flight and queue.open is None:
            self.active.discard(queue)

    def replace(self, queue: PartitionQueue, batch: ProducerBatch, parts: list[ProducerBatch]) -> None:
        """Replace a batch by its parts at the same position."""
        batch.parts = parts
        queue.landed(batch)
        self.incomplete.discard(batch)
        for part in parts:
            queue.insert(part)
            self.incomplete.add(part)

    def _forget_if_idle(self, queue: PartitionQueue) -> None:
        if not queue.waiting and not queue.in_flight and queue.open is None:
            self.active.discard(queue)


# Bulk input that arrives faster than lingers end: closing a small batch costs as much work as a whole request, for
# records that the next moment would have brought together.
class Rush:
    """Detects bulk input: during a call that hands over much data, and for one linger after it. Slower or smaller input
    is not a rush."""

    __slots__ = ("_calls", "_linger", "_until", "longest")

    def __init__(self, linger: float) -> None:
        self._linger = linger
        self._calls = 0
        self._until = 0.0
        self.longest = max(linger, min(LINGERS * linger, LONGEST))
        """Longest time in seconds after its creation that a small batch is held."""

    def begin(self, size: int) -> bool:
        """Start a call that hands over `size` bytes; return whether that counts as bulk."""
        if size < FAST:
            return False
        self._calls += 1
        return True

    def end(self, now: float) -> None:
        """End a call that counted as bulk."""
        self._calls -= 1
        self._until = now + self._linger

    def on(self, now: float) -> bool:
        return self._calls > 0 or now < self._until

    def next_look(self, now: float) -> float:
        """When the rush may be over."""
        return now + self._linger if self._calls else self._until


# How large a batch may grow before it is closed: batch.size limits the sent bytes, so with compression their size has
# to be estimated (KIP-126).
#
# A topic's ratio follows its sealed batches: at once if they are larger than estimated, in steps if they are smaller.
# Java's steps down are tiny, because its brokers reject a batch that is too large. Here a batch larger than a request
# is split before it is sent, so the estimate can follow more closely.
class Sizing:
    """The raw size limit of batches, by topic."""

    __slots__ = ("_most", "_ratios", "_size", "estimates")

    def __init__(self, settings: ProducerSettings) -> None:
        # a batch larger than a request, or than the buffer, could never be sent or filled
        self.estimates = settings.compression != "none"
        self._size = min(settings.batch_size, settings.largest_record, settings.buffer_memory)
        self._most = max(min(MOST * self._size, settings.buffer_memory // 4, settings.max_decompressed), self._size)
        self._ratios: dict[str, float] = {}

    def limit(self, topic: str) -> int:
        """Raw bytes of records at which a batch of the topic is full."""
        if not self.estimates:
            return self._size
        ratio = self._ratios.get(topic, 1.0)
        return min(int(self._size / (ratio * MARGIN)), self._most)

    def ratio(self, topic: str) -> float:
        """The estimated compression ratio: compressed bytes per raw byte."""
        return self._ratios.get(topic, 1.0)

    def observe(self, topic: str, raw: int, sealed: int) -> None:
        """Update the estimate: a batch with `raw` bytes of records was sealed with `sealed` bytes."""
        if not self.estimates or not raw:
            return
        seen, now = sealed / raw, self._ratios.get(topic, 1.0)
        self._ratios[topic] = max(now + WORSE, seen) if seen > now else now - (now - seen) / BETTER

    def too_large(self, topic: str, raw: int, sealed: int) -> None:
        """Restart the estimate from the ratio of a batch that the broker rejected as too large; at least that of plain
        bytes."""
        self._ratios[topic] = max(1.0, sealed / raw if raw else 1.0)


# Splits a batch that the broker rejected as too large (KIP-126): same records, same order, consecutive sequences.


def split(batch: ProducerBatch, settings: ProducerSettings) -> list[ProducerBatch]:
    """Return two sealed batches that share the waiters, creation time and budget of `batch`."""
    assert batch.sealed is not None
    (whole,) = read_batches(batch.sealed.data, check_crcs=False)
    half = batch.count // 2
    parts = [ProducerBatch(batch.at, batch.created, (*batch.number, place)) for place in range(2)]
    for index, record in enumerate(whole):
        part = parts[index >= half]
        part.builder.append(record.timestamp, record.key, record.value, record.headers)
    if batch.outcome is not None:
        outcomes = [SharedOutcome(batch.at, batch.outcome.loop) for _ in parts]
        parts[0].outcome, parts[1].outcome = outcomes
        batch.outcome.split(half, *outcomes)
    first = 0
    for part in parts:
        part.end()
        part.close(settings)
        part.retries, part.sent = batch.retries, batch.sent  # a split uses no retry
        part.maybe_written = part.doubtful = batch.maybe_written
        part.charged = batch.charged * part.count // batch.count
        if batch.stamp is not None:
            producer_id, epoch, sequence = batch.stamp
            part.stamp = (producer_id, epoch, after(sequence, first))
            assert part.sealed is not None
            part.sealed.stamp(*part.stamp)
        first += part.count
    parts[1].charged = batch.charged - parts[0].charged
    return parts
