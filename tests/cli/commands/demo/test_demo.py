"""The demo tells the truth: what it shows was checked, and a step that fails is its exit code."""

from __future__ import annotations

import contextlib
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kcli.cli.commands.demo import command as demo
from kcli.cli.main import main

LAG = '{"group":"lags","lag":2}\n{"group":"keeps-up","lag":0}\n'


@pytest.mark.process
@pytest.mark.parametrize("content", [b"a\nb\nno newline", bytes(range(256)) * 50])
def test_any_file_comes_back(tmp_path: Path, content: bytes, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "some.txt"
    file.write_bytes(content)
    assert main(["demo", "--file", str(file)]) == 0
    out, err = capfd.readouterr()
    assert err == ""
    lines = out.splitlines()
    digests = [line.split()[-1] for line in lines if "sha256" in line]
    assert len(digests) == 2
    assert len(set(digests)) == 1
    assert lines[-1] == "The sandbox is stopped. Everything above was checked."
    assert "kcli produce lines < some.txt" in out
    assert "> /dev/null" in out


class Steps:
    """Takes the place of the processes: each step ends well, but for the one named."""

    def __init__(self, step: str, code: int, out: bytes) -> None:
        self.bad, self.code, self.out = step, code, out

    def __call__(self, words: list[str], *, stdin: Any = None, stdout: Any = None, **_: Any) -> Any:
        step = words[len(demo.KCLI)]
        code, printed = (self.code, self.out) if step == self.bad else (0, b"a\nb\nc\n")
        if step == "consume":
            stdout.write(printed)
        text = printed.decode() if step == self.bad else LAG
        return subprocess.CompletedProcess(words, code, text, "")


@contextlib.contextmanager
def no_sandbox() -> Iterator[str]:
    yield "127.0.0.1:1"


@pytest.mark.parametrize(
    ("step", "code", "out", "says"),
    [
        ("none of them", 0, b"", None),
        ("topics", 1, b"", "the step above ended with exit code 1"),
        ("produce", 1, b"", "the step above ended with exit code 1"),
        ("consume", 4, b"a\nb\nc\n", "the step above ended with exit code 4"),
        ("consume", 0, b"a\nb\nx\n", "the consumed bytes differ from the produced bytes"),
        ("consume", 0, b"", "the consumed bytes differ from the produced bytes"),
        ("lag", 0, b"", "the lag table shows {}"),
        ("lag", 0, LAG.replace("2", "1").encode(), "the lag table shows {'lags': 1"),
    ],
)
def test_a_step_that_fails_is_the_exit_code(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    step: str,
    code: int,
    out: bytes,
    says: str | None,
) -> None:
    file = tmp_path / "some.txt"
    file.write_bytes(b"a\nb\nc\n")
    monkeypatch.setattr(demo.subprocess, "run", Steps(step, code, out))
    monkeypatch.setattr(demo, "_sandbox", no_sandbox)
    assert main(["demo", "--file", str(file)]) == (0 if says is None else 1)
    shown, err = capsys.readouterr()
    assert (says or "") in err
    assert ("Everything above was checked" in shown) == (says is None)


@pytest.mark.process
def test_a_sandbox_that_does_not_start_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "some.txt"
    file.write_bytes(b"a\n")
    monkeypatch.setattr(demo, "KCLI", [sys.executable, "-c", "raise SystemExit(7)"])
    assert main(["demo", "--file", str(file)]) == 1
    assert "the sandbox did not start (exit code 7)" in capsys.readouterr().err


@pytest.mark.parametrize(("make", "says"), [(False, "file not found"), (True, "it is empty")])
def test_a_file_that_is_none_or_empty_is_a_usage_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], make: bool, says: str
) -> None:
    file = tmp_path / "x"
    if make:
        file.touch()
    assert main(["demo", "--file", str(file)]) == 2
    assert says in capsys.readouterr().err


@pytest.mark.process
def test_the_dashboard_opens_first_and_the_steps_follow_when_it_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "some.txt"
    file.write_bytes(b"a\nb\nc\n")
    opened: list[str] = []

    def dashboard(bootstrap: str) -> None:
        opened.append(capfd.readouterr().out)

    monkeypatch.setattr(demo, "_dashboard", dashboard)
    assert main(["demo", "--dashboard", "--file", str(file)]) == 0
    assert "produce" not in opened[0]
    out, err = capfd.readouterr()
    assert err == ""
    assert "While the dashboard was open" in out
    assert "kcli produce lines < some.txt" in out
    assert out.splitlines()[-1] == "The sandbox is stopped. Everything above was checked."


@pytest.mark.long
@pytest.mark.process
def test_a_step_that_failed_behind_the_dashboard_is_the_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "some.txt"
    file.write_bytes(b"a\n")
    monkeypatch.setattr(demo, "_dashboard", lambda bootstrap: None)
    monkeypatch.setattr(demo, "_sandbox", no_sandbox)  # nothing listens there
    assert main(["demo", "--dashboard", "--file", str(file)]) == 1
    out, err = capfd.readouterr()
    assert "the step above ended with exit code" in out
    assert "a step of the demo failed; see the last line above" in err


WAITS = """
import time
from kcli.cli.commands.demo.command import _sandbox
with _sandbox() as bootstrap:
    print(bootstrap, flush=True)
    time.sleep(3600)
"""


@pytest.mark.process
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_who_ends_it_ends_the_sandbox_too(number: int) -> None:
    with subprocess.Popen([sys.executable, "-c", WAITS], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        host, _, port = process.stdout.readline().strip().partition(":")
        socket.create_connection((host, int(port)), 20).close()
        process.send_signal(number)
        assert process.wait(60) == 128 + number
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((host, int(port)), 20)
