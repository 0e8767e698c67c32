"""A partition's log: encoded batches as they came, with base offset and leader epoch put in (the CRC starts after
them). A fetch is a slice of a segment: no record and no byte is looked at."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.buffer import Buffer
from kcli.sandbox.log.aborted_index import AbortedIndex
from kcli.sandbox.log.batches import SIZE, TRANSACTIONAL, Header
from kcli.sandbox.log.segment import LARGEST, SMALLEST, Segment, Store


class Log:
    """`start` is the first offset readers may have, `end` the next one to be written (and the high watermark: one
    process has no replicas to wait for), `stable` the first offset whose transaction is open, else `end`."""

    def __init__(self, store: Store, start: int = 0) -> None:
        self._store = store
        self._segments = store.load()
        self._bases = [segment.base_offset for segment in self._segments]
        self.end = self._segments[-1].next_offset if self._segments else start
        first = self._segments[0].base_offset if self._segments else start
        self.start = min(max(start, first), self.end)
        self.size = sum(segment.used for segment in self._segments)
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
        if header.attributes & TRANSACTIONAL:
            self.aborted_index.note(header, body)
        return header.base_offset

    def _segment_for(self, size: int) -> Segment:
        if self._segments and self._segments[-1].room >= size:
            return self._segments[-1]
        grown = SMALLEST if not self._segments else min(len(self._segments[-1].view) * 4, LARGEST)
        segment = self._store.create(self.end, max(grown, size))
        self._segments.append(segment)
        self._bases.append(segment.base_offset)
        return segment

    def read(self, offset: int, limit: int, *, oversize: bool, stop: int | None = None) -> memoryview | None:
        """Whole batches from the one that holds `offset`, at most `limit` bytes, at least one with `oversize`, none at
        or after the offset `stop`. None at the end of what may be read. Raises BrokerError OFFSET_OUT_OF_RANGE."""
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
        """The offset behind the `size` bytes that `read` gave for `offset`."""
        segment = self._segments[self._holding(offset)]
        row = bisect_right(segment.ends, segment.start_of(segment.row_of(offset)) + size)
        return segment.bases[row] if row < len(segment.bases) else segment.next_offset

    def _holding(self, offset: int) -> int:
        at = max(bisect_right(self._bases, offset) - 1, 0)
        if at + 1 < len(self._segments) and offset >= self._segments[at].next_offset:
            return at + 1  # in a gap that compaction has left
        return at

    def ahead(self, offset: int, stop: int) -> int:
        """How many bytes a reader at `offset` has before it, up to the offset `stop`; for min_bytes."""
        if offset >= stop or offset < self.start:
            return 0
        at = self._holding(offset)
        size = sum(segment.used for segment in self._segments[at:]) - self._before(at, offset)
        if stop < self.end:
            last = self._holding(stop)
            size -= sum(segment.used for segment in self._segments[last:]) - self._before(last, stop)
        return size

    def _before(self, at: int, offset: int) -> int:
        """Bytes of a segment before the batch that holds `offset`."""
        segment = self._segments[at]
        return segment.start_of(segment.row_of(offset))

    def batches(self) -> Iterator[tuple[Segment, int]]:
        """Every batch, as its segment and row."""
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
        if not 0 <= epoch <= current:
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
        self.aborted_index = AbortedIndex()
        self._count_transactions()

    def _drop(self, which: int) -> None:
        segment = self._segments.pop(which)
        self._bases.pop(which)
        self.size -= segment.used
        self.aborted_index.forget_before(self.start)
        segment.delete()

    def close(self) -> None:
        for segment in self._segments:
            segment.close()

    def delete(self) -> None:
        """Remove all segments and the place they lived in."""
        while self._segments:
            self._drop(-1)
        self._store.delete()
