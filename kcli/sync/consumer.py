"""A consumer without async: an iterator of messages."""

from __future__ import annotations

import contextlib
from collections import deque, namedtuple
from threading import Lock

from kcli.asking.offsets import LATEST, list_offsets
from kcli.errors import Closed, KcliError, UsageError
from kcli.grammar.bound import Bound
from kcli.model import OffsetAndMetadata, TopicPartition
from kcli.proto import core
from kcli.proto.columns import Message
from kcli.settings import ConsumerSettings, GroupSettings
from kcli.sync.loop_thread import Unopened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from types import TracebackType
    from typing import NamedTuple, Self

    from kcli.client import Client
    from kcli.consumer.consumer import Consumer
    from kcli.consumer.fetch.cursor import Piece
    from kcli.consumer.fetch.states import FetchState
    from kcli.consumer.group.group_bridge import Link
    from kcli.consumer.poll import Fetched
    from kcli.metrics.values import ConsumerMetrics
    from kcli.model import GroupMetadata
    from kcli.proto.batch import Batch
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


# The messages that a `SyncConsumer` iterates over: of pieces that its consumer gave, one after another.
#
# The program takes messages in its own thread, without a step of the loop for each. The loop's thread looks at the
# messages' counter whenever it has to know what is done, or whether the program is alive, and can take the rest away
# between two messages. A lock keeps both apart where more than the counter changes.
class Stream:
    """`more` is called when the open batch is used up. `wake` sets an event of the loop from any thread."""

    def __init__(self, link: Link, more: Callable[[], None], wake: Callable[[], object]) -> None:
        self.messages = core.Messages(more)
        self._link = link
        self._wake = wake
        self._lock = Lock()
        self._pieces: deque[Piece] = deque()  # not iterated over; the first may be open
        self._batch: Batch | None = None  # the open one, of the first piece
        self._batches: deque[Batch] | None = None  # of the first piece, after the open one; None: it is not open
        self._hand: tuple[TopicPartition, OffsetAndMetadata] | None = (
            None  # what was taken last, of a piece that is gone
        )
        self._confirmed = -1  # the counter of the last message, if that was committed by the program
        self._opened = 0

    # -- the program's thread ---------------------------------------------------------------------------------------

    def advance(self) -> bool:
        """The program asks for the next message, so the last one is done: open the next batch, False where there is
        none. Raises a piece's error in its place, and CorruptBatch again and again until a seek."""
        with self._lock:
            if self.messages.left():
                return True  # another thread has opened it
            self._finish()
            while self._pieces:
                piece = self._pieces[0]
                if self._batches is None:
                    self._batches = deque(piece.fetched.batches)
                self._batch = None
                if self._batches:
                    batch = self._batches[0]
                    batch.give_to(self.messages, piece.at.topic, piece.at.partition)
                    self._batch = self._batches.popleft()
                    self._opened, self._confirmed = self._opened + 1, -1
                    return True
                self._pieces.popleft()
                self._close()
                self._link.note(piece.at, piece.following)  # past markers, too
                if piece.fetched.error is not None:
                    raise piece.fetched.error
            return False

    # -- the loop's thread ------------------------------------------------------------------------------------------

    def add(self, pieces: Sequence[Piece]) -> None:
        """Iterate over these, too."""
        with self._lock:
            self._pieces.extend(pieces)

    def look(self) -> tuple[int, int]:
        """Note what is done: all before the message taken last. Return a value that changes with each message."""
        with self._lock:
            after = self.messages.after  # read once: the program's thread moves it
            self._note(after)
            return self._opened, after

    def finish(self) -> None:
        """The program commits, or ends without an error: the message that was taken last is done."""
        with self._lock:
            self._finish()

    def confirmed(self, at: TopicPartition, offset: int) -> None:
        """The program committed this offset: if it is after the message taken last, that is done."""
        with self._lock:
            if self._hand is not None and self._hand[0] == at and self._hand[1].offset <= offset:
                self._finish()
            elif self._batches is not None and self._pieces[0].at == at and self.messages.after <= offset:
                self._confirmed = self.messages.after

    @property
    def in_hand(self) -> TopicPartition | None:
        """The partition of the message that was taken last and is not done."""
        with self._lock:
            if self._hand is not None:
                return self._hand[0]
            open_one = self._batches is not None and self.messages.after not in (-1, self._confirmed)
            return self._pieces[0].at if open_one else None

    def stop(self, partitions: set[TopicPartition], *, gone: bool = False) -> None:
        """Give no more messages of these. With `gone` the message that was taken last is not ours to commit."""
        with self._lock:
            if self._batches is not None and self._pieces[0].at in partitions:
                self._leave()
            self._pieces = deque(piece for piece in self._pieces if piece.at not in partitions)
            if gone and self._hand is not None and self._hand[0] in partitions:
                self._hand = None

    def release(self) -> list[Piece]:
        """Give no more messages: what is left of the pieces."""
        with self._lock:
            if self._batches is not None:
                rest = self._leave()
                if rest is not None:
                    self._pieces[0] = rest
                else:
                    self._pieces.popleft()
            pieces, self._pieces = [*self._pieces], deque()
            return pieces

    def sought(self, at: TopicPartition) -> None:
        """The program moved the position: what it took of this partition says nothing any more."""
        with self._lock:
            if self._hand is not None and self._hand[0] == at:
                self._hand = None

    def position(self, at: TopicPartition) -> int | None:
        """The offset of the next message of a partition, None where no piece of it is here."""
        with self._lock:
            for piece in self._pieces:
                if piece.at == at:
                    return (
                        piece.start if self._batches is None or piece is not self._pieces[0] else self._place().offset
                    )
            return None

    # -- inside -----------------------------------------------------------------------------------------------------

    def _place(self) -> OffsetAndMetadata:
        """The position in the open piece after the last message: past what has no message."""
        piece, after = self._pieces[0], self.messages.after
        epoch = piece.start_epoch if self._batch is None else self._batch.leader_epoch
        if self._batch is not None and self.messages.left():
            return OffsetAndMetadata(after, epoch) if after >= 0 else OffsetAndMetadata(self._start(), epoch)
        if self._batches:
            return OffsetAndMetadata(max(self._batches[0].first, self._batches[0].base_offset), epoch)
        return piece.following

    def _start(self) -> int:
        assert self._batch is not None
        return max(self._batch.first, self._batch.base_offset)

    def _note(self, after: int) -> None:
        """The message before the offset `after` was taken last, so the records before that message are done."""
        if self._batches is None or self._batch is None or after < 0:
            return
        piece = self._pieces[0]
        if after != self._confirmed and after - 1 > piece.start:
            self._link.note(piece.at, OffsetAndMetadata(after - 1, self._batch.leader_epoch))

    def _finish(self) -> None:
        """The message that was taken last is done."""
        if self._hand is not None:
            at, place = self._hand
            self._link.note(at, place)
            self._hand = None
            self._wake()
        elif self._batches is not None and self.messages.after >= 0:
            self._link.note(self._pieces[0].at, self._place())
            self._confirmed = self.messages.after

    def _leave(self) -> Piece | None:
        """Close the first piece. Returns what is left of it."""
        assert self._batches is not None
        piece, after, place = self._pieces[0], self.messages.after, self._place()
        if after >= 0:
            self._note(after)
            if after != self._confirmed:
                self._hand = (piece.at, place)
        batches = [*self._batches]
        if self._batch is not None and self.messages.left():
            batches.insert(0, self._batch.window(place.offset, self._batch.stop))
        self._close()
        if not batches and piece.fetched.error is None:
            return None
        return piece.rest(batches, place.offset, place.leader_epoch)

    def _close(self) -> None:
        self.messages.drop()
        self._batch = self._batches = None
        self._confirmed = -1
