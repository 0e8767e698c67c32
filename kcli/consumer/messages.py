"""Iterates over the single messages of a consumer."""

from __future__ import annotations

from collections import deque
from threading import Lock

from kcli.model import OffsetAndMetadata, TopicPartition
from kcli.proto import core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from kcli.consumer.consumer import Objects
    from kcli.consumer.fetch.chunk import Fetched
    from kcli.consumer.fetch.cursor import Piece
    from kcli.consumer.group.group_bridge import Link
    from kcli.proto.batch import Batch
    from kcli.proto.columns import Message


def messages_of(fetched: Fetched) -> list[Message]:
    """Return the messages in the result of a poll. Raises CorruptBatch."""

    def more() -> None:
        raise StopIteration

    stream, found = core.Messages(more), []
    for batch in fetched.batches:
        batch.give_to(stream, fetched.topic, fetched.partition)
        found += list(stream)
    return found


# The program of a `SyncConsumer` takes messages in its own thread, without a step of the loop per message. The loop's
# thread reads the messages' counter when it has to know what was processed, or whether the program is alive, and can
# take the rest away between two messages. A lock protects changes of more than the counter.
class Stream:
    """`more` is called when the open batch is exhausted. `wake` sets an event of the loop from any thread."""

    def __init__(self, link: Link, more: Callable[[], None], wake: Callable[[], object]) -> None:
        self.messages = core.Messages(more)
        self._link = link
        self._wake = wake
        self._lock = Lock()
        self._pieces: deque[Piece] = deque()  # not iterated over yet; the first may be open
        self._batch: Batch | None = None  # the open batch of the first piece
        self._batches: deque[Batch] | None = None  # the first piece's batches after the open one; None: not open
        self._hand: tuple[TopicPartition, OffsetAndMetadata] | None = (
            None  # end of the last message taken, from a piece that is gone
        )
        self._confirmed = -1  # counter of the last message, if the program committed it
        self.objects: dict[tuple[str, int, int], tuple[Any, Any]] = {}  # decoded keys and values
        self._opened = 0

    # -- the program's thread ---------------------------------------------------------------------------------------

    def advance(self) -> bool:
        """The program asks for the next message, so the last one is processed: open the next batch.

        Returns False if there is none. Raises a piece's error at its position, and CorruptBatch each time until a seek.
        """
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

    def next_made(self, objects: Objects) -> Message:
        """Return the next message with decoded key and value. Raises like the iterator, and DecodeError."""
        while True:
            message = next(self.messages)
            place = message.topic, message.partition, message.offset
            made = objects.message(message, *self.objects.pop(place, (None, None)))
            if made is not None:
                return made

    # -- the loop's thread ------------------------------------------------------------------------------------------

    def add(self, pieces: Sequence[Piece]) -> None:
        """Iterate over these, too."""
        with self._lock:
            self._pieces.extend(pieces)

    def note_progress(self) -> tuple[int, int]:
        """Note that everything before the last message taken is processed. Returns a value that changes with each
        message."""
        with self._lock:
            after = self.messages.after  # read once, because the program's thread changes it
            self._note(after)
            return self._opened, after

    def finish(self) -> None:
        """The program commits, or ends without an error: the last message taken is processed."""
        with self._lock:
            self._finish()

    def confirmed(self, at: TopicPartition, offset: int) -> None:
        """The program committed this offset: if it is after the last message taken, that is processed."""
        with self._lock:
            if self._hand is not None and self._hand[0] == at and self._hand[1].offset <= offset:
                self._finish()
            elif self._batches is not None and self._pieces[0].at == at and self.messages.after <= offset:
                self._confirmed = self.messages.after

    @property
    def in_hand(self) -> TopicPartition | None:
        """The partition of the last message taken, if that is not processed yet."""
        with self._lock:
            if self._hand is not None:
                return self._hand[0]
            open_one = self._batches is not None and self.messages.after not in (-1, self._confirmed)
            return self._pieces[0].at if open_one else None

    def stop(self, partitions: set[TopicPartition], *, gone: bool = False) -> None:
        """Return no more messages of these. With `gone`, the last message taken must not be committed any more."""
        with self._lock:
            if self._batches is not None and self._pieces[0].at in partitions:
                self._leave()
            self._pieces = deque(piece for piece in self._pieces if piece.at not in partitions)
            for place in [place for place in self.objects if place[:2] in partitions]:
                del self.objects[place]
            if gone and self._hand is not None and self._hand[0] in partitions:
                self._hand = None

    def release(self) -> list[Piece]:
        """Return no more messages; give back the rest of the pieces."""
        with self._lock:
            self.objects.clear()
            if self._batches is not None:
                rest = self._leave()
                if rest is not None:
                    self._pieces[0] = rest
                else:
                    self._pieces.popleft()
            pieces, self._pieces = [*self._pieces], deque()
            return pieces

    def sought(self, at: TopicPartition) -> None:
        """The program moved the position: what it took of this partition no longer counts."""
        with self._lock:
            if self._hand is not None and self._hand[0] == at:
                self._hand = None

    def position(self, at: TopicPartition) -> int | None:
        """The offset of the next message of a partition, None without a piece of it."""
        with self._lock:
            for piece in self._pieces:
                if piece.at == at:
                    return (
                        piece.start if self._batches is None or piece is not self._pieces[0] else self._place().offset
                    )
            return None

    # -- inside -----------------------------------------------------------------------------------------------------

    def _place(self) -> OffsetAndMetadata:
        """The position in the open piece after the last message, past offsets without messages."""
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
        """The message before the offset `after` was taken last, so the records before that message are processed."""
        if self._batches is None or self._batch is None or after < 0:
            return
        piece = self._pieces[0]
        if after != self._confirmed and after - 1 > piece.start:
            self._link.note(piece.at, OffsetAndMetadata(after - 1, self._batch.leader_epoch))

    def _finish(self) -> None:
        """The last message taken is processed."""
        if self._hand is not None:
            at, place = self._hand
            self._link.note(at, place)
            self._hand = None
            self._wake()
        elif self._batches is not None and self.messages.after >= 0:
            self._link.note(self._pieces[0].at, self._place())
            self._confirmed = self.messages.after

    def _leave(self) -> Piece | None:
        """Close the first piece and return the rest of it."""
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
