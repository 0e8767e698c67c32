"""Segments on disk: a directory for each partition, with a file for each segment.

A batch is in the page cache before it is acknowledged: it survives the death of the process (kill -9), not that of the
machine: only `close` calls fsync.
"""

from __future__ import annotations

import os
from pathlib import Path

from kcli.proto.buffer import Buffer
from kcli.sandbox.log.batches import SIZE, Header, checksum
from kcli.sandbox.log.segment import SMALLEST, Segment, blank
from kcli.system.files import BINARY, NOFOLLOW


class DiskSegment(Segment):
    """A segment that has an open `file` at `path`."""

    path: Path
    file: int

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
        """Have nothing in the file from `at` on."""
        raise NotImplementedError

    def close(self) -> None:
        if self.file >= 0:
            os.fsync(self.file)
            os.close(self.file)
            self.file = -1

    def delete(self) -> None:
        self.close()
        self.path.unlink(missing_ok=True)


class FileSegment(DiskSegment):
    """A segment in a sparse file, written at positions and read through a map of the same page cache."""

    def __init__(self, base_offset: int, path: Path, size: int) -> None:
        from mmap import ACCESS_READ, mmap

        self.path = path
        self.file = os.open(path, os.O_RDWR | os.O_CREAT | NOFOLLOW | BINARY, 0o600)
        size = max(size, os.fstat(self.file).st_size, SMALLEST)
        os.ftruncate(self.file, size)
        super().__init__(base_offset, memoryview(mmap(self.file, size, access=ACCESS_READ)))

    def _write(self, at: int, head: bytes, body: Buffer) -> None:
        wrote = os.pwritev(self.file, [head, body], at)
        total = len(head) + len(body)
        while wrote < total:
            rest = memoryview(head + bytes(body))[wrote:]
            wrote += os.pwrite(self.file, rest, at + wrote)

    def _wipe(self, at: int) -> None:
        size = len(self.view)
        if any(self.view[at : at + SIZE]):
            os.ftruncate(self.file, at)
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
        self.file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL | NOFOLLOW | BINARY, 0o600)
        os.ftruncate(self.file, size)
        os.pwrite(self.file, data, 0)
        self.view = memoryview(mmap(self.file, size, access=ACCESS_READ))


class CopiedSegment(DiskSegment):
    """A segment in a file, with a copy in memory: Windows has no write at a position, and neither cuts nor removes a
    file that is mapped."""

    def __init__(self, base_offset: int, path: Path, size: int) -> None:
        self.path = path
        self.file = os.open(path, os.O_RDWR | os.O_CREAT | NOFOLLOW | BINARY, 0o600)
        written = os.fstat(self.file).st_size
        super().__init__(base_offset, blank(max(size, written, SMALLEST)))
        with open(self.file, "rb", closefd=False) as file:
            file.readinto(self.view[:written])

    def _write(self, at: int, head: bytes, body: Buffer) -> None:
        os.lseek(self.file, at, os.SEEK_SET)
        rest = memoryview(head + bytes(body))
        while rest:
            rest = rest[os.write(self.file, rest) :]
        super()._write(at, head, body)

    def _wipe(self, at: int) -> None:
        os.ftruncate(self.file, at)
        self.view[at:] = bytes(len(self.view) - at)

    def _forget_from(self, row: int) -> None:
        if row < len(self.bases):
            super()._forget_from(row)
            os.ftruncate(self.file, self.used)


SEGMENT: type[FileSegment | CopiedSegment] = FileSegment if hasattr(os, "pwritev") else CopiedSegment


class FileStore:
    """A partition's directory: one file per segment, named by its base offset as Kafka does."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def create(self, base_offset: int, size: int) -> Segment:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return SEGMENT(base_offset, self.folder / f"{base_offset:020d}.log", size)

    def load(self) -> list[Segment]:
        """The segments found, in order, as far as each continues the one before."""
        segments: list[Segment] = []
        if not self.folder.is_dir() or self.folder.is_symlink():
            return segments
        for path in sorted(self.folder.glob("*.log")):
            if not (path.stem.isdigit() and len(path.stem) == 20) or path.is_symlink():
                continue
            segment = SEGMENT(int(path.stem), path, 0)
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
