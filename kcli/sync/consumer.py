"""A consumer without async: an iterator of messages."""

from __future__ import annotations

import contextlib
from collections import namedtuple
from threading import Lock

from kcli.asking.offsets import LATEST, list_offsets
from kcli.errors import Closed, KcliError, UsageError
from kcli.grammar.bound import Bound
from kcli.model import TopicPartition
from kcli.proto.columns import Message
from kcli.settings import ConsumerSettings, GroupSettings
from kcli.sync.loop_thread import Unopened
from kcli.sync.stream import Stream

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from types import TracebackType
    from typing import NamedTuple, Self

    from kcli.client import Client
    from kcli.consumer.consumer import Consumer
    from kcli.consumer.fetch.states import FetchState
    from kcli.consumer.poll import Fetched
    from kcli.metrics.values import ConsumerMetrics
    from kcli.model import GroupMetadata, OffsetAndMetadata
    from kcli.sync.loop_thread import LoopThread

    class Selection(NamedTuple):
        """The selection of records: see `SyncClient.consumer`."""

        topics: tuple[str, ...]
        group: GroupSettings | str | None
        start: Bound | str | None
        stop_at_end: bool
else:
    Selection = namedtuple("Selection", "topics group start stop_at_end")


WORDS = ("earliest", "latest")
MOVING = ("latest", "relative", "time")
"""Starts that depend on when they are looked up."""


class SyncConsumer:
    """`with kafka.consumer("orders", group="billing") as consumer: for message in consumer:`.

    A message is done when the next one is asked for, with `commit`, and when the block is left without an exception; a
    group commits what is done. Messages that were fetched and not taken are returned by the next call, whichever it is.
    """

    def __init__(
        self, thread: LoopThread, client: Client, selection: Selection, settings: ConsumerSettings | None
    ) -> None:
        """Raises UsageError for a selection that makes no sense."""
        if not selection.topics:
            raise UsageError("which topics? consumer('orders')")
        self._opened = thread
        self._thread: LoopThread | Unopened = Unopened("consumer")
        self._client = client
        self._selection = selection
        group, start = selection.group, selection.start
        own = settings or ConsumerSettings()
        self._group = GroupSettings(group=group) if isinstance(group, str) else group
        if isinstance(start, str):
            if start not in WORDS:
                raise UsageError(f"start {start!r}: expected {' or '.join(WORDS)}, or a Bound")
            if self._group is not None or settings is None:
                own = own.replace(reset=start)
            start = Bound(start)
        elif start is not None and self._group is not None:
            raise UsageError(f"start {start}: a member of a group starts at its commits; expected earliest or latest")
        elif start is None and self._group is None and own.reset not in WORDS:
            raise UsageError(f"reset={own.reset!r} names no start: give start=, or read in a group")
        self._start = start or Bound(own.reset)
        if selection.stop_at_end and self._group is not None:
            raise UsageError("stop_at_end: a group has no end; read without a group")
        self._settings = own
        self._consumer: Consumer = thread.call(lambda: client.consumer(own, self._group))
        link = self._consumer.link
        self._stream = link.stream = Stream(link, self._go_on, lambda: thread.soon(link.returned.set))
        self._turn = Lock()  # of the thread that opens the next batch

    def __enter__(self) -> Self:
        self._thread = self._opened
        try:
            self._thread.run(self._begin())
        except BaseException:
            self._thread.run(self._consumer.close())
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._thread.forked:
            return
        with contextlib.suppress(Closed):  # the client was closed first, and the consumer with it
            self._thread.run(self._end(kind))

    async def _begin(self) -> None:
        topics = self._selection.topics
        if self._group is not None:
            await self._consumer.subscribe(topics)
            return
        cluster = self._client.cluster
        partitions = [TopicPartition(topic, number) for topic in topics for number in await cluster.partitions(topic)]
        if self._selection.stop_at_end:
            ends = await list_offsets(
                cluster, dict.fromkeys(partitions, LATEST), self._settings.isolation, wait_for_leaders=True
            )
            for end in ends.values():
                if isinstance(end, KcliError):
                    raise end
            self._consumer.stop_at({at: end.offset for at, end in ends.items() if not isinstance(end, KcliError)})
        self._consumer.assign(dict.fromkeys(partitions, self._start))
        if self._start.kind in MOVING:
            await self._consumer.positioned()

    async def _end(self, kind: type[BaseException] | None) -> None:
        """Close. What was taken last is not done when an exception came."""
        if kind is None:
            self._stream.finish()
        self._stream.look()
        self._stream.release()
        await self._consumer.__aexit__(kind)

    # -- messages ---------------------------------------------------------------------------------------------------

    def __iter__(self) -> Iterator[Message]:
        return self._stream.messages

    def __next__(self) -> Message:
        """Waits for a message. Raises StopIteration at the end (`stop_at_end`), and what ended the consumer."""
        return next(self._stream.messages)

    def _go_on(self) -> None:
        """A batch was iterated over: open the next one. Raises StopIteration at the end, and a partition's error in its
        place; a batch that is corrupt again and again, until a seek."""
        with self._turn:
            while not self._stream.advance():
                if not self._thread.run(self._fetch()) and self._consumer.finished:
                    raise StopIteration

    async def _fetch(self) -> bool:
        """Take the next pieces in one step of the loop, so that Ctrl-C in the wait for it loses nothing."""
        pieces = await self._consumer.take()
        self._stream.add(pieces)
        return bool(pieces)

    def _release(self) -> None:
        """What was fetched and not iterated over goes back: the next call returns it, whichever it is."""
        self._consumer.give_back(self._stream.release())

    def poll(
        self, timeout: float | None = None, max_bytes: int | None = None, max_records: int | None = None
    ) -> list[Fetched]:
        """Batches, as `Consumer.poll` gives them: quicker than messages where many records come."""

        got: list[Fetched] = []

        async def poll() -> list[Fetched]:
            self._stream.finish()
            self._release()
            got.extend(await self._consumer.poll(timeout, max_bytes, max_records))
            return got

        def untake() -> None:
            if got:
                self._consumer.untake()

        try:
            return self._thread.run(poll())
        except BaseException:  # Ctrl-C, just when the records came
            with contextlib.suppress(Closed):
                self._thread.call(untake)
            raise

    @property
    def metrics(self) -> ConsumerMetrics:
        """As `Consumer.metrics`."""
        return self._thread.call(lambda: self._consumer.metrics)

    def fetch_states(self) -> dict[TopicPartition, FetchState]:
        """As `Consumer.fetch_states`."""
        return self._thread.call(self._consumer.fetch_states)

    # -- positions --------------------------------------------------------------------------------------------------

    @property
    def assignment(self) -> set[TopicPartition]:
        return self._thread.call(lambda: self._consumer.assignment)

    def position(self, at: TopicPartition) -> int | None:
        """The offset of the next record that is returned; None while it is not known."""

        def position() -> int | None:
            there = self._stream.position(at)
            return self._consumer.position(at) if there is None else there

        return self._thread.call(position)

    def seek(self, at: TopicPartition, to: Bound | int | OffsetAndMetadata) -> None:
        """Continue at an offset, which is what a group commits next. Records that were fetched of this partition are
        dropped."""

        def seek() -> None:
            self._release()
            self._consumer.seek(at, to)
            self._stream.sought(at)

        self._thread.call(seek)

    def pause(self, *what: TopicPartition | str) -> None:
        """As `Consumer.pause`."""

        def pause() -> None:
            self._release()
            self._consumer.pause(*what)

        self._thread.call(pause)

    def resume(self, *what: TopicPartition | str) -> None:
        self._thread.call(lambda: self._consumer.resume(*what))

    def commit(self, offsets: Mapping[TopicPartition, OffsetAndMetadata | int] | None = None) -> None:
        """Commit the group's next offsets; by default those after the records that were taken."""

        async def commit() -> None:
            if offsets is None:
                self._stream.finish()
            await self._consumer.commit(offsets)
            for at, place in (offsets or {}).items():
                self._stream.confirmed(at, place if isinstance(place, int) else place.offset)

        self._thread.run(commit())

    def committed(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, OffsetAndMetadata | None]:
        """The group's committed offsets, None for a partition without one."""
        return self._thread.run(self._consumer.committed(partitions))

    def group_metadata(self) -> GroupMetadata:
        """This member's place in its group, for `SyncProducer.send_offsets`."""
        return self._thread.call(self._consumer.group_metadata)
