"""Records of many partitions in one order, with a bounded part of each in memory.

By time: the partition whose next record is the oldest goes first; equal times go by the order of the partitions. The
order within a partition is kept, so a record whose clock ran back comes right after the one before it. Runs of
records of one partition are handed on as windows of their batches: no object per record.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import deque
from itertools import accumulate, groupby, repeat

from kcli.errors import DecodeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable, Iterable, Iterator

    from kcli.model import TopicPartition
    from kcli.proto.batch import Batch

    Broken = Callable[[DecodeError, TopicPartition], None]

PIECE = 128  # records: a window is found by walking from the start of its batch, so batches are cut to this first
WINDOW = 0.2  # seconds that a record which just came waits for older ones of other partitions
FOREVER = 1 << 63  # after every timestamp


class Piece:
    """At most PIECE records of a batch. `keys` are the times they are merged by, never falling; `done` of them are
    handed on."""

    __slots__ = ("arrived", "batch", "done", "keys", "offsets")

    def __init__(self, batch: Batch, offsets: array[int], keys: list[int], arrived: float) -> None:
        self.batch = batch
        self.offsets = offsets
        self.keys = keys
        self.arrived = arrived
        self.done = 0


class Stream:
    """What waits of one partition. `caught_up`: the merge does not wait for more of it."""

    def __init__(self, at: TopicPartition, number: int, broken: Broken, *, caught_up: bool) -> None:
        self.at = at
        self.number = number
        self.caught_up = caught_up
        self.size = 0  # bytes as they came
        self._broken = broken
        self._batches: deque[tuple[Batch, float]] = deque()
        self._pieces: deque[Piece] = deque()
        self._carry = -1

    def give(self, batch: Batch, arrived: float) -> None:
        self._batches.append((batch, arrived))
        self.size += batch.body_end - batch.body_start

    def whole(self) -> Iterator[Batch]:
        """All that waits, a batch at a time, not taken apart."""
        while self._batches:
            batch, _ = self._batches.popleft()
            self.size -= batch.body_end - batch.body_start
            yield batch

    def head(self) -> Piece | None:
        """The piece that is next, or None. A batch is decoded when it gets here, not before."""
        while self._pieces and self._pieces[0].done == len(self._pieces[0].keys):
            self._pieces.popleft()
        while not self._pieces and self._batches:
            batch, arrived = self._batches.popleft()
            self.size -= batch.body_end - batch.body_start
            try:
                self._cut(batch, arrived)
            except DecodeError as broken:
                self._broken(broken, self.at)
        return self._pieces[0] if self._pieces else None

    def _cut(self, batch: Batch, arrived: float) -> None:
        columns = batch.columns()
        total = len(columns.offsets)
        if not total:
            return
        keys = list(accumulate(columns.timestamps, max, initial=self._carry))[1:]
        self._carry = keys[-1]
        if total <= PIECE:
            self._pieces.append(Piece(batch, columns.offsets, keys, arrived))
            return
        for at in range(0, total, PIECE):
            offsets = columns.offsets[at : at + PIECE]
            self._pieces.append(Piece(batch.picked(offsets), offsets, keys[at : at + PIECE], arrived))

    @property
    def waiting(self) -> bool:
        """Whether something waits for its turn."""
        return bool(self._batches) or self.head() is not None


class Merge:
    """Give batches, then take runs: each is a partition and a batch that is narrowed to what may be written now.
    A run is to be written before the next is asked for. `broken` hears of batches that cannot be read."""

    def __init__(self, broken: Broken) -> None:
        self.streams: dict[TopicPartition, Stream] = {}
        self._broken = broken

    def add(self, places: Iterable[TopicPartition], *, caught_up: bool = False) -> None:
        """Partitions, in the order of equal times. With `caught_up`, the merge does not wait for them."""
        for at in places:
            self.streams[at] = Stream(at, len(self.streams), self._broken, caught_up=caught_up)

    @property
    def waiting(self) -> bool:
        """Whether something waits for its turn."""
        return any(stream.waiting for stream in self.streams.values())

    def by_partition(self) -> Iterator[tuple[TopicPartition, Batch]]:
        """One partition after another, as far as they have come."""
        for stream in self.streams.values():
            for batch in stream.whole():
                yield stream.at, batch
            if not stream.caught_up:
                return

    def by_time(self) -> Iterator[tuple[TopicPartition, Batch]]:
        """As far as nothing older can come: until a partition that is not caught up has nothing here."""
        while True:
            heads: list[tuple[Stream, Piece]] = []
            waited_for = False
            for stream in self.streams.values():
                piece = stream.head()
                if piece is not None:
                    heads.append((stream, piece))
                elif not stream.caught_up:
                    return
                waited_for = waited_for or not stream.caught_up
            if not waited_for:
                return  # from here on time decides: see `late`
            yield from _runs(heads, FOREVER)

    def late(self, since: float) -> Iterator[tuple[TopicPartition, Batch]]:
        """What came before `since`, and all that is older than that; where all have something, as far as that goes."""
        while True:
            heads = [(stream, piece) for stream in self.streams.values() if (piece := stream.head()) is not None]
            if not heads:
                return
            if len(heads) == len(self.streams):
                yield from _runs(heads, FOREVER)
                continue
            due = [piece.keys[piece.done] for _, piece in heads if piece.arrived <= since]
            if not due:
                return
            yield from _runs(heads, max(due))

    def rest(self) -> Iterator[tuple[TopicPartition, Batch]]:
        """All records at hand, by time, without a wait for any partition."""
        while heads := [(stream, piece) for stream in self.streams.values() if (piece := stream.head()) is not None]:
            yield from _runs(heads, FOREVER)


def _runs(heads: list[tuple[Stream, Piece]], most: int) -> Iterator[tuple[TopicPartition, Batch]]:
    """What of these pieces is older than all that can follow them, and no younger than `most`."""
    last, number = min((piece.keys[-1], stream.number) for stream, piece in heads)
    if last > most:
        last, number = most, FOREVER
    cuts: dict[int, tuple[Stream, Piece]] = {}
    rows: list[tuple[int, int, int]] = []
    for stream, piece in heads:
        done, keys = piece.done, piece.keys
        cut = (bisect_right if stream.number <= number else bisect_left)(keys, last, done)
        if cut > done:
            cuts[stream.number] = stream, piece
            rows += zip(keys[done:cut], repeat(stream.number), range(done, cut), strict=False)
    if len(cuts) > 1:
        rows.sort()
    for key, group in groupby(rows, _number):
        run = [row for _, _, row in group]
        stream, piece = cuts[key]
        batch = piece.batch
        batch.first, batch.stop = piece.offsets[run[0]], piece.offsets[run[-1]] + 1
        piece.done = run[-1] + 1
        yield stream.at, batch


def _number(row: tuple[int, int, int]) -> int:
    return row[1]
