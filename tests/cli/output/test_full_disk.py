"""Disks that are full: what is said names the file and how far it is whole; half an undo file is not left behind."""

from __future__ import annotations

import errno
import os
import resource
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from kcli.sandbox.thread import SandboxThread
from tests.cli.conftest import KCLI, Shell


@pytest.fixture(scope="module")
def shell() -> Iterator[Shell]:
    with SandboxThread(topics={"orders": 1}) as running:
        made = Shell(running.bootstrap)
        made.ok("produce", "orders", stdin=b"12345678\n" * 5)
        made.ok("consume", "orders", "-g", "billing", "-c", "5", "--from-beginning", "-q")
        yield made


CONSOLE = [KCLI[0], "-c", "from kcli.cli.main import console; console()"]
"""The console script, which ends otherwise than `python -m kcli`."""
FULL = "kcli: /dev/full: No space left on device"


@pytest.mark.process
@pytest.mark.parametrize("program", [KCLI, CONSOLE], ids=["module", "script"])
@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("--version", f"{FULL}\n"),
        ("--help", f"{FULL}\n"),
        ("topics --help", f"{FULL}\n"),
        ("topics list", f"{FULL}\n"),
        ("topics list --format json", f"{FULL}\n"),
        ("count orders", f"{FULL}\n"),
        ("raw Metadata", f"{FULL}\n"),
        ("completion bash", f"{FULL}\n"),
        ("__complete bash kcli con", f"{FULL}\n"),
        ("cat -L -b {bootstrap}", "% ERROR: No space left on device\n"),
        ("consume orders -e", f"{FULL}; no record was written completely\n"),
        ("tail orders --no-follow", f"{FULL}; no record was written completely\n"),
    ],
)
def test_the_sentence_names_the_file(program: list[str], line: str, sentence: str, shell: Shell) -> None:
    words = line.format(bootstrap=shell.bootstrap).split()
    with open("/dev/full", "wb") as full:
        done = subprocess.run([*program, *words], stdout=full, stderr=subprocess.PIPE, env=shell.environment)
    assert (done.returncode, done.stderr.decode()) == (1, sentence)


@pytest.mark.process
@pytest.mark.parametrize("program", [KCLI, CONSOLE], ids=["module", "script"])
@pytest.mark.parametrize(
    ("line", "code", "printed"),
    [
        ("consume orders -e -v", 0, b"12345678\n" * 5),
        ("produce", 2, b""),
        ("topics describe nothing also-nothing", 1, b""),
        ("topics list -b 127.0.0.1:1 -X socket.connection.setup.timeout.ms=100", 5, b""),
        ("cat -C -e -t nothing -b {bootstrap}", 1, b""),
    ],
)
def test_messages_that_cannot_be_written_change_no_exit_code(
    program: list[str], line: str, code: int, printed: bytes, shell: Shell
) -> None:
    words = line.format(bootstrap=shell.bootstrap).split()
    with open("/dev/full", "wb") as full:
        done = subprocess.run([*program, *words], stdout=subprocess.PIPE, stderr=full, env=shell.environment)
    assert (done.returncode, done.stdout) == (code, printed)


@pytest.mark.process
@pytest.mark.parametrize("more", [[], ["--order", "time"], ["-J"]])
def test_the_sentence_names_the_last_record(more: list[str], shell: Shell, tmp_path: Path) -> None:
    """With -u each record is written by itself; the file may grow to two of them and a half."""
    size = len(shell.ok("consume", "orders", "-e", "-o", "beginning", *more)) // 5
    room = 2 * size + size // 2
    with open(tmp_path / "out", "wb") as out:
        done = subprocess.run(
            [*KCLI, "consume", "orders", "-e", "-o", "beginning", "-u", *more], stdout=out, stderr=subprocess.PIPE,
            env=shell.environment, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room)),
        )  # fmt: skip
    assert done.returncode == 1
    expected = "File too large; the last record that was certainly written is orders[0] offset 1"
    assert f"kcli: {tmp_path}/out: {expected}\n" in done.stderr.decode()


RESET = ("groups", "reset", "--create", "billing", "-t", "orders", "--execute", "--format", "json")


@pytest.fixture
def at_the_end(shell: Shell) -> Shell:
    """The group's offset stands at the end, so that there is something to reset."""
    done = shell(*RESET, "--to-latest")
    assert done.returncode == 0, done.stderr
    return shell


def test_an_undo_file_that_cannot_be_written_whole_is_not_left(
    at_the_end: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / "undo.json"
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        done = at_the_end(*RESET, "--to-earliest", "--undo-file", str(path))
    assert done.returncode == 1
    assert f"the undo file {path} cannot be written (No space left on device)".encode() in done.stderr
    assert not path.exists()


def test_an_undo_file_is_nobody_elses(at_the_end: Shell, tmp_path: Path) -> None:
    path = tmp_path / "undo.json"
    done = at_the_end(*RESET, "--to-earliest", "--undo-file", str(path))
    assert done.returncode == 0, done.stderr
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_locks_of_pipelines_are_nobody_elses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from kcli.pipeline.jobs.locks import held

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with held([str(tmp_path / "checkpoint")], "x"):
        (lock,) = tmp_path.rglob("*.lock")
        assert stat.S_IMODE(lock.stat().st_mode) == 0o600
