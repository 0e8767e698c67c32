"""Files: reading with a limit, atomic writing, trusted owners, locks, and files that never reach a disk.

kcli opens every file with `opened`: regular files, including through links, and pipes such as `<(…)`. Devices are
refused, because they may never end. Problems are reported as OSError with the reason in `strerror`.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager, suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

NOFOLLOW: int = getattr(os, "O_NOFOLLOW", 0)
BINARY: int = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOINHERIT", 0)
"""For every `os.open`: without them Windows writes CR LF for LF, and a child inherits the file."""
OTHERS_WRITE, OTHERS_READ = 0o022, 0o044
CHUNK = 1 << 18
# Size limits by kind of file.
SECRET = 1 << 16
SETTINGS = 4 << 20
"""Profiles, properties, keys, configuration files of other tools."""
KEYS = 16 << 20
"""Certificates and private keys."""
LINE = 64 << 20
"""One line of a recording, journal or history; the file has no limit, because it is read line by line."""
TEXT = 32 << 20
"""Schemas, declared clusters, plans, SQL."""
DOCUMENT = 256 << 20
"""Undo files, exports of a registry, payloads."""


def opened(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a regular file or a pipe for reading bytes. Raises OSError, including for devices."""
    path = os.fspath(path)
    refuse_device(path)
    file = open(path, "rb")  # noqa: SIM115  # the caller closes it
    try:
        _check(os.fstat(file.fileno()), path)
    except OSError:
        file.close()
        raise
    return file


def refuse_device(path: str) -> None:
    """Raise OSError for a device before it is opened, because opening some has an effect."""
    if not path.startswith(("/dev/fd/", "/dev/std")):  # macOS shows pipes there as devices until they are opened
        _check(os.stat(path), path)


def _check(status: os.stat_result, path: str) -> None:
    mode = status.st_mode
    if stat.S_ISREG(mode) or stat.S_ISFIFO(mode) or stat.S_ISDIR(mode):  # `open` refuses folders
        return
    if not os.path.samestat(status, os.stat(os.devnull)):  # which everyone uses as an empty file
        what = "a socket" if stat.S_ISSOCK(mode) else "a device"
        raise OSError(errno.EINVAL, f"it is {what}; a file or a pipe is expected", path)


def read(path: str | os.PathLike[str], most: int) -> bytes:
    """Return the content of a file. Raises OSError, including for more than `most` bytes."""
    with opened(path) as file:
        return whole(file, most)


def whole(file: BinaryIO, most: int) -> bytes:
    """Return the rest of an open file. Raises OSError for more than `most` bytes."""
    data = bytearray()
    while piece := file.read(CHUNK):
        data += piece
        if len(data) > most:
            raise _too_large("it", most)
    return bytes(data)


def read_text(path: str | os.PathLike[str], most: int, errors: str = "strict") -> str:
    r"""Return the UTF-8 text of a file with \n line ends. Raises OSError, UnicodeDecodeError."""
    return unix_lines(read(path, most).decode("utf-8", errors))


def unix_lines(text: str) -> str:
    r"""Convert the line ends of other systems to \n, as Python does for text files."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def lines(file: BinaryIO, most: int = LINE) -> Iterator[bytes]:
    """Iterate over the lines of an open file. Raises OSError for a line of more than `most` bytes."""
    while line := file.readline(most + 1):
        if len(line) > most:
            raise _too_large("a line of it", most)
        yield line


def _too_large(what: str, most: int) -> OSError:
    size = f"{most >> 20} MiB" if most >= 1 << 20 else f"{most >> 10} KiB"
    return OSError(errno.EFBIG, f"{what} is larger than {size}")


def replace(path: str, data: bytes, mode: int = 0o600) -> None:
    """Write a cache file atomically: other processes see the old or the new file, and a full disk leaves nothing
    behind. Raises OSError."""
    with new_file(path, replace=True, mode=mode) as file:
        file.write(data)


def distrust(*found: os.stat_result) -> str:
    """Return why a file is not trusted, as the predicate of a sentence; "" if only this user or root can write it.

    `found` is the file, and also the link if a link leads to it.
    """
    if not has_modes():
        return ""
    if any(one.st_uid not in (0, os.geteuid()) for one in found):
        return "belongs to another user"
    for one in found:
        writers = one.st_mode & OTHERS_WRITE if stat.S_IFMT(one.st_mode) not in (stat.S_IFLNK, stat.S_IFCHR) else 0
        if writers and (writers != stat.S_IWGRP or not _is_private(one.st_gid)):
            return "can be written by other users (chmod go-w it)"
    return ""


def _is_private(group: int) -> bool:
    """Whether a group has only this user: some distributions give each user a group that can write the user's files."""
    import grp
    import pwd

    try:
        user, found = pwd.getpwuid(os.geteuid()), grp.getgrgid(group)
    except KeyError:
        return False
    alone = found.gr_name == user.pw_name and set(found.gr_mem) <= {user.pw_name}
    return alone and group == user.pw_gid


def distrusted(path: str, file: BinaryIO) -> str:
    """Like `distrust`, for an open file."""
    return distrust(os.lstat(path), os.fstat(file.fileno()))


def has_modes() -> bool:
    """Whether mode bits control access to files; Windows has access lists instead."""
    return hasattr(os, "geteuid")


def lock(fd: int) -> None:
    """Lock an open file until it is closed. Raises OSError at once if another process holds the lock."""
    try:
        import fcntl
    except ImportError:
        import msvcrt

        msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    else:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)


STREAMS = ("/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/self/fd/")


def is_stream(path: str) -> bool:
    """Whether writing to a path changes no regular file of that name: a pipe, a device, or a file descriptor."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return path.startswith(STREAMS) or not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def check_new(path: str, *, replace: bool = False) -> None:
    """Raise the OSError that `new_file` would raise for the path."""
    if is_stream(path):
        return
    if os.path.islink(path):
        raise OSError(errno.ELOOP, "it is a symbolic link; name the file itself", path)
    if os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, "it is a folder; name a file", path)
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, f"there is no folder {folder}", path)
    if os.path.lexists(path) and not replace:
        raise FileExistsError(errno.EEXIST, "the file exists", path)


@contextmanager
def new_file(path: str, *, replace: bool = False, mode: int = 0o666) -> Iterator[BinaryIO]:
    """Open a file beside the path, and rename it to the path if the block ends without an error, so that no partial
    file is ever visible. A pipe or a device is written to directly.

    Raises:
        OSError: the path is a symbolic link or a folder, or, without `replace`, the file exists.
    """
    check_new(path, replace=replace)
    if is_stream(path):
        with open(path, "wb") as out:
            yield out
        return
    beside = f"{path}.{os.getpid()}.part"
    number = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | NOFOLLOW | BINARY, mode)
    try:
        with open(number, "wb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        check_new(path, replace=replace)
        if not replace:
            try:
                os.link(beside, path)  # fails if the file appeared meanwhile, unlike `rename`
                return
            except FileExistsError:
                raise
            except OSError:  # a file system without hard links
                pass
        os.replace(beside, path)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(beside)


@contextmanager
def passing(data: bytes) -> Iterator[str]:
    """Yield the path of a file with `data` that exists while the generator is open: in memory on Linux, otherwise a
    temporary file readable by this user only."""
    if hasattr(os, "memfd_create"):
        number = os.memfd_create("kcli")
        try:
            os.write(number, data)
            yield f"/proc/self/fd/{number}"
        finally:
            os.close(number)
        return
    import tempfile

    number, path = tempfile.mkstemp(prefix="kcli-")  # mode 600; closed first, because Windows opens no file twice
    try:
        with open(number, "wb") as file:
            file.write(data)
        yield path
    finally:
        os.unlink(path)
