"""stdin and stdout that are pipes or consoles: large pipes, ends of our own, names, readers that left."""

from __future__ import annotations

import errno
import os
import sys

from kcli.system import MACOS, WINDOWS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

GATHERS = hasattr(os, "writev")
"""Whether one call writes many pieces."""
MOST_PIECES = 1024  # of one call, the most that Linux and macOS take
SIZE = 1 << 20
_F_SETPIPE_SZ = 1031  # Linux
_F_GETPATH, _PATH_MAX = 50, 1024  # macOS


def widen(fd: int) -> None:
    """A pipe of 1 MiB instead of 64 KiB: fewer wake-ups on both sides. Where the system says no, it stays."""
    try:
        import fcntl

        fcntl.fcntl(fd, _F_SETPIPE_SZ, SIZE)
    except (ImportError, OSError):
        return


def own_end(fd: int) -> int:
    """A descriptor of our own for the writing end of a pipe, which does not block: the flag of an inherited one is
    shared with other processes. -1 where there is no /proc; macOS' /dev/fd shares the flag as well."""
    try:
        return os.open(f"/proc/self/fd/{fd}", os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, AttributeError):
        return -1


def path_of(fd: int) -> str:
    """The path of the file that is open as `fd`; "" where it is none, or the system does not say."""
    try:
        if MACOS:
            import fcntl

            return fcntl.fcntl(fd, _F_GETPATH, bytes(_PATH_MAX)).rstrip(b"\0").decode()
        path = os.readlink(f"/proc/self/fd/{fd}")
    except (OSError, ImportError):
        return ""
    return path if path.startswith("/") else ""


def reader(fd: int) -> Callable[[memoryview], int | None]:
    """`read(room)`: one read of what is there, at most the room, as soon as there is anything; 0 at the end."""
    if hasattr(os, "readv"):
        return lambda room: os.readv(fd, [room])
    if fd == 0 and os.isatty(0):
        raw = getattr(sys.stdin.buffer, "raw", None)  # Windows: a console's keys as UTF-8, in place of its code page
        if raw is not None:
            return raw.readinto  # type: ignore[no-any-return]
    from io import FileIO

    return FileIO(fd, closefd=False).readinto


def write_pieces(fd: int, pieces: Sequence[bytes | bytearray | memoryview]) -> int:
    """Write at most MOST_PIECES by one call, where the system GATHERS; how many bytes. Raises OSError."""
    return os.writev(fd, pieces)


def reader_left(problem: OSError) -> bool:
    """Whether a write failed since the reader of the pipe is gone. Windows calls that an invalid argument."""
    if isinstance(problem, BrokenPipeError | ConnectionResetError):
        return True
    return WINDOWS and problem.errno == errno.EINVAL
