"""Chooses what a poll returns: the partitions that waited longest first, one chunk of each, or a piece of a chunk that
is large when decompressed, cut to the position and the end."""

from __future__ import annotations

from itertools import islice

from kcli.consumer.fetch.chunk import Fetched as Fetched
from kcli.consumer.fetch.cursor import Piece
from kcli.consumer.fetch.unpacking import AHEAD, Unpacking
from kcli.proto import core
from kcli.proto.batch import CorruptBatch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from typing import NamedTuple

    from kcli.consumer.fetch.chunk import Chunk
    from kcli.consumer.fetch.cursor import Cursor
    from kcli.consumer.fetch.reader import Reader
    from kcli.errors import KcliError
    from kcli.model import TopicPartition
    from kcli.proto.batch import Batch

    class Window(NamedTuple):
        """The remaining batches of a cursor's first chunk, and the position after all of them."""

        cursor: Cursor
        chunk: Chunk
        batches: list[Batch]
        following: int
else:
    from collections import namedtuple

    Window = namedtuple("Window", "cursor chunk batches following")


def _within(batches: Iterable[Batch], times: tuple[int, int]) -> Iterator[Batch]:
    """Select the records with a timestamp in [start, stop). A batch that cannot be read is left to its reader."""
    for batch in batches:
        try:
            kept = batch.within(*times)
        except CorruptBatch:
            kept = batch
        if kept is not None:
            yield kept


class Delivery:
    """Takes pieces from the cursors in turn: first those that were given back, then those of buffered chunks."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._turn: list[TopicPartition] = []
        self._returned: dict[Cursor, None] = {}  # cursors with pieces that were given back, the next one first
        self._unpacking = Unpacking(reader)

    def hand_out(self, most: int, owned: Collection[TopicPartition] | None, *, single: bool = False) -> list[Piece]:
        """Return the first chunk of each partition that may be delivered, decompressed, until `most` bytes are reached.

        The partitions go to the end of the queue. `owned` is what the group currently assigns, None without one;
        `single` returns one piece.
        """
        got = self._take_back(most, owned, single)
        size = sum(piece.size for piece in got)
        if got and (single or size >= most):
            return got
        served: dict[Cursor, int] = {}  # with the bytes that each no longer buffers
        blocked: Window | None = None
        for cursor in self._deliverable(owned):
            if not cursor.chunks:
                got.append(self._error_of(cursor))
                served[cursor] = 0
                continue
            if got and size + cursor.chunks[0].size > most:
                break
            if not self._unpacking.opened(cursor.chunks[0], cursor.at):
                continue
            window = self._window_of(cursor)
            count, plain = self._ready(window, most - size)
            if count == 0 and window.batches:
                blocked = blocked or window
                continue
            size += plain
            held = cursor.buffered
            got.append(self._piece_of(window, count, plain))
            served[cursor] = held - cursor.buffered
        if got:
            last = dict.fromkeys(cursor.at for cursor in served)
            self._turn = [at for at in self._turn if at not in last] + [*last]
            self._reader.moved(served)
        if blocked is None and size < AHEAD and self._reader.settings.decompress:
            blocked = self._next_blocked(owned)
        if blocked is not None and (not got or size < AHEAD):
            self._unpacking.begin(blocked.chunk, blocked.batches, most)
        if single and len(got) > 1:
            self.give_back(got[1:])
            return got[:1]
        return got

    def _take_back(self, most: int, owned: Collection[TopicPartition] | None, single: bool) -> list[Piece]:
        """Return pieces that were given back and may be delivered now."""
        got: list[Piece] = []
        empty: list[Cursor] = []
        size = 0
        for cursor in self._returned:
            if self._reader.cursors.get(cursor.at) is not cursor:
                cursor.pieces.clear()
            if cursor.deliverable:
                while cursor.pieces and (owned is None or cursor.at in owned):
                    got.append(cursor.take_back())
                    size += got[-1].size
                    if single or size >= most:
                        break
            if not cursor.pieces:
                empty.append(cursor)
            if got and (single or size >= most):
                break
        for cursor in empty:
            del self._returned[cursor]
        return got

    def give_back(self, pieces: Sequence[Piece]) -> None:
        """Take back these pieces, in the order in which they were returned, because the program did not use them: the
        next call returns them."""
        for piece in reversed(pieces):
            if self._reader.cursors.get(piece.at) is piece.cursor:
                piece.cursor.give_back(piece)
        if pieces:
            self._returned = dict.fromkeys(piece.cursor for piece in pieces) | self._returned
            self._reader.arrived.set()

    def limit(self, pieces: list[Piece], records: int | None, size: int | None) -> list[Piece]:
        """Return the pieces that fit into so many records and bytes, at least one record; give back the others."""
        most, room = 1 << 62 if records is None else records, 1 << 62 if size is None else size
        for number, piece in enumerate(pieces):
            if number and (most <= 0 or room <= 0):
                self.give_back(pieces[number:])
                return pieces[:number]
            head, tail, most, room = cut(piece, most, room)
            if tail is not None:
                self.give_back([tail, *pieces[number + 1 :]])
                return [*pieces[:number], head]
        return pieces

    def standing(self, pieces: Sequence[Piece], owned: Collection[TopicPartition] | None) -> list[Piece]:
        """Return the pieces that may still be delivered after a wait; those of a partition that may not be read now are
        given back, and after a seek or a rebalance dropped."""
        good: list[Piece] = []
        held: list[Piece] = []
        for piece in pieces:
            cursor = piece.cursor
            if self._reader.cursors.get(cursor.at) is not cursor or piece.era != cursor.era:
                continue
            free = not cursor.held and (owned is None or cursor.at in owned)
            (good if free else held).append(piece)
        self.give_back(held)
        return good

    def close(self) -> None:
        self._unpacking.close()

    def _deliverable(self, owned: Collection[TopicPartition] | None) -> Iterator[Cursor]:
        cursors = self._reader.cursors
        known = [at for at in self._turn if at in cursors]
        if len(known) != len(cursors):
            seen = set(known)
            known += [at for at in cursors if at not in seen]
        self._turn = known
        for at in known:
            if cursors[at].deliverable and not cursors[at].pieces and (owned is None or at in owned):
                yield cursors[at]

    def _window_of(self, cursor: Cursor) -> Window:
        """Return the rest of the first chunk."""
        settings, chunk = self._reader.settings, cursor.chunks[0]
        chunk.open(cursor.at, settings)
        batches, following = chunk.window(
            cursor.position,
            cursor.end,
            committed=settings.isolation == "read_committed",
            control=settings.include_control,
        )
        if cursor.times is not None:
            batches = [batch for batch in batches if batch.max_timestamp >= cursor.times[0]]
        return Window(cursor, chunk, batches, following)

    def _ready(self, window: Window, room: int) -> tuple[int, int]:
        """Return how many of the batches may be delivered now, and their bytes."""
        if not self._reader.settings.decompress or not core.any_compressed(window.batches):
            return len(window.batches), window.chunk.size
        return self._unpacking.ready(window.chunk, window.batches, room)

    def _next_blocked(self, owned: Collection[TopicPartition] | None) -> Window | None:
        """Return what the next poll would have to wait for, so that the thread can start on it."""
        for cursor in self._deliverable(owned):
            if cursor.chunks:
                if not self._unpacking.opened(cursor.chunks[0], cursor.at):
                    return None
                window = self._window_of(cursor)
                large = window.batches and self._unpacking.is_large(window.chunk, window.batches[0])
                return window if large else None
        return None

    def _error_of(self, cursor: Cursor) -> Piece:
        at = cursor.at
        error, cursor.error = cursor.error, None
        assert error is not None
        self._reader.fail_again(cursor, error)
        fetched = Fetched(topic=at.topic, partition=at.partition, batches=[], next_offset=cursor.position, error=error)
        return Piece(cursor, fetched, cursor.position, cursor.epoch, 0)

    def _piece_of(self, window: Window, count: int, size: int) -> Piece:
        """Return the first `count` batches; with the last of them the chunk is finished."""
        cursor, chunk, batches, following = window
        start, epoch = cursor.position, cursor.epoch
        trouble: KcliError | None = None
        skipped: Sequence[KcliError] = ()
        if count < len(batches):
            batches = batches[:count]
            following = batches[-1].last_offset + 1
            cursor.advanced(following, batches[-1].leader_epoch)
            chunk.let_go(following)
        else:
            trouble, skipped = chunk.trouble, chunk.skipped
            cursor.delivered(following, -1 if trouble is not None else chunk.epoch)
            ended = cursor.end is not None and following >= cursor.end
            if trouble is not None and not ended:
                cursor.rewind()
                cursor.fail(trouble)
                cursor.error = None  # returned right here
                self._reader.fail_again(cursor, trouble)
            else:
                trouble = None
                if ended and cursor.position < cursor.fetch_at:  # `stop_at` may move the end: then it is fetched again
                    cursor.rewind()
        if cursor.times is not None:
            batches = list(_within(batches, cursor.times))
        self._reader.observer.handed_out(len(batches), core.shown_records(batches))
        at, data = cursor.at, chunk.data
        fetched = Fetched(
            topic=at.topic,
            partition=at.partition,
            batches=batches,
            next_offset=cursor.position,
            high_watermark=data.high_watermark,
            last_stable_offset=data.last_stable_offset,
            log_start_offset=data.log_start_offset,
            error=trouble,
            skipped=skipped,
        )
        return Piece(cursor, fetched, start, epoch, size)


def cut(piece: Piece, records: int, size: int) -> tuple[Piece, Piece | None, int, int]:
    """Split a piece after so many records and bytes, but at least one record. Returns the beginning, the rest (None if
    empty), and the remaining room."""
    batches = piece.fetched.batches
    for number, batch in enumerate(batches):
        within = _end_within(batch, records, size)
        if within is None:
            records, size = records - _records(batch), size - (batch.body_end - batch.body_start)
            if (records > 0 and size > 0) or number + 1 == len(batches):
                continue
            number, first, own = number + 1, _first(batches[number + 1]), []
        else:
            first, own = within, [batch.window(batch.first, within)]
        head = batches[:number] + own
        tail = [batch.window(first, batch.stop), *batches[number + 1 :]] if own else batches[number:]
        epoch = head[-1].leader_epoch
        before = piece.rest(head, piece.start, piece.start_epoch)
        before.stop, before.stop_epoch = first, epoch
        before.fetched = before.fetched.changed(next_offset=first, error=None, skipped=())
        return before, piece.rest(tail, first, epoch), 0, 0
    return piece, None, records, size


def _first(batch: Batch) -> int:
    """The first offset of a batch that its reader sees."""
    return max(batch.first, batch.base_offset)


def _records(batch: Batch) -> int:
    """Number of records in a batch for its reader; if the batch cannot be read, the number in its header."""
    try:
        return batch.visible
    except CorruptBatch:
        return batch.count


def _end_within(batch: Batch, records: int, size: int) -> int | None:
    """Return the offset where a batch has to be cut to have at most so many records and bytes; None if it fits.

    A batch that cannot be read is not cut, because its reader gets the error.
    """
    if batch.compressed:
        return None
    fits = batch.body_end - batch.body_start <= size
    try:
        if fits and batch.visible <= records:
            return None
        if fits and batch.count == batch.last_offset - batch.base_offset + 1:
            return _first(batch) + records
        after = -1
        for record in islice(batch, records):
            size -= len(record.key or b"") + len(record.value or b"")
            size -= sum(len(name) + len(value or b"") for name, value in record.headers)
            if size < 0 <= after:
                return after
            after = record.offset + 1
    except CorruptBatch:
        return None
    return after if 0 <= after < min(batch.stop, batch.last_offset + 1) else None
