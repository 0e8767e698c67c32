"""A partition's log: encoded batches as they came, with base offset and leader epoch put in (the CRC starts after
them). A fetch is a slice of a segment: no record and no byte is looked at."""

from __future__ import annotations

from bisect import bisect_right

from kcli import codes
from kcli.errors import BrokerError
from kcli.sandbox.batches import SIZE, Header
from kcli.sandbox.segment import LARGEST, SMALLEST

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from kcli.proto.schema import Buffer
    from kcli.sandbox.segment import Segment, Store

EARLIEST, LATEST, MAX_TIMESTAMP, EARLIEST_LOCAL, LATEST_TIERED, EARLIEST_PENDING = -2, -1, -3, -4, -5, -6


class Log:
    """`start` is the first offset readers may have, `end` the next one to be written (and the high watermark: one
    process has no replicas to wait for)."""

    def __init__(self, store: Store, start: int = 0) -> None:
        self._store = store
        self._segments = store.load()
        self._bases = [segment.base_offset for segment in self._segments]
        self.end = self._segments[-1].next_offset if self._segments else start
        first = self._segments[0].base_offset if self._segments else start
        self.start = min(max(start, first), self.end)
        self.size = sum(segment.used for segment in self._segments)

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
        return header.base_offset

    def _segment_for(self, size: int) -> Segment:
        if self._segments and self._segments[-1].room >= size:
            return self._segments[-1]
        grown = SMALLEST if not self._segments else min(len(self._segments[-1].view) * 4, LARGEST)
        segment = self._store.create(self.end, max(grown, size))
        self._segments.append(segment)
        self._bases.append(segment.base_offset)
        return segment

    def read(self, offset: int, limit: int, *, oversize: bool) -> memoryview | None:
        """Whole batches from the one that holds `offset`, at most `limit` bytes, at least one with `oversize`.
        None at the end of the log. Raises BrokerError OFFSET_OUT_OF_RANGE."""
        if not self.start <= offset <= self.end:
            raise BrokerError(codes.OFFSET_OUT_OF_RANGE)
        if offset == self.end:
            return None
        return self._segments[self._holding(offset)].read(offset, limit, oversize)

    def _holding(self, offset: int) -> int:
        return max(bisect_right(self._bases, offset) - 1, 0)

    def ahead(self, offset: int) -> int:
        """How many bytes a reader at `offset` has before it; for min_bytes."""
        if offset >= self.end or offset < self.start:
            return 0
        at = self._holding(offset)
        segment = self._segments[at]
        here = segment.used - segment.start_of(segment.row_of(offset))
        return here + sum(later.used for later in self._segments[at + 1 :])

    def batches(self) -> Iterator[tuple[Segment, int]]:
        """Every batch, as its segment and row."""
        for segment in self._segments:
            for row in range(len(segment.bases)):
                yield segment, row

    def headers(self) -> Iterator[Header]:
        for segment, row in self.batches():
            yield Header(segment.view, segment.start_of(row))

    def lookup(self, timestamp: int) -> tuple[int, int, int]:
        """(offset, timestamp, leader epoch) of the first record at or after `timestamp` (ms), or for one of the
        special values EARLIEST … LATEST_TIERED. Offset -1 when there is none."""
        if timestamp in (EARLIEST, EARLIEST_LOCAL):
            return self.start, -1, self.epoch_at(self.start)
        if timestamp == LATEST:
            return self.end, -1, self.epoch_at(self.end)
        if timestamp in (LATEST_TIERED, EARLIEST_PENDING):
            return -1, -1, -1
        if timestamp == MAX_TIMESTAMP:
            timestamp = max((max(s.times) for s in self._segments if s.times), default=-1)
            if timestamp < 0:
                return -1, -1, -1
        for segment in self._segments:
            for row, newest in enumerate(segment.times):
                if newest >= timestamp and (found := self._record_at(segment, row, timestamp)) is not None:
                    return found
        return -1, -1, -1

    def _record_at(self, segment: Segment, row: int, timestamp: int) -> tuple[int, int, int] | None:
        from kcli.proto.batch import read_batches

        for batch in read_batches(segment.view[segment.start_of(row) : segment.ends[row]], check_crcs=False):
            columns = batch.columns()
            for offset, at in zip(columns.offsets, columns.timestamps, strict=True):
                if at >= timestamp and offset >= self.start:
                    return int(offset), int(at), segment.epochs[row]
        return None

    def epoch_at(self, offset: int) -> int:
        """The leader epoch of the batch that holds `offset`, of the last one at the end; -1 for an empty log."""
        if not self._segments:
            return -1
        segment = self._segments[self._holding(offset)]
        return segment.epochs[segment.row_of(offset)] if segment.epochs else -1

    def epoch_end(self, epoch: int, current: int) -> tuple[int, int]:
        """(largest epoch ≤ `epoch` known here, the offset where it ended); (-1, -1) when unknown (KIP-320)."""
        if epoch > current:
            return -1, -1
        if epoch == current:
            return current, self.end
        best = -1
        for segment, row in self.batches():
            if segment.epochs[row] > epoch:
                return best, segment.bases[row]
            best = segment.epochs[row]
        return (best, self.end) if best >= 0 else (-1, -1)

    def delete_before(self, offset: int) -> int:
        """Move the start to `offset` (-1: the end) and free whole segments before it. Returns the new start.
        Raises BrokerError OFFSET_OUT_OF_RANGE."""
        offset = self.end if offset == -1 else offset
        if not 0 <= offset <= self.end:
            raise BrokerError(codes.OFFSET_OUT_OF_RANGE)
        self.start = max(self.start, offset)
        while self._segments and self._segments[0].next_offset <= self.start:
            self._drop(0)
        return self.start

    def keep_bytes(self, limit: int) -> None:
        """Delete the oldest segments while more than `limit` bytes would stay: retention.bytes."""
        while len(self._segments) > 1 and self.size - self._segments[0].used >= limit:
            self.start = max(self.start, self._segments[0].next_offset)
            self._drop(0)

    def truncate(self, offset: int) -> None:
        """Lose everything from `offset` on, as an unclean leader election does."""
        while self._segments and self._segments[-1].base_offset >= offset:
            self._drop(-1)
        if self._segments:
            self._segments[-1].cut(offset)
        self.end = self._segments[-1].next_offset if self._segments else min(offset, self.end)
        self.start = min(self.start, self.end)
        self.size = sum(segment.used for segment in self._segments)

    def _drop(self, which: int) -> None:
        segment = self._segments.pop(which)
        self._bases.pop(which)
        self.size -= segment.used
        segment.delete()

    def close(self) -> None:
        for segment in self._segments:
            segment.close()

    def delete(self) -> None:
        """Remove all segments and the place they lived in."""
        while self._segments:
            self._drop(-1)
        self._store.delete()
