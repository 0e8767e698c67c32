"""The public producer: single records with a promise each, or lines and rows in bulk with an outcome per batch."""

from __future__ import annotations

import asyncio
import contextlib

from kcli.errors import Aborted, Closed, KcliError, UsageError
from kcli.metrics.observer import ProducerObserver
from kcli.producer.batches.batch import BatchOutcome, RecordMetadata
from kcli.producer.engine.engine import Engine
from kcli.producer.intake.placement import Placement
from kcli.producer.intake.send_lines import Bulk, LineBlock, rows_of
from kcli.producer.intake.send_records import ROW, Records, report
from kcli.proto.core import split_lines
from kcli.tasks import retrieve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Mapping, Sequence
    from types import TracebackType
    from typing import Any, Protocol, Self, TypeVar, Unpack

    from kcli.metrics.observer import Observer
    from kcli.metrics.values import ProducerMetrics
    from kcli.model import Cluster, GroupMetadata, TopicPartition
    from kcli.producer.batches.ledger import Counts
    from kcli.producer.intake.columnar import Columnar
    from kcli.producer.intake.forward import Forward
    from kcli.producer.intake.interceptors import Interceptor, Interceptors
    from kcli.producer.intake.send_lines import LineOptions
    from kcli.producer.intake.send_records import Delivered, Given, Headers
    from kcli.producer.transactions.offsets import Position
    from kcli.producer.transactions.transaction import Transactions
    from kcli.proto.batch import Batch
    from kcli.proto.buffer import Buffer
    from kcli.proto.columns import Lines
    from kcli.proto.core import Promise
    from kcli.settings import ProducerSettings

    T = TypeVar("T")

    class Formats(Protocol):
        """The interface of `kcli.formats.Formats`, which encode objects."""

        def ready(self, topic: str) -> bool:
            """Whether `write` works without calling `prepare` first."""
            ...

        def renewal(self, topic: str) -> Coroutine[Any, Any, None] | None:
            """Return a coroutine that looks up a topic's schemas again; None if they are fresh or the look-up is in
            progress."""
            ...

        async def prepare(self, topic: str) -> None:
            """Look up the schemas of a topic."""
            ...

        def write(self, topic: str, key: Any, value: Any) -> tuple[bytes | None, bytes | None]:
            """Return the encoded key and value."""
            ...


__all__ = ["BatchOutcome", "Producer", "RecordMetadata"]


LAST_ABORT = 5.0  # seconds to abort a transaction that an exception left open, because it blocks readers


class Producer:
    """A producer: `async with client.producer(settings) as producer:`. Idempotent and acks=all by default.

    `on_batch` is called once for each settled batch. After `flush` or `close`, `counts.accepted` is the sum of `acked`,
    `failed` and `unknown`. `interceptors` see every record, one at a time.
    """

    def __init__(
        self,
        cluster: Cluster,
        settings: ProducerSettings,
        interceptors: Sequence[Interceptor] = (),
        observer: Observer | None = None,
        *,
        metadata_max_age: float = 300.0,
        formats: Formats | None = None,
    ) -> None:
        self._cluster = cluster
        self._formats = formats
        self._settings = settings
        placement = self._placement = Placement(cluster, settings, metadata_max_age)
        self._forward: Forward | None = None
        self._columnar: Columnar | None = None
        self._engine = placement.engine = Engine(cluster, settings, placement.forget, ProducerObserver(observer))
        self._records = Records(cluster, self._engine, placement, settings, self._check_send)
        self._take: Callable[[str, bytes | None, bytes | None, Headers, int | None, int | None], Promise | None]
        self._take = self._records.room.take
        self._bulk = Bulk(self._engine, placement, settings, self._check_send, self._records)
        self._interceptors = self._hooks(interceptors)
        self._working: set[asyncio.Task[Any]] = set()  # tasks of `send_soon`: the loop itself keeps no strong reference
        self._closed = False
        self._started = False
        self._stopped = False

    async def start(self) -> None:
        """Start the tasks; `async with` calls this."""
        if not self._started:
            self._started = True
            self._engine.start()
            self._records.room.free = self._engine.transactions is None and not self._closed

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        transactions = self._engine.transactions
        left_open = transactions is not None and transactions.open
        await self.close(None if kind is None else LAST_ABORT if left_open else 0)

    @property
    def on_batch(self) -> Callable[[BatchOutcome], None] | None:
        """Called with the outcome of each batch."""
        return self._engine.ledger.on_batch

    @on_batch.setter
    def on_batch(self, call: Callable[[BatchOutcome], None] | None) -> None:
        self._engine.ledger.on_batch = call

    @property
    def counts(self) -> Counts:
        return self._engine.ledger.counts

    @property
    def metrics(self) -> ProducerMetrics:
        """A snapshot of the counters, including what is buffered."""
        return self._engine.metrics()

    @property
    def unanswered(self) -> int:
        """Number of records on the wire or without a clear response: they would be unknown if the producer gave
        up now."""
        return self._engine.ledger.unanswered()

    def _hooks(self, interceptors: Sequence[Interceptor]) -> Interceptors | None:
        if not interceptors:
            return None
        from kcli.producer.intake.interceptors import Interceptors

        def warn(text: str) -> None:
            asyncio.get_running_loop().call_exception_handler({"message": text})

        return Interceptors(interceptors, warn)

    # -- records ----------------------------------------------------------------------------------------------------

    async def send(
        self,
        topic: str,
        value: Any,
        key: Any = None,
        headers: Headers = (),
        partition: int | None = None,
        timestamp: int | None = None,
        *,
        block: bool = True,
        on_delivery: Delivered | None = None,
    ) -> asyncio.Future[RecordMetadata]:
        """Accept one record and return a promise of its position.

        Keys and values are bytes or None, or objects if the producer has formats. The promise raises the error if the
        record fails (UnknownOutcome if it may be stored anyway). `timestamp` is in milliseconds. `on_delivery` is
        called once with (metadata, None) or (None, error), or with (None, None) if the promise was cancelled. Waits up
        to `max_block` in total for metadata and buffer space; with `block=False` it raises BufferFull at once if the
        buffer is full.

        Raises Closed, UsageError, BufferFull, BrokerError (no such topic or partition), DeadlineExceeded, and
        EncodeError if a format rejects the key or value.
        """
        if self._formats is not None:
            await self._formats.prepare(topic)
            key, value = self._formats.write(topic, key, value)
        hooks = self._interceptors
        if hooks is None:
            try:
                promise = self._take(topic, value, key, headers, partition, timestamp)
            except TypeError:  # a topic or partition that cannot be a dict key gets a proper error below
                promise = None
            if promise is not None:
                if on_delivery is not None:
                    report(promise, on_delivery)
                return promise
        else:
            topic, value, key, headers, partition, timestamp = hooks.on_send(
                topic, value, key, headers, partition, timestamp
            )
        try:
            promise = await self._records.send(topic, value, key, headers, partition, timestamp, block=block)
        except BaseException as problem:
            if hooks is not None:
                hooks.on_acknowledgement(None, problem if isinstance(problem, Exception) else None)
            raise
        if hooks is not None:
            report(promise, hooks.on_acknowledgement)
        if on_delivery is not None:
            report(promise, on_delivery)
        return promise

    def send_soon(
        self,
        topic: str,
        value: Any,
        key: Any = None,
        headers: Headers = (),
        partition: int | None = None,
        timestamp: int | None = None,
    ) -> asyncio.Future[RecordMetadata]:
        """Like `send`, for callbacks on the event loop, which cannot wait.

        A full buffer raises BufferFull at once. An unknown topic is looked up in a task, whose errors the returned
        future raises.
        """
        if self._interceptors is None and (self._formats is None or self._formats.ready(topic)):
            sent: tuple[Any, Any] = (key, value) if self._formats is None else self._formats.write(topic, key, value)
            if self._formats is not None and (renewal := self._formats.renewal(topic)) is not None:
                self._in_background(renewal, f"look up the schema of {topic}")
            promise = self._records.send_now(topic, sent[1], sent[0], headers, partition, timestamp)
            if promise is not None:
                return promise
        self._check_send()
        sending = self.send_and_wait(topic, value, key, headers, partition, timestamp)
        return self._in_background(sending, f"send to {topic}")

    def _in_background(self, work: Coroutine[Any, Any, T], name: str) -> asyncio.Task[T]:
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._working.add(task)
        task.add_done_callback(self._working.discard)
        task.add_done_callback(retrieve)
        return task

    async def send_and_wait(
        self,
        topic: str,
        value: Any,
        key: Any = None,
        headers: Headers = (),
        partition: int | None = None,
        timestamp: int | None = None,
    ) -> RecordMetadata:
        """Send one record, wait until it is stored, and return its position. Raises the same errors as `send` and its
        promise."""
        return await (await self.send(topic, value, key, headers, partition, timestamp))

    async def send_all(self, topic: str, rows: Iterable[Given]) -> list[RecordMetadata | BaseException]:
        """Send rows of (partition or None, timestamp in ms or None, key, value, headers) and wait for all of them.

        Returns the position or the error of each row, in order. A row that cannot be sent does not affect the others.
        """
        sent: list[asyncio.Future[RecordMetadata]] = []
        for row in rows:
            try:
                partition, timestamp, key, value, headers = row
            except (TypeError, ValueError):
                raise UsageError(ROW) from None
            try:
                sent.append(await self.send(topic, value, key, headers, partition, timestamp))
            except Exception as problem:  # noqa: BLE001 - it is returned in its record's place
                refused: asyncio.Future[RecordMetadata] = asyncio.get_running_loop().create_future()
                refused.set_exception(problem)
                sent.append(refused)
        for promise in sent:
            # settles the other records of its batch, too; gather would wait for each one separately
            if not promise.done():
                await asyncio.wait([promise])
        return [_outcome(promise) for promise in sent]

    async def send_records(self, topic: str, rows: Sequence[Given]) -> None:
        """Accept rows of (partition or None, timestamp in ms or None, key, value, headers) without promises.

        Raises like `send`; the rows before an invalid one are accepted.
        """
        if self._formats is not None:
            await self._formats.prepare(topic)
            rows = [(row[0], row[1], *self._formats.write(topic, row[2], row[3]), row[4]) for row in rows]
        if self._interceptors is None:
            await self._records.send_rows(topic, rows)
            return
        for partition, timestamp, key, value, headers in rows:
            await self.send(topic, value, key, headers, partition, timestamp)

    async def send_lines(self, topic: str, chunk: Buffer, start: int, end: int, **options: Unpack[LineOptions]) -> int:
        """Accept the whole lines of chunk[start:end], each one record; `LineBlock` describes the options.

        Returns the start of the first line that was not accepted: `start` if there is no whole line. The work is per
        batch, not per record. Raises like `send`.
        """
        block = LineBlock(topic=topic, chunk=chunk, start=start, end=end, **options)
        if self._interceptors is None:
            return await self._bulk.send(block)
        self._check_send()
        lines = split_lines(chunk, start, end, block.delimiter, block.key_delimiter, block.empty_is_null)
        await self.send_records(topic, rows_of(block, lines))
        return lines.consumed

    async def send_columns(
        self,
        topic: str,
        chunk: Buffer,
        lines: Lines,
        partitions: array[int] | None = None,
        timestamps: array[int] | None = None,
        headers: tuple[array[int], array[int]] | None = None,
    ) -> None:
        """Accept rows whose keys and values lie inside `chunk` at the positions in `lines`.

        `partitions` (array('i')): each row's partition; -1, or no array, means chosen by key, or the topic's sticky
        partition. `timestamps` (array('q')): ms since the epoch; None means now. `headers` (two array('i')): start and
        length in `chunk` of each row's encoded headers with their count in front; length 0 means none. There are no
        futures, and interceptors do not see the rows. The work is per batch, not per record. Raises like `send`.
        """
        if self._columnar is None:
            from kcli.producer.intake.columnar import Columnar

            self._columnar = Columnar(self._engine, self._placement, self._settings, self._check_send, self._bulk)
        await self._columnar.send(topic, chunk, lines, partitions, timestamps, headers)

    async def send_batch(self, topic: str, partition: int, batch: Batch) -> None:
        """Accept an encoded batch unchanged: same records, compression and timestamps, in order with the other records
        of its partition.

        There is no future, and interceptors do not see the records. Raises like `send`, and EncodeError if the batch
        cannot be forwarded unchanged (`kcli.proto.forward.why_not` checks this in advance).
        """
        if self._forward is None:
            from kcli.producer.intake.forward import Forward

            self._forward = Forward(self._engine, self._placement, self._settings, self._check_send)
        await self._forward.send(topic, partition, batch)

    # -- transactions, with a transactional id ----------------------------------------------------------------------

    async def initialise(self) -> None:
        """Get the producer id. This fences older producers with the same transactional id and aborts their open
        transactions.

        `begin` does it, too. Raises UsageError, Fenced, BrokerError, DeadlineExceeded.
        """
        self._check_open()
        await self._transactional().initialise()

    async def begin(self) -> None:
        """Begin a transaction. The first call gets the producer id, which fences older producers with the same
        transactional id. Raises UsageError, Fenced, BrokerError, DeadlineExceeded."""
        self._check_open()
        await self._transactional().begin()

    async def commit(self) -> None:
        """Send the remaining records and commit. Raises AbortRequired if any record failed, Fenced, and UnknownOutcome
        if the outcome of the transaction cannot be determined."""
        await self._transactional().commit()

    async def abort(self) -> None:
        """Abort the transaction: read_committed consumers will never see its records. Raises like `commit`."""
        await self._transactional().abort()

    async def send_offsets(self, offsets: Mapping[TopicPartition, Position | int], group: GroupMetadata) -> None:
        """Commit a group's offsets as part of the transaction (KIP-447). Raises AbortRequired, Fenced."""
        await self._transactional().send_offsets(offsets, group)

    @contextlib.asynccontextmanager
    async def transaction(self) -> AsyncIterator[Self]:
        """`async with producer.transaction():` commits at the end and aborts if the block raises."""
        await self.begin()
        try:
            yield self
            await self.commit()
        except BaseException as problem:
            if self._transactional().open:
                try:
                    await self.abort()
                except KcliError as worse:
                    problem.add_note(f"and the transaction could not be aborted: {worse}")
            raise

    def _transactional(self) -> Transactions:
        if self._engine.transactions is None:
            raise UsageError("the producer has no transactional id (transactional.id)")
        return self._engine.transactions

    async def partitions(self, topic: str) -> Sequence[int]:
        """Return the topic's partitions, waiting for the topic like `send` (Java's partitionsFor). Raises like
        `send`."""
        self._check_open()
        return self._placement.known(topic, None) or await self._placement.look_up(topic, None)

    # -- the end ----------------------------------------------------------------------------------------------------

    async def flush(self, timeout: float | None = None) -> int:
        """Send all accepted records now and wait for them; return how many are left after `timeout` seconds.

        Records whose senders are waiting for buffer space count as accepted.
        """
        try:
            async with asyncio.timeout(timeout):
                await self._engine.drained()
        except TimeoutError:
            return sum(batch.count or batch.builder.count for batch in self._engine.accumulator.incomplete)
        return 0

    async def abort_buffered(self) -> int:
        """Discard accepted records that are not sent yet, failing them with `Aborted`; return their number.

        Callers waiting for buffer space get the error, too. Returns when no earlier record is on the wire: records
        already sent are either acknowledged or not sent again. A transaction that loses records this way can only be
        aborted.
        """
        counts = self._engine.ledger.counts
        before = counts.failed + counts.unknown
        await self._engine.abandon(Aborted("the record was dropped before it was sent (abort_buffered)"))
        return counts.failed + counts.unknown - before

    async def close(self, timeout: float | None = None) -> None:
        """Refuse new records, flush for up to `timeout` seconds (0: not at all), and fail the rest with Closed.

        Idempotent; a second call with a shorter timeout shortens the first one.
        """
        self._closed = self._placement.closing = True
        self._records.room.free = False
        if not self._started or self._stopped:
            return
        now = asyncio.get_running_loop().time
        deadline = None if timeout is None else now() + timeout
        try:
            if timeout != 0:
                if self._engine.transactions is not None and self._engine.transactions.open:
                    await self._abort_within(timeout)
                await self.flush(None if deadline is None else max(0.0, deadline - now()))
        finally:
            await self._engine.stop("the producer")
            self._stopped = True  # nothing is left to wait for in later calls

    async def client_closed(self) -> None:
        """Fail all unacknowledged records at once, because the client was closed first. A later `close` does
        nothing."""
        if self._stopped:
            return
        self._closed = self._placement.closing = True
        self._records.room.free = False
        self._engine.poison = self._engine.poison or Closed("the client was closed")
        if self._started:
            await self._engine.stop("the client")
        self._stopped = True

    async def _abort_within(self, timeout: float | None) -> None:
        """Abort the open transaction. If this fails, the coordinator aborts it after transaction.timeout.ms."""
        with contextlib.suppress(TimeoutError, KcliError):
            async with asyncio.timeout(timeout):
                await self._transactional().abort()

    def forked(self, error: KcliError) -> None:
        """Refuse all calls, because this is a copy in a forked child."""
        self._engine.poison, self._records.room.free = error, False

    def login_failed(self, text: str, error: KcliError | None) -> None:
        """Report that the client cannot log in at the moment. Records are retried until the delivery timeout."""

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


def _outcome(promise: asyncio.Future[RecordMetadata]) -> RecordMetadata | BaseException:
    """Return the position or the error of a record whose promise is done."""
    if promise.cancelled():
        return asyncio.CancelledError()
    problem = promise.exception()
    return promise.result() if problem is None else problem
