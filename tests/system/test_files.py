"""How files are read: what is refused, limits, trust; and what is written to caches."""

from __future__ import annotations

import os
import resource
import socket
import stat
import threading
from pathlib import Path

import pytest

from kcli.system import files
from tests.each import each


def test_files_links_and_pipes_are_read(tmp_path: Path) -> None:
    file, link, named = tmp_path / "file", tmp_path / "link", tmp_path / "pipe"
    file.write_bytes(b"text")
    link.symlink_to(file)
    os.mkfifo(named)
    writer = threading.Thread(target=named.write_bytes, args=(b"text",))
    writer.start()
    into, out = os.pipe()
    os.write(out, b"text")
    os.close(out)
    assert files.read("/dev/null", 4) == b""
    for path in (file, str(link), named, f"/dev/fd/{into}"):
        assert files.read(path, 4) == b"text"
    writer.join()
    os.close(into)


def test_devices_sockets_and_folders_are_refused(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "socket"))
        for path, reason in (
            ("/dev/zero", "it is a device; a file or a pipe is expected"),
            (str(link), "it is a device; a file or a pipe is expected"),
            (str(tmp_path / "socket"), "it is a socket; a file or a pipe is expected"),
            (str(tmp_path), "Is a directory"),
            (str(tmp_path / "absent"), "No such file or directory"),
        ):
            with pytest.raises(OSError) as told:
                files.read(path, 10)
            assert (told.value.strerror, told.value.filename) == (reason, path)


@each(("most", "size"), [(1 << 16, "64 KiB"), (4 << 20, "4 MiB")])
def test_a_limit_is_exact_and_named(tmp_path: Path, most: int, size: str) -> None:
    file = tmp_path / "file"
    for extra in (0, 1):
        file.write_bytes(b"x" * (most + extra))
        if not extra:
            assert len(files.read(file, most)) == most
            continue
        with pytest.raises(OSError) as told:
            files.read(file, most)
        assert told.value.strerror == f"it is larger than {size}"


def test_each_line_has_a_limit(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"123\n1234\n")
    with files.opened(file) as opened:
        rows = files.lines(opened, 4)
        assert next(rows) == b"123\n"
        with pytest.raises(OSError, match="a line of it is larger than 0 KiB"):
            next(rows)


@each(
    ("uid", "mode", "reason"),
    [
        (0, 0o644, ""), (None, 0o600, ""), (None, 0o644, ""), (12345, 0o600, "belongs to another user"),
        (None, 0o664, "can be written by other users (chmod go-w it)"), (0, 0o646, "can be written by other users"),
        (12345, 0o666, "belongs to another user"),
    ],
)  # fmt: skip
def test_a_file_of_this_user_or_root_that_nobody_else_can_write_is_trusted(
    uid: int | None, mode: int, reason: str
) -> None:
    owner = os.geteuid() if uid is None else uid
    status = os.stat_result([stat.S_IFREG | mode, 0, 0, 1, owner, 12345, 0, 0, 0, 0])
    link = os.stat_result([stat.S_IFLNK | 0o777, 0, 0, 1, os.geteuid(), 0, 0, 0, 0, 0])
    assert files.distrust(status).startswith(reason)
    assert bool(files.distrust(status)) == bool(reason)
    assert files.distrust(link, status) == files.distrust(status)


def test_a_full_disk_leaves_the_file_before_and_nothing_else(tmp_path: Path) -> None:
    """A limit of a file's size is met as a full disk is: in the middle."""
    file = tmp_path / "file"
    files.replace(str(file), b"before")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(OSError):
            files.replace(str(file), b"x" * 5000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (file.read_bytes(), os.listdir(tmp_path)) == (b"before", ["file"])
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
