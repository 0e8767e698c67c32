"""Synchronous consumer: an iterator of messages."""

from __future__ import annotations

import asyncio
import contextlib
from threading import Lock

from kcli.errors import Closed
from kcli.sync.loop_thread import Unopened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
    from types import TracebackType
    from typing import Any, Self, TypeVar

    from kcli.consumer.consumer import Consumer
    from kcli.consumer.fetch.states import FetchState
    from kcli.consumer.poll import Fetched
    from kcli.grammar.bound import Bound
    from kcli.metrics.values import ConsumerMetrics
    from kcli.model import GroupMetadata, OffsetAndMetadata, TopicPartition
    from kcli.proto.columns import Message
    from kcli.sync.loop_thread import LoopThread
    from kcli.sync.producer import SyncProducer

    Moved = Callable[[set[TopicPartition]], None]
    T = TypeVar("T")


class SyncConsumer:
    """`with kafka.consumer("orders", group="billing") as consumer: for message in consumer:`.

    A message counts as processed when the next one is requested, on `commit`, and when the block ends without an
    exception; a group commits processed messages. Fetched messages that were not yet returned come first in the next
    call, whether that is an iteration or a `poll`.
    """

    def __init__(self, thread: LoopThread, consumer: Consumer) -> None:
        self._opened = thread
        self._thread: LoopThread | Unopened = Unopened("consumer")
        self._consumer = consumer
        self._stream = consumer.stream_for(self._go_on, thread.soon)
        self._turn = Lock()  # held by the thread that opens the next batch

    def __enter__(self) -> Self:
        self._thread = self._opened
        try:
            self._thread.run(self._consumer.__aenter__())
        except BaseException:
            self._thread.run(self._consumer.close())
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._thread.forked:
            return
        with contextlib.suppress(Closed):  # the client was closed first, which closed the consumer
            self._thread.run(self._consumer.__aexit__(kind))

    # -- selection --------------------------------------------------------------------------------------------------

    def subscribe(
        self,
        topics: Sequence[str] | str,
        *,
        on_assigned: Moved | None = None,
        on_revoked: Moved | None = None,
        on_lost: Moved | None = None,
    ) -> None:
        """Like `Consumer.subscribe`, with plain functions as callbacks. Each runs in a separate thread while the group
        waits, and may call this consumer and its client."""
        self._thread.run(
            self._consumer.subscribe(
                topics, on_assigned=_told(on_assigned), on_revoked=_told(on_revoked), on_lost=_told(on_lost)
            )
        )

    def assign(self, partitions: Mapping[TopicPartition, Bound | int]) -> None:
        """Like `Consumer.assign`."""
        self._thread.call(lambda: self._consumer.assign(partitions))

    def incremental_assign(self, partitions: Mapping[TopicPartition, Bound | int]) -> None:
        """Like `Consumer.incremental_assign`."""
        self._thread.call(lambda: self._consumer.incremental_assign(partitions))

    def positioned(self, timeout: float = 30.0) -> None:
        """Like `Consumer.positioned`."""
        self._thread.run(self._consumer.positioned(timeout))

    def stop_at(self, ends: Mapping[TopicPartition, int]) -> None:
        """Like `Consumer.stop_at`: the iteration ends when each partition has reached its offset."""
        self._thread.call(lambda: self._consumer.stop_at(ends))

    @property
    def finished(self) -> bool:
        """Like `Consumer.finished`."""
        return self._thread.call(lambda: self._consumer.finished)

    @property
    def on_notice(self) -> Callable[[str], None] | None:
        """Like `Consumer.on_notice`; called in the loop's thread."""
        return self._consumer.on_notice

    @on_notice.setter
    def on_notice(self, callback: Callable[[str], None] | None) -> None:
        self._consumer.on_notice = callback

    @property
    def as_async(self) -> Consumer:
        """The asynchronous consumer, for coroutines on the client's loop (`SyncClient.run`)."""
        return self._consumer

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the client's loop and return its result."""
        return self._thread.run(work)

    # -- messages ---------------------------------------------------------------------------------------------------

    def __iter__(self) -> Iterator[Message]:
        return self._stream.messages if self._consumer.objects is None else self

    def __next__(self) -> Message:
        """Wait for a message. Raises StopIteration at the end (`stop_at_end`), or the error that ended the consumer."""
        objects = self._consumer.objects
        return next(self._stream.messages) if objects is None else self._stream.next_made(objects)

    def _go_on(self) -> None:
        """Open the next batch after the current one is exhausted.

        Raises StopIteration at the end, and a partition's error at its position. A corrupt batch raises each time until
        a seek.
        """
        with self._turn:
            while not self._stream.advance():
                if not self._thread.run(self._fetch()) and self._consumer.finished:
                    raise StopIteration

    async def _fetch(self) -> bool:
        """Take the next fetched batches in one step of the loop, so that Ctrl-C while waiting loses nothing."""
        pieces = await self._consumer.take_made()
        self._stream.add(pieces)
        return bool(pieces)

    def poll(
        self, timeout: float | None = None, max_bytes: int | None = None, max_records: int | None = None
    ) -> list[Fetched]:
        """Return batches, like `Consumer.poll`: faster than single messages for large volumes."""

        got: list[Fetched] = []

        async def poll() -> list[Fetched]:
            got.extend(await self._consumer.poll(timeout, max_bytes, max_records))
            return got

        def untake() -> None:
            if got:
                self._consumer.untake()

        try:
            return self._thread.run(poll())
        except BaseException:  # Ctrl-C at the moment when the records arrived
            with contextlib.suppress(Closed):
                self._thread.call(untake)
            raise

    def messages_of(self, fetched: Fetched) -> list[Message]:
        """Like `Consumer.messages_of`: return the messages in a result of `poll`, or in an argument of `SyncWorkers`'
        function, decoded by the formats."""
        return self._thread.run(self._consumer.messages_of(fetched))

    @property
    def metrics(self) -> ConsumerMetrics:
        """Like `Consumer.metrics`."""
        return self._thread.call(lambda: self._consumer.metrics)

    def fetch_states(self) -> dict[TopicPartition, FetchState]:
        """Like `Consumer.fetch_states`."""
        return self._thread.call(self._consumer.fetch_states)

    # -- positions --------------------------------------------------------------------------------------------------

    @property
    def assignment(self) -> set[TopicPartition]:
        return self._thread.call(lambda: self._consumer.assignment)

    def position(self, at: TopicPartition) -> int | None:
        """The offset of the next record to return; None while unknown."""
        return self._thread.call(lambda: self._consumer.position(at))

    def seek(self, at: TopicPartition, to: Bound | int | OffsetAndMetadata) -> None:
        """Continue at an offset, which is also what the group commits next. Fetched records of this partition are
        discarded."""
        self._thread.call(lambda: self._consumer.seek(at, to))

    def pause(self, *what: TopicPartition | str) -> None:
        """Like `Consumer.pause`."""
        self._thread.call(lambda: self._consumer.pause(*what))

    def resume(self, *what: TopicPartition | str) -> None:
        """Like `Consumer.resume`."""
        self._thread.call(lambda: self._consumer.resume(*what))

    @property
    def paused(self) -> set[TopicPartition]:
        """Like `Consumer.paused`."""
        return self._thread.call(lambda: self._consumer.paused)

    def commit(self, offsets: Mapping[TopicPartition, OffsetAndMetadata | int] | None = None) -> None:
        """Commit the group's next offsets; by default those after the records returned so far."""
        self._thread.run(self._consumer.commit(offsets))

    @contextlib.contextmanager
    def transaction(
        self, producer: SyncProducer, timeout: float | None = None, max_records: int | None = None
    ) -> Iterator[list[Message]]:
        """Like `Consumer.transaction`: `with consumer.transaction(producer) as messages:`."""
        whole = self._consumer.transaction(producer.as_async, timeout, max_records)
        messages = self._thread.run(whole.__aenter__())
        try:
            yield messages
        except BaseException as problem:
            self._thread.run(whole.__aexit__(type(problem), problem, problem.__traceback__))
            raise
        self._thread.run(whole.__aexit__(None, None, None))

    def committed(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, OffsetAndMetadata | None]:
        """The group's committed offsets, None for a partition without one."""
        return self._thread.run(self._consumer.committed(partitions))

    def group_metadata(self) -> GroupMetadata:
        """This member's identity in its group, for `SyncProducer.send_offsets`."""
        return self._thread.call(self._consumer.group_metadata)


def _told(callback: Moved | None) -> Callable[[set[TopicPartition]], Awaitable[None]] | None:
    """Wrap a plain function as a group callback that runs in a thread, so that it can call this client and wait."""
    if callback is None:
        return None

    async def call(partitions: set[TopicPartition]) -> None:
        await asyncio.to_thread(callback, partitions)

    return call
