"""Synchronous producer. Batches are sent in the background; any thread can wait for a record's future."""

from __future__ import annotations

import contextlib
from concurrent.futures import Future

from kcli.errors import Closed, KcliError
from kcli.sync.loop_thread import Unopened

TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from types import TracebackType
    from typing import Any, Self

    from kcli.metrics.values import ProducerMetrics
    from kcli.model import GroupMetadata, TopicPartition
    from kcli.producer.batches.batch import BatchOutcome, RecordMetadata
    from kcli.producer.batches.ledger import Counts
    from kcli.producer.intake.send_records import Delivered, Given, Headers
    from kcli.producer.producer import Producer
    from kcli.producer.transactions.offsets import Position
    from kcli.sync.loop_thread import LoopThread


class SyncProducer:
    """`with kafka.producer() as producer:`; leaving the block sends all accepted records."""

    def __init__(self, thread: LoopThread, producer: Producer) -> None:
        self._opened = thread
        self._thread: LoopThread | Unopened = Unopened("producer")
        self._producer = producer

    def __enter__(self) -> Self:
        self._thread = self._opened
        self._thread.run(self._producer.start())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._thread.forked:
            return
        with contextlib.suppress(Closed):  # the client was closed first, which closed the producer
            self._thread.run(self._producer.__aexit__(kind, error, trace))

    @property
    def as_async(self) -> Producer:
        """The asynchronous producer, for coroutines on the client's loop (`SyncClient.run`)."""
        return self._producer

    @property
    def counts(self) -> Counts:
        """Numbers of records accepted, acknowledged, failed and with unknown outcome."""
        return self._producer.counts

    @property
    def on_batch(self) -> Callable[[BatchOutcome], None] | None:
        """Like `Producer.on_batch`; called in the loop's thread."""
        return self._producer.on_batch

    @on_batch.setter
    def on_batch(self, call: Callable[[BatchOutcome], None] | None) -> None:
        self._producer.on_batch = call

    @property
    def metrics(self) -> ProducerMetrics:
        """Like `Producer.metrics`."""
        return self._thread.call(lambda: self._producer.metrics)

    def send(
        self,
        topic: str,
        value: Any,
        key: Any = None,
        headers: Headers = (),
        partition: int | None = None,
        timestamp: int | None = None,
        *,
        on_delivery: Delivered | None = None,
    ) -> Future[RecordMetadata]:
        """Accept one record. The future's `result()` returns its position or raises the error.

        `on_delivery` is called once, with (metadata, None) or (None, error). Raises the same errors as `Producer.send`.
        Each call is a round trip to the loop's thread, so `send_records` is faster for many records. Inside the loop's
        thread, in a callback or hook, a full buffer raises BufferFull instead of blocking.
        """
        stored: Future[RecordMetadata] = Future()
        if on_delivery is not None:
            stored.add_done_callback(lambda settled: _report(settled, on_delivery))

        async def accept() -> None:
            (await self._producer.send(topic, value, key, headers, partition, timestamp)).add_done_callback(
                lambda settled: _tell(stored, settled)
            )

        if self._thread.here:
            self._producer.send_soon(topic, value, key, headers, partition, timestamp).add_done_callback(
                lambda settled: _tell(stored, settled)
            )
        else:
            self._thread.run(accept())
        return stored

    def send_and_wait(
        self,
        topic: str,
        value: Any,
        key: Any = None,
        headers: Headers = (),
        partition: int | None = None,
        timestamp: int | None = None,
    ) -> RecordMetadata:
        """Send one record, wait until it is stored, and return its position. Raises the same errors as `send` and its
        future."""
        return self._thread.run(self._producer.send_and_wait(topic, value, key, headers, partition, timestamp))

    def send_all(self, topic: str, rows: Iterable[Given]) -> list[RecordMetadata | BaseException]:
        """Send rows of (partition or None, timestamp in ms or None, key, value, headers) and wait for all of them.
        Returns the position or the error of each row, in order."""
        return self._thread.run(self._producer.send_all(topic, rows))

    def send_records(self, topic: str, rows: Sequence[Given]) -> None:
        """Accept rows like those of `send_all` without futures; `flush` and `counts` report their outcome."""
        self._thread.run(self._producer.send_records(topic, rows))

    def flush(self, timeout: float | None = None) -> int:
        """Send all accepted records and wait for them; return how many are left after `timeout` seconds."""
        return self._thread.run(self._producer.flush(timeout))

    def partitions(self, topic: str) -> Sequence[int]:
        """Return the topic's partitions, waiting for the topic like `send` does (Java's partitionsFor)."""
        return self._thread.run(self._producer.partitions(topic))

    def abort_buffered(self) -> int:
        """Discard the records not sent yet, failing them with `Aborted`; return their number. Waits for records on the
        wire."""
        return self._thread.run(self._producer.abort_buffered())

    def begin(self) -> None:
        """Like `Producer.begin`."""
        self._thread.run(self._producer.begin())

    def commit(self) -> None:
        """Like `Producer.commit`."""
        self._thread.run(self._producer.commit())

    def abort(self) -> None:
        """Like `Producer.abort`."""
        self._thread.run(self._producer.abort())

    @contextlib.contextmanager
    def transaction(self) -> Iterator[Self]:
        """`with producer.transaction():` commits at the end and aborts if the block raises."""
        self.begin()
        try:
            yield self
            self.commit()
        except BaseException as problem:
            try:
                self.abort()
            except KcliError as worse:
                problem.add_note(f"and the transaction could not be aborted: {worse}")
            raise

    def send_offsets(self, offsets: Mapping[TopicPartition, Position | int], group: GroupMetadata) -> None:
        """Commit a group's offsets as part of the transaction (KIP-447)."""
        self._thread.run(self._producer.send_offsets(offsets, group))


def _report(settled: Future[RecordMetadata], on_delivery: Delivered) -> None:
    """Call a record's callback with its outcome."""
    if settled.cancelled():
        on_delivery(None, None)
    elif (problem := settled.exception()) is not None:
        on_delivery(None, problem if isinstance(problem, KcliError) else KcliError(str(problem)))
    else:
        on_delivery(settled.result(), None)


def _tell(stored: Future[RecordMetadata], settled: asyncio.Future[RecordMetadata]) -> None:
    """Pass an outcome to the future that another thread waits for."""
    if not stored.set_running_or_notify_cancel():
        settled.cancelled() or settled.exception()  # the caller stopped waiting
    elif settled.cancelled():
        stored.set_exception(KcliError("the record was cancelled"))
    elif (problem := settled.exception()) is not None:
        stored.set_exception(problem)
    else:
        stored.set_result(settled.result())
