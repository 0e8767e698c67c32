"""The producer's face: records one by one with a promise each, or lines and rows in bulk with one outcome a batch."""

from __future__ import annotations

import asyncio
import time

from kcli import codes
from kcli.errors import BrokerError, Closed, KcliError, UsageError
from kcli.model import TopicPartition
from kcli.producer.batch import BatchOutcome, ProducerBatch, RecordMetadata
from kcli.producer.engine import Engine
from kcli.producer.partitioner import Sticky
from kcli.proto.core import partition_keys, partition_of, split_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable, Sequence
    from types import TracebackType
    from typing import Self

    from kcli.model import Cluster
    from kcli.producer.engine import Counts
    from kcli.proto.columns import Lines
    from kcli.proto.schema import Buffer
    from kcli.settings import ProducerSettings

    Headers = Sequence[tuple[str, bytes | None]]
    Row = tuple[int | None, int | None, bytes | None, bytes | None, Headers]

__all__ = ["BatchOutcome", "Producer", "RecordMetadata"]

OVERHEAD = 40  # bytes a record may take on top of its key and value, without headers
METADATA_CHECK = 60.0  # seconds after which the number of partitions is looked up again (D14)


class Producer:
    """`async with client.producer(settings) as producer:`. Idempotent and acks=all unless the settings say otherwise.

    `on_batch` is called once for each settled batch. After `flush` or `close`, `counts.accepted` is the sum of
    `acked`, `failed` and `unknown`.
    """

    def __init__(self, cluster: Cluster, settings: ProducerSettings) -> None:
        _check(settings)
        self._cluster = cluster
        self._settings = settings
        self.on_batch: Callable[[BatchOutcome], None] | None = None
        self._engine = Engine(cluster, settings, self._settled)
        self._sticky: dict[str, Sticky] = {}
        self._partitions: dict[str, tuple[float, Sequence[int]]] = {}
        self._closed = False
        self._started = False

    async def start(self) -> None:
        """Start the tasks; `async with` does it too."""
        if not self._started:
            self._started = True
            self._engine.start()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close(None if kind is None else 0)

    @property
    def counts(self) -> Counts:
        return self._engine.counts

    def _settled(self, outcome: BatchOutcome) -> None:
        if self.on_batch is not None:
            self.on_batch(outcome)

    # -- one record -------------------------------------------------------------------------------------------------

    async def send(
        self, topic: str, value: bytes | None, key: bytes | None = None, headers: Headers = (),
        partition: int | None = None, timestamp: int | None = None, *, block: bool = True,
    ) -> asyncio.Future[RecordMetadata]:  # fmt: skip
        """Accept one record; the future tells where it was stored, or raises why not. `timestamp` is in milliseconds.
        Waits for metadata and room up to `max_block` in all (D7); `block=False` raises BufferFull at once.
        Raises Closed, UsageError, BufferFull, BrokerError (no such topic or partition)."""
        _check_record(key, value)
        size = OVERHEAD + len(key or b"") + len(value or b"") + sum(len(n) * 4 + len(v or b"") + 10 for n, v in headers)
        self._check_size(size, topic)
        deadline = asyncio.get_running_loop().time() + self._settings.max_block
        everyone = await self._partitions_of(topic)
        left = max(0.0, deadline - asyncio.get_running_loop().time())
        await self._engine.budget.take(size, 1, left, block=block)
        batch = None
        try:
            # nothing is awaited from here on: the choice and the append are one step (D1)
            self._check_open()
            chosen = await self._choose(topic, key, partition, everyone)
            batch = self._append(topic, chosen, size, timestamp, key, value, headers)
            future: asyncio.Future[RecordMetadata] = asyncio.get_running_loop().create_future()
            batch.promise(future, _now(timestamp))
        finally:
            if batch is None:
                self._engine.budget.give(size, 1)
        self._close_if_full(topic, chosen, batch)
        return future

    async def send_and_wait(self, topic: str, value: bytes | None, key: bytes | None = None) -> RecordMetadata:
        """Send one record and wait until it is stored."""
        return await (await self.send(topic, value, key))

    async def send_records(self, topic: str, rows: Sequence[Row]) -> None:
        """Accept rows of (partition or None, timestamp in ms or None, key, value, headers), without promises.
        Raises as `send`; rows before a bad one are accepted."""
        everyone = await self._partitions_of(topic)
        for partition, timestamp, key, value, headers in rows:
            _check_record(key, value)
            extra = sum(len(n) * 4 + len(v or b"") + 10 for n, v in headers) if headers else 0
            size = OVERHEAD + len(key or b"") + len(value or b"") + extra
            self._check_size(size, topic)
            budget = self._engine.budget
            if budget.waiting or not budget.fits(size, 1):
                await budget.take(size, 1, self._settings.max_block)
            else:
                budget.charge(size, 1)
            batch = None
            try:
                self._check_open()
                chosen = await self._choose(topic, key, partition, everyone)
                batch = self._append(topic, chosen, size, timestamp, key, value, headers)
            finally:
                if batch is None:
                    budget.give(size, 1)
            self._close_if_full(topic, chosen, batch)

    def _append(
        self, topic: str, partition: int, size: int, timestamp: int | None, key: bytes | None, value: bytes | None,
        headers: Headers,
    ) -> ProducerBatch:  # fmt: skip
        accumulator = self._engine.accumulator
        queue = accumulator.queue(topic, partition)
        now = asyncio.get_running_loop().time()
        batch = accumulator.open(queue, now)
        if batch.builder.count and batch.builder.size + size > self._settings.batch_size:
            accumulator.close(queue)
            batch = accumulator.open(queue, now)
        batch.builder.append(_now(timestamp), key, value, headers)
        batch.charged += size
        self.counts.accepted += 1
        return batch

    def _close_if_full(self, topic: str, partition: int, batch: ProducerBatch) -> None:
        self._engine.accumulator.appended(self._engine.accumulator.queue(topic, partition), batch, full=False)

    async def _choose(self, topic: str, key: bytes | None, partition: int | None, everyone: Sequence[int]) -> int:
        if partition is not None:
            if partition not in everyone:
                everyone = await self._partitions_of(topic, again=True)
            return _within(topic, partition, everyone)
        if key is not None:
            return partition_of(key, len(everyone))
        sticky = self._sticky_of(topic)
        chosen = self._stick(topic, sticky, everyone)
        sticky.went(OVERHEAD)
        return chosen

    # -- in bulk ----------------------------------------------------------------------------------------------------

    async def send_lines(
        self, topic: str, chunk: Buffer, start: int, end: int, *, delimiter: int = 10,
        key_delimiter: bytes | None = None, key: bytes | None = None, partition: int | None = None,
        timestamp: int | None = None, empty_is_null: bool = False,
    ) -> int:  # fmt: skip
        """Accept the whole lines of chunk[start:end], each a record: its value, or key and value around
        `key_delimiter`, or a value under the fixed `key`. Returns where the first line stands that was not taken
        (none was, if that is `start`: no whole line is left). The work is per batch, not per record.
        Raises as `send`."""
        self._check_open()
        everyone = await self._partitions_of(topic)
        if partition is not None and partition not in everyone:
            everyone = await self._partitions_of(topic, again=True)
            _within(topic, partition, everyone)
        stamp = _now(timestamp)
        if key_delimiter is not None:
            return await self._send_keyed(
                topic, chunk, start, end, delimiter, key_delimiter, partition, stamp, empty_is_null, everyone
            )
        if key is not None:
            cut = bytes((delimiter,))
            stop = bytes(memoryview(chunk)[start:end]).rfind(cut) + 1
            values = bytes(memoryview(chunk)[start : start + stop]).split(cut)[:-1]
            rows: list[Row] = [(partition, stamp, key, v if v or not empty_is_null else None, ()) for v in values]
            await self.send_records(topic, rows)
            return start + stop
        return await self._send_values(topic, chunk, start, end, delimiter, partition, stamp, empty_is_null, everyone)

    async def _send_values(
        self, topic: str, chunk: Buffer, start: int, end: int, delimiter: int, partition: int | None, stamp: int,
        empty_is_null: bool, everyone: Sequence[int],
    ) -> int:  # fmt: skip
        settings, engine = self._settings, self._engine
        at = start
        while at < end:
            sticky = None
            if partition is None:
                sticky = self._sticky_of(topic)
            room = min(2 * (end - at) + OVERHEAD, settings.batch_size + OVERHEAD)
            await engine.budget.take(room, 0, settings.max_block)
            self._check_open()
            chosen = self._stick(topic, sticky, everyone) if sticky is not None else partition
            assert chosen is not None
            queue = engine.accumulator.queue(topic, chosen)
            batch = engine.accumulator.open(queue, asyncio.get_running_loop().time())
            builder = batch.builder
            size, count = builder.size, builder.count
            limit = min(settings.batch_records, count + 2**31 - 2)
            stop = builder.append_lines(chunk, at, end, delimiter, stamp, settings.batch_size, limit, empty_is_null)
            grown, added = builder.size - size, builder.count - count
            batch.charged += grown
            self.counts.accepted += added
            engine.budget.charge(grown - room, added)
            if sticky is not None:
                sticky.went(grown)
            engine.accumulator.appended(queue, batch, full=stop < end and (added > 0 or count > 0))
            if stop == at and added == 0 and count == 0:
                return at  # no whole line
            at = stop
            if stop < end:
                await asyncio.sleep(0)  # a batch is on its way: let the loop send it while we go on
        return at

    async def _send_keyed(
        self, topic: str, chunk: Buffer, start: int, end: int, delimiter: int, key_delimiter: bytes,
        partition: int | None, stamp: int, empty_is_null: bool, everyone: Sequence[int],
    ) -> int:  # fmt: skip
        lines = split_lines(chunk, start, end, delimiter, key_delimiter, empty_is_null)
        if not lines.count:
            return start
        total = lines.consumed - start + OVERHEAD * lines.count
        if total > self._settings.buffer_memory:
            raise UsageError(f"{total} bytes of lines at once are more than the buffer (buffer.memory)")
        await self._engine.budget.take(total, 0, self._settings.max_block)
        self._check_open()
        if partition is not None:
            grown = self._add_rows(topic, partition, chunk, lines, None, partition, stamp)
        else:
            places = partition_keys(chunk, lines, len(everyone))
            grown = 0
            for wanted in sorted(set(places)):
                chosen = wanted
                if wanted < 0:
                    sticky = self._sticky_of(topic)
                    chosen = self._stick(topic, sticky, everyone)
                    sticky.went(total)
                grown += self._add_rows(topic, chosen, chunk, lines, places, wanted, stamp)
        self._engine.budget.give(total - grown, 0)
        await asyncio.sleep(0)
        return lines.consumed

    def _add_rows(
        self, topic: str, partition: int, chunk: Buffer, lines: Lines, places: array[int] | None, wanted: int,
        stamp: int,
    ) -> int:  # fmt: skip
        """Append the rows of one partition, over as many batches as they fill; the bytes they took."""
        settings, accumulator = self._settings, self._engine.accumulator
        queue = accumulator.queue(topic, partition)
        row = grown = 0
        while row < lines.count:
            batch = accumulator.open(queue, asyncio.get_running_loop().time())
            builder = batch.builder
            size, count = builder.size, builder.count
            limit = min(settings.batch_records, 2**31 - 2)
            row = builder.append_rows(chunk, lines, row, places, wanted, stamp, settings.batch_size, limit)
            batch.charged += builder.size - size
            grown += builder.size - size
            self.counts.accepted += builder.count - count
            self._engine.budget.charge(0, builder.count - count)
            accumulator.appended(queue, batch, full=row < lines.count)
        return grown

    # -- the end ----------------------------------------------------------------------------------------------------

    async def flush(self, timeout: float | None = None) -> int:
        """Send everything accepted before the call, now, and wait for it; how many records are left at the deadline
        (seconds). Callers that wait for room count as accepted (D43)."""
        engine = self._engine
        engine.accumulator.close_all()
        pending = set(engine.accumulator.incomplete)
        try:
            async with asyncio.timeout(timeout):
                while pending or engine.budget.waiting:
                    if engine.poison is not None:
                        break
                    engine.settled.clear()
                    await engine.settled.wait()
                    engine.accumulator.close_all()
                    if engine.budget.waiting:
                        pending |= engine.accumulator.incomplete
                    pending = {batch for batch in pending if not batch.settled}
        except TimeoutError:
            return sum(batch.count or batch.builder.count for batch in pending if not batch.settled)
        return 0

    async def close(self, timeout: float | None = None) -> None:
        """Refuse new records, flush within `timeout` seconds (0: not at all), fail the rest with Closed. Idempotent."""
        if self._closed:
            return
        self._closed = True
        if self._started:
            if timeout != 0:
                await self.flush(timeout)
            await self._engine.stop(Closed("the producer was closed before the record was acknowledged"))

    # -- checks -----------------------------------------------------------------------------------------------------

    def _check_open(self) -> None:
        if self._engine.poison is not None:
            problem = self._engine.poison
            raise problem if isinstance(problem, KcliError) else KcliError(f"the producer broke: {problem!r}")
        if self._closed:
            raise Closed("the producer is closed")
        if not self._started:
            raise UsageError("start the producer first, or use it in an `async with`")

    def _check_size(self, size: int, topic: str) -> None:
        self._check_open()
        if size - OVERHEAD > self._settings.max_request_size:
            raise BrokerError(
                codes.MESSAGE_TOO_LARGE,
                topic,
                f"a record of {size - OVERHEAD} bytes is more than a request takes ({self._settings.max_request_size},"
                " max.request.size)",
            )

    async def _partitions_of(self, topic: str, *, again: bool = False) -> Sequence[int]:
        """The topic's partitions, looked up now and then. Raises BrokerError for a topic that does not exist."""
        now = asyncio.get_running_loop().time()
        known = self._partitions.get(topic)
        if known is not None and not again and now - known[0] < METADATA_CHECK:
            return known[1]
        if again:
            await self._cluster.refresh([topic])
        found = await self._cluster.partitions(topic)
        self._partitions[topic] = (now, found)
        return found

    def _sticky_of(self, topic: str) -> Sticky:
        found = self._sticky.get(topic)
        if found is None:
            found = self._sticky[topic] = Sticky(self._settings.batch_size)
        return found

    def _stick(self, topic: str, sticky: Sticky, everyone: Sequence[int]) -> int:
        if len(everyone) == 1:
            return everyone[0]
        available = [p for p in everyone if self._cluster.has_leader(TopicPartition(topic, p))]
        return sticky.choose(available, everyone, lambda p: self._engine.accumulator.depth(topic, p))


def _now(timestamp: int | None) -> int:
    return int(time.time() * 1000) if timestamp is None else timestamp


def _within(topic: str, partition: int, everyone: Sequence[int]) -> int:
    if partition not in everyone:
        last = max(everyone)
        raise UsageError(f"{topic} has no partition {partition}: its partitions are 0-{last}")
    return partition


def _check_record(key: bytes | None, value: bytes | None) -> None:
    for name, given in (("key", key), ("value", value)):
        if given is not None and not isinstance(given, bytes | bytearray | memoryview):
            raise TypeError(f"{name} must be bytes or None, not {type(given).__name__}")


def _check(settings: ProducerSettings) -> None:
    """Raises UsageError for settings that contradict each other."""
    if settings.idempotence and settings.acks != -1:
        raise UsageError("an idempotent producer needs acks=all (enable.idempotence=false for less)")
    if settings.idempotence and settings.max_in_flight > 5:
        raise UsageError("an idempotent producer has at most 5 requests in flight (max.in.flight.requests)")
    if settings.delivery_timeout < settings.linger + settings.request_timeout:
        raise UsageError("delivery.timeout.ms must be at least linger.ms + request.timeout.ms")
