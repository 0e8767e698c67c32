"""A producer without async. Batches are sent in the background; any thread may wait for a record's future."""

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
        with contextlib.suppress(Closed):  # the client was closed first, and the producer with it
            self._thread.run(self._producer.__aexit__(kind, error, trace))

    @property
    def as_async(self) -> Producer:
        """The producer, for coroutines on the client's loop (`SyncClient.run`)."""
        return self._producer

    @property
    def counts(self) -> Counts:
        """How many records were accepted, acknowledged, failed, and are unknown."""
        return self._producer.counts

    @property
    def on_batch(self) -> Callable[[BatchOutcome], None] | None:
        """As `Producer.on_batch`; it is called in the client's own thread."""
        return self._producer.on_batch

    @on_batch.setter
    def on_batch(self, call: Callable[[BatchOutcome], None] | None) -> None:
        self._producer.on_batch = call

    @property
    def metrics(self) -> ProducerMetrics:
        """As `Producer.metrics`."""
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
        """Accept one record; `result()` of the future returns its position, or raises the error. `on_delivery` is
        called once, with (metadata, None) or (None, error). Raises as `Producer.send`. Each call is a turn to the
        loop's thread: for many records `send_records` is quicker. A callback or a hook runs in the client's own thread;
        it gets BufferFull where others wait for room."""
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
        """Send one record and wait until it is stored; where. Raises as `send` and its future."""
        return self._thread.run(self._producer.send_and_wait(topic, value, key, headers, partition, timestamp))

    def send_all(self, topic: str, rows: Iterable[Given]) -> list[RecordMetadata | BaseException]:
        """Send rows of (partition or None, timestamp in ms or None, key, value, headers), and wait for all: where each
        was stored, or why not, in their order."""
        return self._thread.run(self._producer.send_all(topic, rows))

    def send_records(self, topic: str, rows: Sequence[Given]) -> None:
        """Accept rows as those of `send_all`, without promises: `flush` and `counts` tell what became of them."""
        self._thread.run(self._producer.send_records(topic, rows))

    def flush(self, timeout: float | None = None) -> int:
        """Send everything accepted before the call, and wait for it; how many records are left at the deadline (s)."""
        return self._thread.run(self._producer.flush(timeout))

    def partitions(self, topic: str) -> Sequence[int]:
        """The topic's partitions, waiting for the topic as `send` does (Java's partitionsFor)."""
        return self._thread.run(self._producer.partitions(topic))

    def abort_buffered(self) -> int:
        """Drop the records that are not sent yet, with `Aborted`; how many. Waits for those on the wire."""
        return self._thread.run(self._producer.abort_buffered())

    def begin(self) -> None:
        """As `Producer.begin`."""
        self._thread.run(self._producer.begin())

    def commit(self) -> None:
        """As `Producer.commit`."""
        self._thread.run(self._producer.commit())

    def abort(self) -> None:
        """As `Producer.abort`."""
        self._thread.run(self._producer.abort())

    @contextlib.contextmanager
    def transaction(self) -> Iterator[Self]:
        """`with producer.transaction():` commits at the end, and aborts when the block raises."""
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
        """Commit a group's positions together with the transaction (KIP-447)."""
        self._thread.run(self._producer.send_offsets(offsets, group))


def _report(settled: Future[RecordMetadata], on_delivery: Delivered) -> None:
    """Call a record's function with what became of it."""
    if settled.cancelled():
        on_delivery(None, None)
    elif (problem := settled.exception()) is not None:
        on_delivery(None, problem if isinstance(problem, KcliError) else KcliError(str(problem)))
    else:
        on_delivery(settled.result(), None)


def _tell(stored: Future[RecordMetadata], settled: asyncio.Future[RecordMetadata]) -> None:
    """Hand an outcome over to the other thread's future."""
    if not stored.set_running_or_notify_cancel():
        settled.cancelled() or settled.exception()  # no caller waits any more
    elif settled.cancelled():
        stored.set_exception(KcliError("the record was given up"))
    elif (problem := settled.exception()) is not None:
        stored.set_exception(problem)
    else:
        stored.set_result(settled.result())
