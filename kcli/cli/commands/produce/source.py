"""Input in large chunks without blocking the loop: a slow pipe or a terminal is read as it comes."""

from __future__ import annotations

import asyncio
import os
import stat

from kcli.errors import KcliError

CHUNK = 1 << 20
_F_SETPIPE_SZ = 1031


class Source:
    """One open input. `name` is for messages; `size` is its bytes when that is known."""

    def __init__(self, path: str) -> None:
        self.name = "stdin" if path == "-" else path
        self._fd = 0 if path == "-" else _open(path)
        status = os.fstat(self._fd)
        if stat.S_ISDIR(status.st_mode):
            os.close(self._fd)
            raise KcliError(f"{path} is a directory")
        self._waits = not stat.S_ISREG(status.st_mode)
        self.size = status.st_size if stat.S_ISREG(status.st_mode) else None
        if stat.S_ISFIFO(status.st_mode):
            widen_pipe(self._fd)

    async def fill(self, room: memoryview) -> int:
        """Read what is there, at most the room; 0 at the end. Safe to cancel: nothing read is lost."""
        if self._waits:
            await self._readable()
        else:
            await asyncio.sleep(0)  # a file is always ready: let the senders have their turn
        return os.readv(self._fd, [room])

    async def _readable(self) -> None:
        loop = asyncio.get_running_loop()
        ready = loop.create_future()
        try:
            loop.add_reader(self._fd, lambda: None if ready.done() else ready.set_result(None))
        except (PermissionError, OSError):
            self._waits = False  # no readiness for this kind of file (/dev/null): reads never wait
            return
        try:
            await ready
        finally:
            loop.remove_reader(self._fd)

    async def blocks(self, delimiter: bytes, limit: int) -> AsyncIterator[tuple[bytearray, int]]:
        """(buffer, end): the whole records that stand in buffer[:end], each with its delimiter; the last one gets
        the delimiter that it lacks. The buffer is reused. Raises KcliError for a record longer than `limit`."""
        buffer = bytearray(CHUNK)
        have = 0
        while True:
            if have == len(buffer):
                if have > limit:
                    raise KcliError(f"{self.name} has a record of more than {limit} bytes")
                buffer.extend(bytes(len(buffer)))
            with memoryview(buffer) as whole, whole[have:] as room:
                got = await self.fill(room)
            if not got:
                break
            end = have + got
            cut = buffer.rfind(delimiter, max(0, have - len(delimiter) + 1), end)
            if cut < 0:
                have = end
                continue
            stop = cut + len(delimiter)
            yield buffer, stop
            have = end - stop
            buffer[:have] = buffer[stop:end]
        if have:
            buffer[have:] = delimiter
            yield buffer, have + len(delimiter)

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
                raise KcliError(f"{self.name} is larger than a record may be ({limit} bytes; see -X max.request.size)")

    def close(self) -> None:
        if self._fd > 0:
            os.close(self._fd)
            self._fd = -1


def _open(path: str) -> int:
    """A named pipe opens when somebody writes to it, and until then nothing else of this process goes on: a signal has
    to end it. Nothing was read, so nothing was sent."""
    if not stat.S_ISFIFO(os.stat(path).st_mode):
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    import signal

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    ours = [(number, signal.getsignal(number)) for number in numbers]
    for number, handler in ours:
        if handler is not signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    try:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    finally:
        for number, handler in ours:
            signal.signal(number, handler)


def widen_pipe(fd: int) -> None:
    """A pipe of 1 MiB instead of 64 KiB: fewer wake-ups on both sides. Where the system says no, it stays."""
    try:
        import fcntl

        fcntl.fcntl(fd, _F_SETPIPE_SZ, CHUNK)
    except (ImportError, OSError):
        return


TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator
