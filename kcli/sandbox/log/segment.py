"""A segment: one buffer of fixed size that is only appended to, so any part of it can be sent directly.

In memory it is anonymous memory (untouched pages cost nothing); for disks see recovery.py. Bytes never change once
written, so slices can be returned.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from struct import Struct
from typing import Protocol

from kcli.proto.buffer import Buffer
from kcli.sandbox.log.batches import SIZE, Header


class Store(Protocol):
    """The storage of a log's segments."""

    def create(self, base_offset: int, size: int) -> Segment: ...
    def load(self) -> list[Segment]: ...
    def delete(self) -> None: ...


_LAST_DELTA = Struct(">i")
SMALLEST, LARGEST = 128 * 1024, 64 * 1024 * 1024


class Segment:
    """Consecutive batches, and the position of each."""

    def __init__(self, base_offset: int, view: memoryview) -> None:
        self.base_offset = base_offset
        self.next_offset = base_offset
        self.view = view
        self.bases = array("q")  # first offset of each batch
        self.ends = array("q")  # where each batch ends in the view
        self.times = array("q")  # max timestamp of each batch
        self.epochs = array("i")  # leader epoch of each batch

    @property
    def used(self) -> int:
        return self.ends[-1] if self.ends else 0

    @property
    def room(self) -> int:
        return len(self.view) - self.used

    def append(self, header: Header, body: Buffer) -> None:
        """Add a batch: its (stamped) header and the rest. Raises OSError, and then nothing was added."""
        at = self.used
        self._write(at, header.pack(), body)
        self._index(header, at + header.size)

    def _write(self, at: int, head: bytes, body: Buffer) -> None:
        self.view[at : at + SIZE] = head
        self.view[at + SIZE : at + SIZE + len(body)] = body

    def _index(self, header: Header, end: int) -> None:
        self.bases.append(header.base_offset)
        self.ends.append(end)
        self.times.append(header.max_timestamp)
        self.epochs.append(header.leader_epoch)
        self.next_offset = header.base_offset + header.last_offset_delta + 1

    def start_of(self, row: int) -> int:
        return self.ends[row - 1] if row else 0

    def row_of(self, offset: int) -> int:
        """Return the batch with `offset`, or the next one in a gap left by compaction; the last one at the end."""
        row = max(bisect_right(self.bases, offset) - 1, 0)
        if row + 1 < len(self.bases):
            (delta,) = _LAST_DELTA.unpack_from(self.view, self.start_of(row) + 23)
            if self.bases[row] + delta < offset:
                return row + 1
        return row

    def read(self, offset: int, limit: int, oversize: bool) -> memoryview:
        """Return whole batches from the one with `offset` on, at most `limit` bytes; with `oversize` at least one."""
        row = self.row_of(offset)
        start = self.start_of(row)
        last = bisect_right(self.ends, start + limit) - 1
        if last < row:
            if not oversize:
                return self.view[0:0]
            last = row
        return self.view[start : self.ends[last]].toreadonly()

    def cut(self, offset: int) -> None:
        """Drop the batches from `offset` on, including one that contains it."""
        row = bisect_left(self.bases, offset)
        if row and offset < (self.bases[row] if row < len(self.bases) else self.next_offset):
            row -= 1
        self._forget_from(row)

    def _forget_from(self, row: int) -> None:
        if row >= len(self.bases):
            return
        # Slices returned earlier may still be in transmission, so the bytes are copied, not overwritten.
        self.next_offset = self.bases[row]
        kept = self.start_of(row)
        for column in (self.bases, self.ends, self.times, self.epochs):
            del column[row:]
        fresh = blank(len(self.view))
        fresh[:kept] = self.view[:kept]
        self.view = fresh

    def close(self) -> None:
        """Nothing to release in memory."""

    def delete(self) -> None:
        """Nothing to remove in memory."""


def blank(size: int) -> memoryview:
    """Zeroed memory. A bytearray would touch every page at once; a large segment is touched as it fills."""
    if size <= SMALLEST:
        return memoryview(bytearray(size))
    import mmap

    if hasattr(mmap, "MAP_PRIVATE") and hasattr(mmap, "MAP_ANONYMOUS"):
        return memoryview(mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
    return memoryview(mmap.mmap(-1, size))


class MemoryStore:
    """Segments that end with the process."""

    def create(self, base_offset: int, size: int) -> Segment:
        return Segment(base_offset, blank(size))

    def load(self) -> list[Segment]:
        return []

    def delete(self) -> None:
        """Nothing outside memory."""
