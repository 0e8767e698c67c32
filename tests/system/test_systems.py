"""The ways of macOS and Windows, one subject after another, by hiding what Linux has."""

from __future__ import annotations

import asyncio
import ctypes
import os
import socket
import ssl
import subprocess
import sys
from pathlib import Path

import pytest

from kcli import system
from kcli.system import files, pipes, processes, sockets, windows
from kcli.tasks import ThreadReader
from tests.system.hidden import Kernel32

VM_STAT = """Mach Virtual Memory Statistics: (page size of 16384 bytes)
Pages free:                               10000.
Pages active:                            300000.
Pages inactive:                           20000.
"""


def test_a_key_is_in_a_private_file_for_as_long_as_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "memfd_create", raising=False)
    with files.passing(b"secret") as path:
        assert Path(path).read_bytes() == b"secret"
        assert os.stat(path).st_mode & 0o077 == 0
    assert not os.path.exists(path)
    with pytest.raises(ssl.SSLError), files.passing(b"no key") as path:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_cert_chain(path)
    assert not os.path.exists(path)


def test_a_file_is_trusted_where_users_have_no_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    status = os.stat_result([0o100666, 0, 0, 1, 12345, 0, 0, 0, 0, 0])
    assert files.has_modes()
    assert files.distrust(status) == "belongs to another user"
    monkeypatch.delattr(os, "geteuid")
    assert files.distrust(status) == ""
    assert not files.has_modes()


def test_the_lock_of_a_folder_is_taken_once(tmp_path: Path) -> None:
    with open(tmp_path / "lock", "w") as first, open(tmp_path / "lock", "w") as second:
        files.lock(first.fileno())
        with pytest.raises(OSError):
            files.lock(second.fileno())


def test_a_read_takes_what_is_there_with_and_without_readv(monkeypatch: pytest.MonkeyPatch) -> None:
    for hidden in (False, True):
        if hidden:
            monkeypatch.delattr(os, "readv")
        out, into = os.pipe()
        read = pipes.reader(out)
        os.write(into, b"abc")
        room = bytearray(10)
        assert read(memoryview(room)) == 3
        assert room[:3] == b"abc"
        os.close(into)
        assert read(memoryview(room)) == 0
        os.close(out)


def test_a_reader_that_left_is_an_invalid_argument_on_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    invalid = OSError(22, "Invalid argument")
    assert pipes.reader_left(BrokenPipeError())
    assert not pipes.reader_left(invalid)
    monkeypatch.setattr(pipes, "WINDOWS", True)
    assert pipes.reader_left(invalid)
    assert not pipes.reader_left(OSError(28, "No space left on device"))


def test_the_name_of_an_output_is_its_files(tmp_path: Path) -> None:
    with open(tmp_path / "out", "w") as file:
        assert pipes.path_of(file.fileno()) == str(tmp_path / "out")
    out, into = os.pipe()
    assert pipes.path_of(into) == ""
    os.close(out)
    os.close(into)


@pytest.mark.process
@pytest.mark.parametrize("on_windows", [False, True])
def test_a_process_runs_until_it_has_ended(on_windows: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if on_windows:
        monkeypatch.setattr(ctypes, "WinDLL", Kernel32, raising=False)
        monkeypatch.setattr(processes, "WINDOWS", True)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        assert processes.runs(child.pid)
        assert processes.born(child.pid) == processes.born(child.pid) != ""
    assert not processes.runs(child.pid)
    assert processes.born(child.pid) == ""


def test_memory_is_that_of_windows_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "WinDLL", Kernel32, raising=False)
    assert windows.memory() == 50 << 20
    assert windows.free_memory() == 5 << 30
    assert 5 << 20 < processes.memory() < 4 << 30


def test_what_vm_stat_prints_is_free_memory() -> None:
    assert processes.of_vm_stat(VM_STAT) == 16384 * 30000
    assert processes.of_vm_stat("") is None
    assert processes.of_vm_stat("vm_stat: no such thing\n") is None


def test_without_limits_of_a_process_windows_own_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    assert processes.most_files() != processes.FILES
    monkeypatch.setitem(sys.modules, "resource", None)
    assert processes.most_files() == processes.FILES


def test_a_socket_is_readable_with_and_without_poll(monkeypatch: pytest.MonkeyPatch) -> None:
    import select

    for hidden in (False, True):
        if hidden:
            monkeypatch.delattr(select, "poll")
        one, other = socket.socketpair()
        assert not sockets.is_readable(one)
        other.close()
        assert sockets.is_readable(one)
        one.close()


def test_an_address_has_one_listener(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    class Listening:
        def setsockopt(self, level: int, option: int, value: int) -> None:
            asked.append(option)

    sockets.share_nothing(Listening())  # type: ignore[arg-type]
    monkeypatch.setattr(socket, "SO_EXCLUSIVEADDRUSE", -5, raising=False)
    sockets.share_nothing(Listening())  # type: ignore[arg-type]
    assert asked == [socket.SO_REUSEADDR, -5]


async def test_a_cancelled_read_of_a_thread_loses_nothing() -> None:
    out, into = os.pipe()
    reader = ThreadReader(pipes.reader(out))
    room = bytearray(2)
    waiting = asyncio.ensure_future(reader.into(memoryview(room)))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.wait({waiting})
    os.write(into, b"abc")
    assert await reader.into(memoryview(room)) == 2
    assert room == b"ab"
    assert await reader.into(memoryview(room)) == 1
    os.close(into)
    assert room[:1] == b"c"
    assert await reader.into(memoryview(room)) == 0
    os.close(out)


def test_systems_are_told_by_their_name() -> None:
    assert (sys.platform == "win32", sys.platform == "darwin") == (system.WINDOWS, system.MACOS)


@pytest.mark.parametrize(
    ("release", "makes"),
    [
        ("6.18.44-fc-v657", True), ("5.7.0", True), ("10.0", True), ("5.6.19", False), ("4.14.355-amzn2", False),
        ("3.10.0-1160.el7.x86_64", False), ("unknown", False), ("", False),
    ],
)  # fmt: skip
def test_a_system_is_at_least_of_a_release(release: str, makes: bool) -> None:
    assert sockets.is_at_least(release, (5, 7)) is makes
