"""The producer's face: records one by one with a promise each, or lines and rows in bulk with one outcome a batch."""

from __future__ import annotations

import asyncio
import contextlib
import time

from kcli import codes
from kcli.errors import BrokerError, Closed, DeadlineExceeded, KcliError, UsageError
from kcli.model import TopicPartition
from kcli.producer.batch import BatchOutcome, ProducerBatch, RecordMetadata
from kcli.producer.engine import Engine
from kcli.producer.partitioner import Sticky
from kcli.proto.core import partition_keys, partition_of, split_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
    from types import TracebackType
    from typing import Self

    from kcli.model import Cluster, GroupMetadata
    from kcli.producer.ledger import Counts
    from kcli.producer.offsets import Position
    from kcli.producer.queue import PartitionQueue
    from kcli.producer.transaction import Transactions
    from kcli.proto.columns import Lines
    from kcli.proto.schema import Buffer
    from kcli.settings import ProducerSettings

    Headers = Sequence[tuple[str, bytes | None]]
    Row = tuple[int | None, int | None, bytes | None, bytes | None, Headers]

__all__ = ["BatchOutcome", "Producer", "RecordMetadata"]

OVERHEAD = 40  # bytes a record may take on top of its key and value, without headers
KEYED_STEP = 1 << 18  # bytes of keyed lines that are cut up at once
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
        # a batch that is larger than a request or than the buffer could never be sent or made
        self._batch_size = min(settings.batch_size, settings.max_request_size, settings.buffer_memory)
        self._engine = Engine(cluster, settings, self._settled, self._refreshed)
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
        return self._engine.ledger.counts

    def _settled(self, outcome: BatchOutcome) -> None:
        if self.on_batch is not None:
            self.on_batch(outcome)

    def _refreshed(self, topics: Iterable[str]) -> None:
        for topic in topics:
            self._partitions.pop(topic, None)

    # -- one record -------------------------------------------------------------------------------------------------

    async def send(
        self, topic: str, value: bytes | None, key: bytes | None = None, headers: Headers = (),
        partition: int | None = None, timestamp: int | None = None, *, block: bool = True,
    ) -> asyncio.Future[RecordMetadata]:  # fmt: skip
        """Accept one record; the future tells where it was stored, or raises why not. `timestamp` is in milliseconds.
        Waits for metadata and room up to `max_block` in all (D7); `block=False` raises BufferFull at once.
        Raises Closed, UsageError, BufferFull, BrokerError (no such topic or partition), DeadlineExceeded."""
        size = self._size(topic, key, value, headers)
        loop = asyncio.get_running_loop()
        ticket = self._engine.enter()
        try:
            deadline = loop.time() + self._settings.max_block
            everyone = self._known(topic, partition) or await self._look_up(topic, partition)
            await self._take(size, deadline - loop.time(), block)
            # nothing is awaited from here on: the choice and the append are one step (D1)
            batch, queue = self._append(topic, everyone, size, partition, timestamp, key, value, headers)
            future: asyncio.Future[RecordMetadata] = loop.create_future()
            batch.promise(future, _now(timestamp))
            self._engine.accumulator.appended(queue, batch, full=False)
        finally:
            self._engine.leave(ticket)
        return future

    async def send_and_wait(self, topic: str, value: bytes | None, key: bytes | None = None) -> RecordMetadata:
        """Send one record and wait until it is stored."""
        return await (await self.send(topic, value, key))

    async def send_records(self, topic: str, rows: Sequence[Row]) -> None:
        """Accept rows of (partition or None, timestamp in ms or None, key, value, headers), without promises.
        Raises as `send`; rows before a bad one are accepted."""
        ticket = self._engine.enter()
        try:
            for partition, timestamp, key, value, headers in rows:
                size = self._size(topic, key, value, headers)
                everyone = self._known(topic, partition) or await self._look_up(topic, partition)
                await self._take(size, self._settings.max_block, True)
                batch, queue = self._append(topic, everyone, size, partition, timestamp, key, value, headers)
                self._engine.accumulator.appended(queue, batch, full=False)
        finally:
            self._engine.leave(ticket)

    async def _take(self, size: int, timeout: float, block: bool) -> None:
        """Room for one record. Never waits when there is some and nobody else waits."""
        budget = self._engine.budget
        if budget.waiting or not budget.fits(size, 1):
            await budget.take(size, 1, max(0.0, timeout), block=block)
        else:
            budget.charge(size, 1)

    def _append(
        self, topic: str, everyone: Sequence[int], size: int, partition: int | None, timestamp: int | None,
        key: bytes | None, value: bytes | None, headers: Headers,
    ) -> tuple[ProducerBatch, PartitionQueue]:  # fmt: skip
        """Put one record, whose room was taken, into its batch; if that fails the room is given back."""
        accumulator = self._engine.accumulator
        try:
            self._check_send()
            sticky = None
            if partition is None and key is not None:
                partition = partition_of(key, len(everyone))
            elif partition is None:
                sticky = self._sticky_of(topic)
                partition = sticky.choose(everyone)
            queue = accumulator.queue(topic, partition)
            now = asyncio.get_running_loop().time()
            batch = accumulator.open(queue, now)
            if batch.builder.count and batch.builder.size + size > self._batch_size:
                accumulator.close(queue)
                batch = accumulator.open(queue, now)
            batch.builder.append(_now(timestamp), key, value, headers)
        except BaseException:
            self._engine.budget.give(size, 1)
            raise
        if sticky is not None:
            sticky.went(size)
        batch.charged += size
        self.counts.accepted += 1
        return batch, queue

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
        self._check_send()
        ticket = self._engine.enter()
        try:
            everyone = self._known(topic, partition) or await self._look_up(topic, partition)
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
            return await self._send_values(
                topic, chunk, start, end, delimiter, partition, stamp, empty_is_null, everyone
            )
        finally:
            self._engine.leave(ticket)

    async def _send_values(
        self, topic: str, chunk: Buffer, start: int, end: int, delimiter: int, partition: int | None, stamp: int,
        empty_is_null: bool, everyone: Sequence[int],
    ) -> int:  # fmt: skip
        settings, engine = self._settings, self._engine
        budget, accumulator = engine.budget, engine.accumulator
        at = start
        while at < end:
            room = min(10 * (end - at), self._batch_size)
            await budget.take(room, 1, settings.max_block)
            grown = added = 0
            try:
                self._check_send()
                sticky = self._sticky_of(topic) if partition is None else None
                chosen = sticky.choose(everyone) if sticky is not None else partition
                assert chosen is not None
                queue = accumulator.queue(topic, chosen)
                batch = accumulator.open(queue, asyncio.get_running_loop().time())
                builder = batch.builder
                size, count = builder.size, builder.count
                limit = min(settings.batch_records, count + budget.max_records - budget.records + 1)
                stop = builder.append_lines(chunk, at, end, delimiter, stamp, self._batch_size, limit, empty_is_null)
                grown, added = builder.size - size, builder.count - count
            finally:
                budget.give(room - grown, 1 - added)
            batch.charged += grown
            self.counts.accepted += added
            full = stop < end and count + added > 0
            if sticky is not None:
                sticky.went(grown, full=full)
            accumulator.appended(queue, batch, full=full)
            if stop == at and not count:
                return at  # no whole line
            at = stop
            if at < end:
                await engine.pace(queue)
        return at

    async def _send_keyed(
        self, topic: str, chunk: Buffer, start: int, end: int, delimiter: int, key_delimiter: bytes,
        partition: int | None, stamp: int, empty_is_null: bool, everyone: Sequence[int],
    ) -> int:  # fmt: skip
        """Room is taken for a step's lines together, so the steps are small; one with no whole line in it grows."""
        budget, settings, at = self._engine.budget, self._settings, start
        usual = step = min(KEYED_STEP, settings.buffer_memory // (OVERHEAD + 1), settings.buffer_records)
        while at < end:
            stop = min(at + step, end)
            lines = split_lines(chunk, at, stop, delimiter, key_delimiter, empty_is_null)
            if not lines.count:
                if stop == end:
                    return at
                step *= 2
                continue
            step = usual
            room = lines.consumed - at + OVERHEAD * lines.count
            await budget.take(room, lines.count, settings.max_block)
            grown = added = 0
            try:
                self._check_send()
                places = self._places(topic, chunk, lines, everyone) if partition is None else None
                for wanted in (partition,) if places is None else sorted(set(places)):
                    assert wanted is not None
                    more, taken = self._add_rows(topic, chunk, lines, places, wanted, stamp)
                    grown += more
                    added += taken
            finally:
                budget.give(room - grown, lines.count - added)
            at = lines.consumed
            await asyncio.sleep(0)
        return at

    def _places(self, topic: str, chunk: Buffer, lines: Lines, everyone: Sequence[int]) -> array[int]:
        """Each row's partition. Rows without a key go where the topic sticks now, among the others and in their
        order: a batch of their own would overtake or fall behind the keyed rows of that partition."""
        places = partition_keys(chunk, lines, len(everyone))
        if -1 in places:
            sticky = self._sticky_of(topic)
            chosen = sticky.choose(everyone)
            keyless = sum(length for length, place in zip(lines.value_lengths, places) if place < 0)
            sticky.went(keyless, full=keyless >= self._batch_size)
            places = type(places)("i", [chosen if place < 0 else place for place in places])
        return places

    def _add_rows(
        self, topic: str, chunk: Buffer, lines: Lines, places: array[int] | None, wanted: int, stamp: int
    ) -> tuple[int, int]:
        """Append the rows of one partition, over as many batches as they fill; the bytes and records they are."""
        settings, accumulator = self._settings, self._engine.accumulator
        queue = accumulator.queue(topic, wanted)
        row = grown = added = 0
        while row < lines.count:
            batch = accumulator.open(queue, asyncio.get_running_loop().time())
            builder = batch.builder
            size, count = builder.size, builder.count
            row = builder.append_rows(
                chunk, lines, row, places, wanted, stamp, self._batch_size, settings.batch_records
            )
            batch.charged += builder.size - size
            grown += builder.size - size
            added += builder.count - count
            self.counts.accepted += builder.count - count
            accumulator.appended(queue, batch, full=row < lines.count)
        return grown, added

    # -- transactions, with a transactional id ----------------------------------------------------------------------

    async def begin(self) -> None:
        """Open a transaction; the first call gets the producer id, which fences older producers of the same
        transactional id. Raises UsageError, Fenced, BrokerError, DeadlineExceeded."""
        self._check_open()
        await self._transactional().begin()

    async def commit(self) -> None:
        """Send what is left and commit. Raises AbortRequired when anything of it failed, Fenced, and UnknownOutcome
        when nobody can say whether it was committed (D38)."""
        await self._transactional().commit()

    async def abort(self) -> None:
        """Abort: no record of the transaction will ever be seen by a read_committed reader. Raises as `commit`."""
        await self._transactional().abort()

    async def send_offsets(self, offsets: Mapping[TopicPartition, Position], group: GroupMetadata) -> None:
        """Commit a group's positions together with the transaction (KIP-447). Raises AbortRequired, Fenced."""
        await self._transactional().send_offsets(offsets, group)

    @contextlib.asynccontextmanager
    async def transaction(self) -> AsyncIterator[Self]:
        """`async with producer.transaction():` commits at the end, and aborts when the block raises."""
        await self.begin()
        try:
            yield self
            await self.commit()
        except BaseException:
            if self._transactional().open:
                await self.abort()
            raise

    def _transactional(self) -> Transactions:
        if self._engine.transactions is None:
            raise UsageError("the producer has no transactional id (transactional.id)")
        return self._engine.transactions

    # -- the end ----------------------------------------------------------------------------------------------------

    async def flush(self, timeout: float | None = None) -> int:
        """Send everything accepted before the call, now, and wait for it; how many records are left at the deadline
        (seconds). Callers that wait for room count as accepted (D43)."""
        try:
            async with asyncio.timeout(timeout):
                await self._engine.drained()
        except TimeoutError:
            return sum(batch.count or batch.builder.count for batch in self._engine.accumulator.incomplete)
        return 0

    async def close(self, timeout: float | None = None) -> None:
        """Refuse new records, flush within `timeout` seconds (0: not at all), fail the rest with Closed. Idempotent;
        a second call with a shorter timeout cuts the first one short (D44)."""
        self._closed = True
        if not self._started:
            return
        try:
            if timeout != 0:
                if self._engine.transactions is not None and self._engine.transactions.open:
                    await self._abort_within(timeout)
                await self.flush(timeout)
        finally:
            await self._engine.stop(Closed("the producer was closed before the record was acknowledged"))

    async def _abort_within(self, timeout: float | None) -> None:
        """Abort the transaction that was left open (D44). If that does not work the coordinator aborts it by itself
        after transaction.timeout.ms."""
        try:
            async with asyncio.timeout(timeout):
                await self.abort()
        except (TimeoutError, KcliError):
            return

    # -- checks -----------------------------------------------------------------------------------------------------

    def _check_open(self) -> None:
        if self._engine.poison is not None:
            problem = self._engine.poison
            raise problem if isinstance(problem, KcliError) else KcliError(f"the producer broke: {problem!r}")
        if self._closed:
            raise Closed("the producer is closed")
        if not self._started:
            raise UsageError("start the producer first, or use it in an `async with`")

    def _check_send(self) -> None:
        self._check_open()
        if self._engine.transactions is not None:
            self._engine.transactions.standing.check("send")

    def _size(self, topic: str, key: bytes | None, value: bytes | None, headers: Headers) -> int:
        """The most bytes the record may take in a batch. Raises if it may not be sent at all."""
        self._check_send()
        for name, given in (("key", key), ("value", value)):
            if given is not None and not isinstance(given, bytes | bytearray | memoryview):
                raise TypeError(f"{name} must be bytes or None, not {type(given).__name__}")
        size = OVERHEAD + len(key or b"") + len(value or b"")
        for title, content in headers:
            size += 4 * len(title) + len(content or b"") + 10
        if size - OVERHEAD > self._settings.max_request_size:
            text = f"a record of {size - OVERHEAD} bytes is more than a request takes"
            most = f"({self._settings.max_request_size}, max.request.size)"
            raise BrokerError(codes.MESSAGE_TOO_LARGE, topic, f"{text} {most}")
        return size

    def _known(self, topic: str, partition: int | None) -> Sequence[int] | None:
        """The topic's partitions, unless they have to be looked up first."""
        known = self._partitions.get(topic)
        if known is None or (partition is not None and partition not in known[1]):
            return None
        now = asyncio.get_running_loop().time()
        if now - known[0] >= METADATA_CHECK:
            self._partitions[topic] = (now, known[1])  # goes on meanwhile
            self._engine.look_again(topic)
        return known[1]

    async def _look_up(self, topic: str, partition: int | None) -> Sequence[int]:
        """As `_known`, asking the cluster. Raises BrokerError for a topic that does not exist, UsageError for a
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

    def _sticky_of(self, topic: str) -> Sticky:
        found = self._sticky.get(topic)
        if found is None:
            cluster, accumulator = self._cluster, self._engine.accumulator
            found = self._sticky[topic] = Sticky(
                self._batch_size,
                lambda p: cluster.has_leader(TopicPartition(topic, p)),
                lambda p: accumulator.depth(topic, p),
            )
        return found


def _now(timestamp: int | None) -> int:
    return int(time.time() * 1000) if timestamp is None else timestamp


def _check(settings: ProducerSettings) -> None:
    """Raises UsageError for settings that contradict each other."""
    if settings.idempotence and settings.acks != -1:
        raise UsageError("an idempotent producer needs acks=all (enable.idempotence=false for less)")
    if settings.idempotence and settings.max_in_flight > 5:
        raise UsageError("an idempotent producer has at most 5 requests in flight (max.in.flight.requests)")
    if settings.transactional_id is not None and not settings.idempotence:
        raise UsageError("a transactional producer is idempotent (enable.idempotence=true, acks=all)")
    if settings.delivery_timeout < settings.linger + settings.request_timeout:
        raise UsageError("delivery.timeout.ms must be at least linger.ms + request.timeout.ms")
