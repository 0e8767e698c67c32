"""Single records, each with a promise if wanted: check, place, take room, append."""

from __future__ import annotations

import asyncio

from kcli import codes
from kcli.errors import BrokerError, UsageError
from kcli.proto.columns import AT_A_TIME, OVERHEAD, now_ms
from kcli.proto.core import Intake, OpenBatch, OpenTopic, SharedOutcome
from kcli.text.checked import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from kcli.errors import KcliError
    from kcli.model import Cluster
    from kcli.producer.batches.batch import ProducerBatch
    from kcli.producer.batches.queue import PartitionQueue
    from kcli.producer.engine.engine import Engine
    from kcli.producer.intake.placement import Placement
    from kcli.proto.columns import RecordMetadata
    from kcli.proto.core import Promise
    from kcli.settings import ProducerSettings

    Headers = Sequence[tuple[str, bytes | None]]
    Row = tuple[int | None, int | None, bytes | None, bytes | None, Headers]
    Given = tuple[int | None, int | None, Any, Any, Headers]
    """A row given by a program; key and value are what the producer's formats accept."""
    Delivered = Callable[[RecordMetadata | None, KcliError | None], None]

ROW = "a row must have five parts: (partition or None, timestamp or None, key, value, headers)"


class Records:
    """`check` raises if nothing may be sent now."""

    def __init__(
        self,
        cluster: Cluster,
        engine: Engine,
        placement: Placement,
        settings: ProducerSettings,
        check: Callable[[], None],
    ) -> None:
        self.room = Room(cluster, engine, placement, settings, check)
        self._engine = engine
        self._placement = placement
        self._settings = settings
        self._check = check

    async def send(
        self,
        topic: str,
        value: bytes | None,
        key: bytes | None,
        headers: Headers,
        partition: int | None,
        timestamp: int | None,
        *,
        block: bool,
    ) -> Promise:
        """See `Producer.send`."""
        size = self._size(topic, key, value, headers, timestamp)
        engine = self._engine
        everyone = self._placement.known(topic, partition)
        if everyone is None or self.room.in_a_row >= AT_A_TIME or not engine.budget.take_now(size, 1):
            ticket = engine.enter()
            try:
                everyone = await self._admitted(topic, partition, size, block=block)
                return self._promised(topic, everyone, size, partition, timestamp, key, value, headers)
            finally:
                engine.leave(ticket)
        engine.want()
        return self._promised(topic, everyone, size, partition, timestamp, key, value, headers)

    def send_now(
        self,
        topic: str,
        value: bytes | None,
        key: bytes | None,
        headers: Headers,
        partition: int | None,
        timestamp: int | None,
    ) -> Promise | None:
        """Like `send`, but without waiting; returns None if the topic has to be looked up first. Raises BufferFull."""
        size = self._size(topic, key, value, headers, timestamp)
        everyone = self._placement.known(topic, partition)
        if everyone is None:
            return None
        if not self._engine.budget.take_now(size, 1):
            raise self._engine.budget.full()
        self._engine.want()
        return self._promised(topic, everyone, size, partition, timestamp, key, value, headers)

    async def _admitted(self, topic: str, partition: int | None, size: int, *, block: bool) -> Sequence[int]:
        """Take room for the record and return the topic's partitions, waiting for both if necessary."""
        deadline = self._engine.loop.time() + self._settings.max_block
        if self.room.in_a_row >= AT_A_TIME:
            await self._breathe()
        everyone = self._placement.known(topic, partition)
        if everyone is None:
            everyone = await self._placement.look_up(topic, partition, wait=block)
        await self._take(size, deadline - self._engine.loop.time(), block)
        self._check_again(size)
        return everyone

    def _promised(
        self,
        topic: str,
        everyone: Sequence[int],
        size: int,
        partition: int | None,
        timestamp: int | None,
        key: bytes | None,
        value: bytes | None,
        headers: Headers,
    ) -> Promise:
        """Append a record and return its promise. There is no await between choosing the partition and appending."""
        stamp = now_ms(timestamp)
        batch, queue = self._append(topic, everyone, size, partition, stamp, key, value, headers)
        promise = batch.promise(stamp, self._engine.loop)
        self._engine.accumulator.appended(queue, batch, full=False)
        self.room.remember(topic, everyone, queue)
        return promise

    async def send_rows(self, topic: str, rows: Sequence[Row]) -> None:
        """See `Producer.send_records`."""
        ticket = self._engine.enter()
        try:
            for row in rows:
                partition, timestamp, key, value, headers = row
                try:
                    if self.room.take(topic, value, key, headers, partition, timestamp) is not None:
                        continue
                except TypeError:  # values that cannot be dict keys get a proper error below
                    pass
                size = self._size(topic, key, value, headers, timestamp)
                if self.room.in_a_row >= AT_A_TIME:
                    await self._breathe()
                everyone = self._placement.known(topic, partition) or await self._placement.look_up(topic, partition)
                await self._take(size, self._settings.max_block, True)
                self._check_again(size)
                self._promised(topic, everyone, size, partition, timestamp, key, value, headers)
        finally:
            self._engine.leave(ticket)

    async def _breathe(self) -> None:
        """Yield to the loop. A caller that sends without pausing and always finds room would otherwise block
        everything, including sending, until the buffer is full: seconds with small records."""
        self.room.in_a_row = 0
        await asyncio.sleep(0)

    async def _take(self, size: int, timeout: float, block: bool) -> None:
        """Take room for one record, without waiting if there is room and no other caller waits."""
        budget = self._engine.budget
        if not budget.take_now(size, 1):
            await budget.take(size, 1, max(0.0, timeout), block=block)

    def _check_again(self, size: int) -> None:
        """Repeat the checks after a wait; if they fail, the room is given back."""
        try:
            self._check()
        except BaseException:
            self._engine.budget.give(size, 1)
            raise

    def _append(
        self,
        topic: str,
        everyone: Sequence[int],
        size: int,
        partition: int | None,
        stamp: int,
        key: bytes | None,
        value: bytes | None,
        headers: Headers,
    ) -> tuple[ProducerBatch, PartitionQueue]:
        """Append a record, for which room was taken, to its batch. If that fails, the room is given back."""
        accumulator = self._engine.accumulator
        try:
            sticky = None
            if partition is None:
                partition = self._placement.of_key(topic, key, everyone)
            if partition is None:
                sticky = self._placement.sticky(topic)
                partition = sticky.choose(everyone)
            queue = accumulator.queue(topic, partition)
            now = self._engine.loop.time()
            batch = accumulator.open(queue, now)
            if batch.builder.count and batch.builder.size + size > accumulator.sizing.limit(topic):
                accumulator.close(queue)
                if sticky is not None:  # a full batch is the time to switch partitions (KIP-794)
                    sticky.went(0, full=True)
                    queue = accumulator.queue(topic, sticky.choose(everyone))
                batch = self._with_room(queue, size, now)
            before = batch.builder.size
            _encode(batch, topic, stamp, key, value, headers)
            batch.spare += size - (batch.builder.size - before)
        except BaseException:
            self._engine.budget.give(size, 1)
            raise
        if sticky is not None:
            sticky.went(batch.builder.size - before)
        self.room.in_a_row += 1
        self._engine.ledger.counts.accepted += 1
        return batch, queue

    def _with_room(self, queue: PartitionQueue, size: int, now: float) -> ProducerBatch:
        """Return the queue's open batch, or a new one if the record does not fit."""
        accumulator = self._engine.accumulator
        batch = accumulator.open(queue, now)
        if batch.builder.count and batch.builder.size + size > accumulator.sizing.limit(queue.at.topic):
            accumulator.close(queue)
            batch = accumulator.open(queue, now)
        return batch

    def _size(self, topic: str, key: bytes | None, value: bytes | None, headers: Headers, timestamp: int | None) -> int:
        """Return the largest size that the record can have in a batch. Raises if it cannot be sent."""
        self._check()
        try:
            size = OVERHEAD + len(key or b"") + len(value or b"")
            for title, content in headers:
                size += 4 * len(title) + len(content or b"") + 10
            right = _takes(topic, key, value, headers, timestamp)
        except (TypeError, ValueError):
            right = False
        if not right:
            raise wrong(topic, key, value, headers, timestamp)
        if size - OVERHEAD > self._settings.largest_record:
            raise BrokerError(codes.MESSAGE_TOO_LARGE, topic, self._settings.too_large(size - OVERHEAD))
        return size


BYTES = (bytes, bytearray, memoryview)


def _takes(topic: object, key: object, value: object, headers: object, timestamp: object) -> bool:
    """Whether the fields have the right types. Contents of headers are checked by the encoder."""
    return (
        isinstance(topic, str)
        and isinstance(headers, list | tuple)
        and (key is None or isinstance(key, BYTES))
        and (value is None or isinstance(value, BYTES))
        and (timestamp is None or _is_timestamp(timestamp))
    )


def _is_timestamp(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63


def _encode(
    batch: ProducerBatch, topic: str, stamp: int, key: bytes | None, value: bytes | None, headers: Headers
) -> None:
    """Append a record to a batch. Raises UsageError for headers that cannot be encoded."""
    try:
        batch.builder.append(stamp, key, value, headers)
    except (TypeError, ValueError, AttributeError) as problem:
        raise wrong(topic, key, value, headers, None) from problem


def wrong(topic: object, key: object, value: object, headers: object, timestamp: object) -> UsageError:
    """Return the error for the first field of a record with a wrong type or value."""
    if not isinstance(topic, str):
        return UsageError(f"topic {shown(topic)}: expected a text")
    for name, given in (("key", key), ("value", value)):
        if given is not None and not isinstance(given, BYTES):
            return UsageError(f"{name} {shown(given)}: expected bytes or None")
    if timestamp is not None and not _is_timestamp(timestamp):
        return UsageError(f"timestamp {shown(timestamp)}: expected a 64-bit number of milliseconds, or None")
    if not isinstance(headers, list | tuple):
        return UsageError(f"headers {shown(headers)}: expected a list of (name, value) pairs")
    for one in headers:
        if not isinstance(one, tuple | list) or len(one) != 2 or not isinstance(one[0], str):
            return UsageError(f"headers: {shown(one)}: expected a pair of text and bytes (or None)")
        if one[1] is not None and not isinstance(one[1], BYTES):
            return UsageError(f"headers: value {shown(one[1])} of {one[0]}: expected bytes or None")
    return UsageError(f"a record of {topic} cannot be encoded: header names must be text that UTF-8 can encode")


def report(promise: Promise, on_delivery: Delivered) -> None:
    """Call `on_delivery` once with the record's outcome: (metadata, None) or (None, error)."""

    def ended(done: Promise) -> None:
        if done.cancelled():
            on_delivery(None, None)
        elif (problem := done.exception()) is not None:
            on_delivery(None, problem)  # type: ignore[arg-type]  # a record only fails with a KcliError
        else:
            on_delivery(done.result(), None)

    promise.add_done_callback(ended)


# The fast path for records that fit into an open batch.
#
# Of 10,000 small records only one opens a batch. Its checks of the topic hold for the others until a leader may have
# changed, the topic's metadata is discarded, or the batch is full.
class Room(Intake):
    """`check` raises if nothing may be sent now."""

    def __init__(
        self,
        cluster: Cluster,
        engine: Engine,
        placement: Placement,
        settings: ProducerSettings,
        check: Callable[[], None],
    ) -> None:
        accumulator = engine.accumulator
        most = settings.largest_record, settings.batch_records
        moved = placement.opened, engine.budget, engine.ledger.counts
        super().__init__(*moved, engine, cluster.leaders_version, check, accumulator.close, self._renew, *most)
        self._leaders_version = cluster.leaders_version
        self._engine, self._accumulator, self._sizing = engine, accumulator, accumulator.sizing
        self._placement = placement
        # custom partitioners, and those that avoid slow partitions, check each record
        self._used = placement.columnar and not settings.partitioner_availability_timeout

    def remember(self, topic: str, everyone: Sequence[int], queue: PartitionQueue) -> None:
        """Remember the queue's open batch, to which a record with a promise was just appended; it may be full
        by now."""
        batch = queue.open
        if not self._used or batch is None or batch.outcome is None:
            return
        opened, version = self._placement.opened.get(topic), self._leaders_version()
        if opened is None or opened.version != version or opened.everyone is not everyone:
            opened = self._placement.opened[topic] = OpenTopic(everyone, self._placement.sticky(topic), version)
        if batch.open_batch is None:
            batch.open_batch = OpenBatch(batch.builder, batch.outcome, queue)
        opened.open_batches[queue.at.partition] = batch.open_batch
        opened.limit = self._sizing.limit(topic)

    def _renew(self, topic: str, opened: OpenTopic, queue: PartitionQueue) -> OpenBatch | None:
        """Return access to a queue's new batch after the last one ended. None if other input opened it, or if the
        topic's metadata was discarded: then the first record of a batch makes all checks again."""
        if queue.open is not None or self._placement.known(topic, None) is not opened.everyone:
            return None
        loop = self._engine.loop
        batch = self._accumulator.open(queue, loop.time())
        outcome = batch.outcome = SharedOutcome(queue.at, loop)
        open_batch = batch.open_batch = opened.open_batches[queue.at.partition] = OpenBatch(
            batch.builder, outcome, queue
        )
        opened.limit = self._sizing.limit(topic)
        return open_batch
