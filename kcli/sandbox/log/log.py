"""A partition's log: encoded batches as received, with base offset and leader epoch filled in (the CRC starts after
them). A fetch returns a slice of a segment, without reading its records."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.buffer import Buffer
from kcli.sandbox.log.batches import CONTROL, SIZE, TRANSACTIONAL, Header
from kcli.sandbox.log.segment import LARGEST, SMALLEST, Segment, Store

if TYPE_CHECKING:
    from kcli.sandbox.cluster.topics import Partition

Found = tuple[int, int, int]  # offset, timestamp (ms), leader epoch

EARLIEST, LATEST, MAX_TIMESTAMP, EARLIEST_LOCAL, LATEST_TIERED, EARLIEST_PENDING = -2, -1, -3, -4, -5, -6
NOTHING = (-1, -1, -1)


class Log:
    """`start` is the first offset available to readers, `end` the next one to be written (and the high watermark,
    because one process has no replicas to wait for), `stable` the first offset of an open transaction, else `end`."""

    def __init__(self, store: Store, start: int = 0, segment_bytes: Callable[[], int] = lambda: LARGEST) -> None:
        self._store = store
        self._segment_bytes = segment_bytes
        self._segments = store.load()
        self._bases = [segment.base_offset for segment in self._segments]
        self.end = self._segments[-1].next_offset if self._segments else start
        first = self._segments[0].base_offset if self._segments else start
        self.start = min(max(start, first), self.end)
        self.size = sum(segment.used for segment in self._segments)
        self._active = self._rolled()[-1]  # bytes of the active segment
        self.aborted_index = AbortedIndex()
        self._count_transactions()

    def _count_transactions(self) -> None:
        for segment, row in self.batches():
            at = segment.start_of(row)
            header = Header(segment.view, at)
            if header.attributes & TRANSACTIONAL:
                self.aborted_index.note(header, segment.view[at + SIZE : segment.ends[row]])

    @property
    def stable(self) -> int:
        """The last stable offset: read_committed ends here."""
        return max(self.aborted_index.stable(self.end), self.start) if self.aborted_index.open else self.end

    def append(self, header: Header, records: Buffer, leader_epoch: int, append_time: int | None) -> int:
        """Store a batch and return its base offset. `append_time` (ms) is given for LogAppendTime topics.
        Raises BrokerError KAFKA_STORAGE_ERROR when the disk refuses."""
        body = memoryview(records)[SIZE:]
        header.base_offset = self.end
        header.leader_epoch = leader_epoch
        if append_time is not None:
            header.stamp_append_time(append_time, body)
        try:
            self._segment_for(header.size).append(header, body)
        except OSError as refused:
            raise BrokerError(codes.KAFKA_STORAGE_ERROR, message=f"the disk refused: {refused}") from refused
        self.end += header.last_offset_delta + 1
        self.size += header.size
        self._active += header.size
        if header.attributes & TRANSACTIONAL:
            self.aborted_index.note(header, body)
        return header.base_offset

    def _segment_for(self, size: int) -> Segment:
        full = self._active > 0 and self._active + size > self._segment_bytes()
        if self._segments and not full and self._segments[-1].room >= size:
            return self._segments[-1]
        if full:
            self._active = 0
        grown = SMALLEST if not self._segments else min(len(self._segments[-1].view) * 4, LARGEST)
        segment = self._store.create(self.end, max(grown, size))
        self._segments.append(segment)
        self._bases.append(segment.base_offset)
        return segment

    def read(self, offset: int, limit: int, *, oversize: bool, stop: int | None = None) -> memoryview | None:
        """Return whole batches from the one with `offset` on, at most `limit` bytes, at least one with `oversize`, none
        at or after the offset `stop`. None at the end of the readable part. Raises BrokerError OFFSET_OUT_OF_RANGE."""
        if not self.start <= offset <= self.end:
            raise BrokerError(codes.OFFSET_OUT_OF_RANGE)
        if offset >= (self.end if stop is None else stop):
            return None
        segment = self._segments[self._holding(offset)]
        if stop is not None and stop < segment.next_offset:
            room = segment.start_of(segment.row_of(stop)) - segment.start_of(segment.row_of(offset))
            limit, oversize = min(limit, room), oversize and room > 0
        return segment.read(offset, limit, oversize)

    def next_after(self, offset: int, size: int) -> int:
        """Return the offset after the `size` bytes that `read` returned for `offset`."""
        segment = self._segments[self._holding(offset)]
        row = bisect_right(segment.ends, segment.start_of(segment.row_of(offset)) + size)
        return segment.bases[row] if row < len(segment.bases) else segment.next_offset

    def _holding(self, offset: int) -> int:
        at = max(bisect_right(self._bases, offset) - 1, 0)
        if at + 1 < len(self._segments) and offset >= self._segments[at].next_offset:
            return at + 1  # in a gap left by compaction
        return at

    def ahead(self, offset: int, stop: int) -> int:
        """Return the number of bytes between `offset` and `stop`, for min_bytes."""
        if offset >= stop or offset < self.start:
            return 0
        at = self._holding(offset)
        size = sum(segment.used for segment in self._segments[at:]) - self._before(at, offset)
        if stop < self.end:
            last = self._holding(stop)
            size -= sum(segment.used for segment in self._segments[last:]) - self._before(last, stop)
        return size

    def _before(self, at: int, offset: int) -> int:
        """Return the bytes of a segment before the batch with `offset`."""
        segment = self._segments[at]
        return segment.start_of(segment.row_of(offset))

    def batches(self) -> Iterator[tuple[Segment, int]]:
        """Iterate over all batches, as segment and row."""
        for segment in self._segments:
            for row in range(len(segment.bases)):
                yield segment, row

    def headers(self) -> Iterator[Header]:
        for segment, row in self.batches():
            yield Header(segment.view, segment.start_of(row))

    def epoch_at(self, offset: int) -> int:
        """The leader epoch of the batch that holds `offset`, of the last one at the end; -1 for an empty log."""
        if not self._segments:
            return -1
        segment = self._segments[self._holding(offset)]
        return segment.epochs[segment.row_of(offset)] if segment.epochs else -1

    def epoch_end(self, epoch: int, current: int) -> tuple[int, int]:
        """(largest epoch ≤ `epoch` known here, the offset where it ended); (-1, -1) when unknown (KIP-320)."""
        if epoch == -1 or epoch > current:
            return -1, -1
        if epoch == current:
            return current, self.end
        best = -1
        for segment, row in self.batches():
            if segment.epochs[row] > epoch:
                return (best, segment.bases[row]) if best >= 0 else (epoch, max(segment.bases[row], self.start))
            best = segment.epochs[row]
        return (best, self.end) if best >= 0 else (-1, -1)

    def delete_before(self, offset: int) -> int:
        """Move the start to `offset` (-1: the end) and free whole segments before it. Returns the new start. Raises
        BrokerError OFFSET_OUT_OF_RANGE."""
        offset = self.end if offset == -1 else offset
        if not 0 <= offset <= self.end:
            raise BrokerError(codes.OFFSET_OUT_OF_RANGE)
        self.start = max(self.start, offset)
        while self._segments and self._segments[0].next_offset <= self.start:
            self._drop(0)
        return self.start

    def _rolled(self) -> list[int]:
        """Return the sizes of the segments that Kafka would have, by `segment.bytes`; ours are smaller."""
        most, sizes = self._segment_bytes(), [0]
        for segment in self._segments:
            if sizes[-1] + segment.used > most and sizes[-1]:
                sizes.append(0)
            sizes[-1] += segment.used
        return sizes

    def keep_bytes(self, limit: int) -> None:
        """Delete the oldest segments while at least `limit` bytes remain, but never the active one: retention.bytes."""
        for size in self._rolled()[:-1]:
            if self.size - size < limit:
                return
            kept = self.size - size
            while self.size > kept:
                self.start = max(self.start, self._segments[0].next_offset)
                self._drop(0)

    def truncate(self, offset: int) -> None:
        """Lose everything from `offset` on, as in an unclean leader election."""
        while self._segments and self._segments[-1].base_offset >= offset:
            self._drop(-1)
        if self._segments:
            self._segments[-1].cut(offset)
        self.end = self._segments[-1].next_offset if self._segments else min(offset, self.end)
        self.start = min(self.start, self.end)
        self.size = sum(segment.used for segment in self._segments)
        self._active = self._rolled()[-1]  # bytes of the active segment
        self.aborted_index = AbortedIndex()
        self._count_transactions()

    def _drop(self, which: int) -> None:
        segment = self._segments.pop(which)
        self._bases.pop(which)
        self.size -= segment.used
        self.aborted_index.forget_before(self.start)
        if not self._segments:
            self._active = 0
        segment.delete()

    def close(self) -> None:
        for segment in self._segments:
            segment.close()

    def delete(self) -> None:
        """Remove all segments and their storage."""
        while self._segments:
            self._drop(-1)
        self._store.delete()


class Aborted(NamedTuple):
    """Offsets `first` to `marker` of a producer were aborted; below `stable` all was decided by then."""

    producer_id: int
    first: int
    marker: int
    stable: int


DECIDES = CONTROL | TRANSACTIONAL
TYPE_AT = 7  # in the records of a marker: 5 bytes before the key, whose second int16 is the type (F.3)


class AbortedIndex:
    """`open` maps a producer id to the first offset of its transaction, the oldest first."""

    def __init__(self) -> None:
        self.open: dict[int, int] = {}
        self._aborted: list[Aborted] = []  # sorted by marker
        self._markers: list[int] = []

    def note(self, header: Header, body: Buffer) -> None:
        """Count a batch with the transactional bit; `body` is what follows its header."""
        producer = header.producer_id
        if header.attributes & DECIDES != DECIDES:
            self.open.setdefault(producer, header.base_offset)
            return
        first = self.open.pop(producer, None)
        if first is not None and int.from_bytes(body[TYPE_AT : TYPE_AT + 2], "big") == 0:
            stable = self.stable(header.base_offset + 1)
            self._aborted.append(Aborted(producer, first, header.base_offset, stable))
            self._markers.append(header.base_offset)

    def stable(self, end: int) -> int:
        """The last stable offset of a log that ends at `end`: everything before it is decided."""
        return next(iter(self.open.values()), end)

    def aborted(self, start: int, stop: int) -> list[Aborted]:
        """The aborted transactions with offsets in [start, stop)."""
        matched: list[Aborted] = []
        for at in range(bisect_left(self._markers, start), len(self._markers)):
            aborted = self._aborted[at]
            if aborted.first < stop:
                matched.append(aborted)
            if aborted.stable >= stop:  # everything aborted later began at or after it
                break
        return matched

    def forget_before(self, start: int) -> None:
        """The log begins at `start` now."""
        gone = bisect_left(self._markers, start)
        del self._aborted[:gone], self._markers[:gone]


def offset_at(partition: Partition, timestamp: int, *, committed: bool) -> Found:
    """(offset, timestamp, leader epoch) of the first record at or after `timestamp` (ms), or for one of the special
    values. With `committed` the log ends at the last stable offset. Offset -1 without one."""
    log = partition.log
    end = log.stable if committed else log.end
    if timestamp in (EARLIEST, EARLIEST_LOCAL):
        epoch = log.epoch_at(log.start)
        return log.start, -1, partition.leader_epoch if epoch < 0 else epoch
    if timestamp == LATEST:
        return end, -1, partition.leader_epoch
    if timestamp in (LATEST_TIERED, EARLIEST_PENDING):
        return NOTHING
    if timestamp == MAX_TIMESTAMP:
        timestamp = max((segment.times[row] for segment, row in log.batches() if _kept(log, segment, row)), default=-1)
        if timestamp < 0:
            return NOTHING
    position = _search(log, timestamp)
    return position if position[0] < end else NOTHING


def _kept(log: Log, segment: Segment, row: int) -> bool:
    """Whether a reader may still need something of the batch."""
    after = segment.bases[row + 1] if row + 1 < len(segment.bases) else segment.next_offset
    return after > log.start


def _search(log: Log, timestamp: int) -> Found:
    for segment, row in log.batches():
        if segment.times[row] >= timestamp and _kept(log, segment, row):
            position = _record_at(log, segment, row, timestamp)
            if position is not None:
                return position
    return NOTHING


def _record_at(log: Log, segment: Segment, row: int, timestamp: int) -> Found | None:
    from kcli.proto.batch import read_batches

    for batch in read_batches(segment.view[segment.start_of(row) : segment.ends[row]], check_crcs=False):
        columns = batch.columns()
        for offset, at in zip(columns.offsets, columns.timestamps, strict=True):
            if at >= timestamp and offset >= log.start:
                return int(offset), int(at), segment.epochs[row]
    return None
