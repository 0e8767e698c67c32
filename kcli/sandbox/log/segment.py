"""A segment: one buffer of fixed size that is only written behind its end, so any part of it may be sent as it lies.

In memory it is anonymous memory (untouched pages cost nothing). On disk it is a sparse file, written with write()
and read through a map of the same page cache. Bytes once written never change; that is why slices are handed out.
"""

from __future__ import annotations

import os
from array import array
from bisect import bisect_left, bisect_right
from pathlib import Path
from struct import Struct
from typing import Protocol

from kcli.proto.buffer import Buffer
from kcli.sandbox.log.batches import SIZE, Header, checksum


class Store(Protocol):
    """Where a log's segments live."""

    def create(self, base_offset: int, size: int) -> Segment: ...
    def load(self) -> list[Segment]: ...
    def delete(self) -> None: ...


_LAST_DELTA = Struct(">i")
SMALLEST, LARGEST = 128 * 1024, 64 * 1024 * 1024


class Segment:
    """Batches one after the other, and where each of them lies."""

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
        """Add a batch: its (stamped) header and what follows. Raises OSError, and then nothing was added."""
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
        """The batch that holds `offset`, or the next one where compaction has left a gap; the last one at the end."""
        row = max(bisect_right(self.bases, offset) - 1, 0)
        if row + 1 < len(self.bases):
            (delta,) = _LAST_DELTA.unpack_from(self.view, self.start_of(row) + 23)
            if self.bases[row] + delta < offset:
                return row + 1
        return row

    def read(self, offset: int, limit: int, oversize: bool) -> memoryview:
        """Whole batches from the one that holds `offset`, at most `limit` bytes; with `oversize` at least one."""
        row = self.row_of(offset)
        start = self.start_of(row)
        last = bisect_right(self.ends, start + limit) - 1
        if last < row:
            if not oversize:
                return self.view[0:0]
            last = row
        return self.view[start : self.ends[last]].toreadonly()

    def cut(self, offset: int) -> None:
        """Forget the batches from `offset` on (a batch that holds it goes too): truncation."""
        row = bisect_left(self.bases, offset)
        if row and offset < (self.bases[row] if row < len(self.bases) else self.next_offset):
            row -= 1
        self._forget_from(row)

    def _forget_from(self, row: int) -> None:
        if row >= len(self.bases):
            return
        # Slices already handed out may still be on their way to a reader, so the bytes are copied, not overwritten.
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


class FileSegment(Segment):
    """A segment in a file. A batch is in the page cache before it is acknowledged: it survives the death of the
    process (kill -9), not that of the machine: only `close` calls fsync."""

    def __init__(self, base_offset: int, path: Path, size: int) -> None:
        from mmap import ACCESS_READ, mmap

        self.path = path
        self.file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        size = max(size, os.fstat(self.file).st_size, SMALLEST)
        os.ftruncate(self.file, size)
        super().__init__(base_offset, memoryview(mmap(self.file, size, access=ACCESS_READ)))

    def _write(self, at: int, head: bytes, body: Buffer) -> None:
        wrote = os.pwritev(self.file, [head, body], at)
        total = len(head) + len(body)
        while wrote < total:
            rest = memoryview(head + bytes(body))[wrote:]
            wrote += os.pwrite(self.file, rest, at + wrote)

    def recover(self) -> bool:
        """Index the valid batches and cut the torn tail off. True when the segment is empty of batches."""
        at, expected = 0, self.base_offset
        while at + SIZE <= len(self.view):
            header = Header(self.view, at)
            end = at + header.size
            whole = header.magic == 2 and header.length >= SIZE - 12 and end <= len(self.view)
            if not whole or header.base_offset < expected or checksum(self.view[at + 21 : end]) != header.crc:
                break
            self._index(header, end)
            at, expected = end, self.next_offset
        self._wipe(at)
        return not self.ends

    def _wipe(self, at: int) -> None:
        size = len(self.view)
        if any(self.view[at : at + SIZE]):
            self._shrink(at)
            os.ftruncate(self.file, size)

    def _shrink(self, size: int) -> None:
        os.ftruncate(self.file, size)

    def _forget_from(self, row: int) -> None:
        from mmap import ACCESS_READ, mmap

        if row >= len(self.bases):
            return
        kept, size = self.start_of(row), len(self.view)
        self.next_offset = self.bases[row]
        for column in (self.bases, self.ends, self.times, self.epochs):
            del column[row:]
        data = bytes(self.view[:kept])
        os.close(self.file)
        self.path.unlink()
        self.file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        os.ftruncate(self.file, size)
        os.pwrite(self.file, data, 0)
        self.view = memoryview(mmap(self.file, size, access=ACCESS_READ))

    def close(self) -> None:
        if self.file >= 0:
            os.fsync(self.file)
            os.close(self.file)
            self.file = -1

    def delete(self) -> None:
        self.close()
        self.path.unlink(missing_ok=True)


class FileStore:
    """A partition's directory: one file per segment, named by its base offset as Kafka does."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def create(self, base_offset: int, size: int) -> Segment:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return FileSegment(base_offset, self.folder / f"{base_offset:020d}.log", size)

    def load(self) -> list[Segment]:
        """The segments found, in order, as far as each continues the one before."""
        segments: list[Segment] = []
        if not self.folder.is_dir() or self.folder.is_symlink():
            return segments
        for path in sorted(self.folder.glob("*.log")):
            if not (path.stem.isdigit() and len(path.stem) == 20) or path.is_symlink():
                continue
            segment = FileSegment(int(path.stem), path, 0)
            empty = segment.recover()
            if empty or (segments and segment.base_offset < segments[-1].next_offset):
                segment.delete()
            else:
                segments.append(segment)
        return segments

    def delete(self) -> None:
        """Remove the directory, which `Segment.delete` has emptied."""
        if self.folder.is_dir() and not self.folder.is_symlink():
            self.folder.rmdir()
