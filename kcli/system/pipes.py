"""stdin and stdout as pipes or consoles: large pipes, separate descriptors, names, readers that have left."""

from __future__ import annotations

import errno
import os
import sys

from kcli.system import MACOS, WINDOWS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

GATHERS = hasattr(os, "writev")
"""Whether one call can write several pieces."""
MOST_PIECES = 1024  # per call, the limit of Linux and macOS
SIZE = 1 << 20
_F_SETPIPE_SZ = 1031  # Linux
_F_GETPATH, _PATH_MAX = 50, 1024  # macOS


def widen(fd: int) -> None:
    """Enlarge a pipe from 64 KiB to 1 MiB, for fewer wake-ups on both sides. Unchanged if the system refuses."""
    try:
        import fcntl

        fcntl.fcntl(fd, _F_SETPIPE_SZ, SIZE)
    except (ImportError, OSError):
        return


def own_end(fd: int) -> int:
    """Return a separate, non-blocking descriptor for the write end of a pipe, because the flag of an inherited
    descriptor is shared with other processes. -1 without /proc; on macOS, /dev/fd shares the flag as well."""
    try:
        return os.open(f"/proc/self/fd/{fd}", os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, AttributeError):
        return -1


def path_of(fd: int) -> str:
    """Return the path of the file open as `fd`; "" if there is none, or the system does not tell."""
    try:
        if MACOS:
            import fcntl

            return fcntl.fcntl(fd, _F_GETPATH, bytes(_PATH_MAX)).rstrip(b"\0").decode()
        path = os.readlink(f"/proc/self/fd/{fd}")
    except (OSError, ImportError):
        return ""
    return path if path.startswith("/") else ""


def reader(fd: int) -> Callable[[memoryview], int | None]:
    """Return a function `read(room)` that reads at most the room, as soon as there is anything; 0 at the end."""
    if hasattr(os, "readv"):
        return lambda room: os.readv(fd, [room])
    if fd == 0 and os.isatty(0):
        raw = getattr(sys.stdin.buffer, "raw", None)  # Windows: console input as UTF-8 instead of its code page
        if raw is not None:
            return raw.readinto  # type: ignore[no-any-return]
    from io import FileIO

    return FileIO(fd, closefd=False).readinto


def write_pieces(fd: int, pieces: Sequence[bytes | bytearray | memoryview]) -> int:
    """Write up to MOST_PIECES pieces in one call, on systems that GATHER; return the number of bytes. Raises
    OSError."""
    return os.writev(fd, pieces)


def reader_left(problem: OSError) -> bool:
    """Whether a write failed because the pipe's reader is gone. Windows reports that as an invalid argument."""
    if isinstance(problem, BrokenPipeError | ConnectionResetError):
        return True
    return WINDOWS and problem.errno == errno.EINVAL
