"""Files of our own: flags, owners, locks, and one that never reaches a disk."""

from __future__ import annotations

import os
from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

NOFOLLOW: int = getattr(os, "O_NOFOLLOW", 0)
BINARY: int = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOINHERIT", 0)
"""For every `os.open`: Windows else writes CR LF for LF, and a child would inherit the file."""
OTHERS_WRITE, OTHERS_READ = 0o022, 0o044


def is_ours(status: os.stat_result) -> bool:
    """Whether the file belongs to this user. Windows has no such number: its folders of a user are private."""
    return not hasattr(os, "geteuid") or status.st_uid == os.geteuid()


def has_modes() -> bool:
    """Whether mode bits say which users may read and write a file; Windows has access lists instead."""
    return hasattr(os, "geteuid")


def lock(fd: int) -> None:
    """Hold an open file until it is closed. Raises OSError at once when another process holds it."""
    try:
        import fcntl
    except ImportError:
        import msvcrt

        msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    else:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def passing(data: bytes) -> Iterator[str]:
    """The path of a file with `data` for as long as the generator is open: in memory on Linux, else a temporary file
    of this user alone."""
    if hasattr(os, "memfd_create"):
        number = os.memfd_create("kcli")
        try:
            os.write(number, data)
            yield f"/proc/self/fd/{number}"
        finally:
            os.close(number)
        return
    import tempfile

    number, path = tempfile.mkstemp(prefix="kcli-")  # mode 600; Windows opens no file twice, so it is closed first
    try:
        with open(number, "wb") as file:
            file.write(data)
        yield path
    finally:
        os.unlink(path)
