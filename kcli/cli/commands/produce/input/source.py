"""Input in large chunks without blocking the loop: a slow pipe or a terminal is read as it comes."""

from __future__ import annotations

import asyncio
import os
import stat

from kcli.errors import KcliError
from kcli.system import files, pipes
from kcli.tasks import ThreadReader

CHUNK = 1 << 20
PACKED = 64 * 1024  # bytes of compressed input that are read at once


class Source:
    """One open input. `name` is for messages; `size` is its bytes when that is known, `taken` what was read of them.
    With `unpack`, gzip and zstd are unpacked while they are read."""

    def __init__(self, path: str, *, unpack: bool = False) -> None:
        self.name = "stdin" if path == "-" else path
        self._fd = 0 if path == "-" else _open(path)
        status = os.fstat(self._fd)
        if stat.S_ISDIR(status.st_mode):
            os.close(self._fd)
            raise KcliError(f"{path} is a directory")
        self._into = pipes.reader(self._fd)
        self._waits = not stat.S_ISREG(status.st_mode)
        self.size = status.st_size if stat.S_ISREG(status.st_mode) else None
        self.taken = 0
        self._thread: ThreadReader | None = None
        self._look = unpack  # at the first bytes
        self._unpacker: Unpacker | None = None
        self._left = b""  # unpacked, not taken yet
        self._over = False  # all that is compressed was read
        if stat.S_ISFIFO(status.st_mode):
            pipes.widen(self._fd)

    async def fill(self, room: memoryview) -> int:
        """Read what is there, at most the room; 0 at the end. Safe to cancel: nothing read is lost. Raises KcliError
        for compressed input that is damaged."""
        if self._unpacker is not None:
            return await self._unpack(room)
        got = await self._read(room)
        if not self._look:
            return got
        from kcli.cli.commands.produce.input.unpacking import may_be_packed, unpacker

        while got and may_be_packed(bytes(room[: min(got, 4)])):
            with room[got:] as rest:
                if not (more := await self._read(rest)):
                    break
                got += more
        self._look = False
        self._unpacker = unpacker(bytes(room[:4]))
        if self._unpacker is None:
            return got
        self._unpacker.feed(bytes(room[:got]))
        return await self._unpack(room)

    async def _unpack(self, room: memoryview) -> int:
        assert self._unpacker is not None
        piece = bytearray(PACKED)
        try:
            while not self._left:
                self._left = self._unpacker.more()
                if self._left or self._over:
                    break
                with memoryview(piece) as place:
                    got = await self._read(place)
                if got:
                    self._unpacker.feed(bytes(piece[:got]))
                else:
                    self._unpacker.end()
                    self._over = True
        except ValueError as problem:
            raise KcliError(f"{self.name} {problem}") from None
        count = min(len(room), len(self._left))
        room[:count], self._left = self._left[:count], self._left[count:]
        return count

    async def _read(self, room: memoryview) -> int:
        got = await self._read_some(room)
        self.taken += got
        return got

    async def _read_some(self, room: memoryview) -> int:
        if self._waits:
            await self._readable()
        else:
            await asyncio.sleep(0)  # a file is always ready: let the senders have their turn
        if self._thread is not None:
            return await self._thread.into(room)
        return self._into(room) or 0

    async def _readable(self) -> None:
        loop = asyncio.get_running_loop()
        ready = loop.create_future()
        try:
            loop.add_reader(self._fd, lambda: None if ready.done() else ready.set_result(None))
        except (PermissionError, OSError):
            self._waits = False  # no readiness for this kind of file (/dev/null): reads never wait
            return
        except NotImplementedError:  # Windows' loop waits for sockets only
            self._waits, self._thread = False, ThreadReader(self._into)
            return
        try:
            await ready
        finally:
            loop.remove_reader(self._fd)

    async def blocks(self, delimiter: bytes, limit: int) -> AsyncIterator[tuple[bytearray, int]]:
        """(buffer, end): the whole records in buffer[:end], each with its delimiter; the last one gets
        the delimiter that it lacks. `records_of` takes them apart. The buffer is reused. Raises KcliError for a record
        longer than `limit`."""
        buffer = bytearray(CHUNK)
        have = 0
        while True:
            if have == len(buffer):
                if have > limit:
                    raise KcliError(f"{self.name} has a record of more than {limit} bytes; see -X max.request.size")
                buffer.extend(bytes(len(buffer)))
            with memoryview(buffer) as whole, whole[have:] as room:
                got = await self.fill(room)
            if not got:
                break
            end = have + got
            stop = whole_records(buffer, have, end, delimiter)
            if not stop:
                have = end
                continue
            yield buffer, stop
            have = end - stop
            buffer[:have] = buffer[stop:end]
        if have:
            buffer[have:] = delimiter
            yield buffer, have + len(delimiter)

    async def chunks(self) -> AsyncIterator[bytes]:
        """The input in pieces, wherever they are cut."""
        piece = bytearray(CHUNK)
        while True:
            with memoryview(piece) as room:
                got = await self.fill(room)
            if not got:
                return
            yield bytes(piece[:got])

    async def everything(self, limit: int) -> bytes:
        """The whole input as one value. Raises KcliError when it is longer than `limit`."""
        out = bytearray()
        piece = bytearray(CHUNK)
        while True:
            with memoryview(piece) as room:
                got = await self.fill(room)
            if not got:
                return bytes(out)
            out += piece[:got]
            if len(out) > limit:
                raise KcliError(
                    f"{self.name} is larger than the largest record ({limit} bytes; see -X max.request.size)"
                )

    def close(self) -> None:
        if self._fd > 0:
            os.close(self._fd)
            self._fd = -1


def _open(path: str) -> int:
    """A named pipe opens when another process writes to it; until then this process does nothing else: a signal has
    to end it. Nothing was read, so nothing was sent."""
    files.refuse_device(path)
    if not stat.S_ISFIFO(os.stat(path).st_mode):
        return os.open(path, os.O_RDONLY | files.BINARY)
    import signal

    from kcli.system.signals import ENDING

    ours = [(number, signal.getsignal(number)) for number in ENDING]
    for number, handler in ours:
        if handler is not signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    try:
        return os.open(path, os.O_RDONLY | files.BINARY)
    finally:
        for number, handler in ours:
            signal.signal(number, handler)


def whole_records(buffer: bytearray, have: int, end: int, delimiter: bytes) -> int:
    """Return where the last whole record of buffer[:end] ends, 0 if there is none. Delimiters are matched from the
    left; none ends in the first `have` bytes, which were searched before."""
    last = buffer.rfind(delimiter, max(0, have - len(delimiter) + 1), end)
    if last < 0:
        return 0
    if delimiter.find(delimiter[:1], 1) < 0:  # no two matches can overlap
        return last + len(delimiter)
    return end - len(bytes(buffer[:end]).split(delimiter)[-1])


def records_of(buffer: bytes | bytearray, start: int, end: int, delimiter: bytes) -> list[bytes]:
    """Return the records of a part of a block that ends with a delimiter. That one is cut off first: a missing last
    delimiter was added, and the bytes before it can look like a delimiter together with it."""
    return bytes(buffer[start : end - len(delimiter)]).split(delimiter)


def after_lines(buffer: bytearray, start: int, end: int, delimiter: bytes, count: int) -> int:
    """Where the line after the next `count` begins, `end` if there are fewer. Found by halving: no step per
    line."""
    if buffer.count(delimiter, start, end) <= count:
        return end
    low, high, before = start, end, 0  # `before` lines end up to low; more than count end up to high
    while high - low > 1:
        middle = (low + high) // 2
        more = buffer.count(delimiter, low, middle)
        if before + more < count:
            low, before = middle, before + more
        else:
            high = middle
    return high


TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from kcli.cli.commands.produce.input.unpacking import Unpacker
