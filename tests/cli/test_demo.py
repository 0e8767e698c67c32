"""The demo tells the truth: what it shows was checked, and a step that fails is its exit code."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from kcli.cli import demo
from kcli.cli.main import main

FAKE = """
import subprocess, sys
words = sys.argv[1:]
if words[0] == {step!r}:
    {does}
sys.exit(subprocess.run([sys.executable, "-m", "kcli", *words]).returncode)
"""


@pytest.mark.parametrize("content", [b"a\nb\nc\nd\n", b"a\nb\nno newline", b"one", b"\n", bytes(range(256)) * 50])
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


@pytest.mark.parametrize(
    ("step", "does", "says"),
    [
        ("produce", "sys.exit(1)", "the step above ended with exit code 1"),
        ("consume", "sys.exit(4)", "the step above ended with exit code 4"),
        ("consume", "print('forged'); sys.exit(0)", "the bytes that came back are not the bytes that went in"),
        ("lag", "sys.exit(0)", "the lag table says {}"),
        ("sandbox", "sys.exit(1)", "the sandbox did not start (exit code 1)"),
    ],
)
def test_a_step_that_fails_is_the_exit_code(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    step: str,
    does: str,
    says: str,
) -> None:
    fake = tmp_path / "fake.py"
    fake.write_text(FAKE.format(step=step, does=does))
    file = tmp_path / "some.txt"
    file.write_bytes(b"a\nb\nc\n")
    monkeypatch.setattr(demo, "KCLI", [sys.executable, str(fake)])
    assert main(["demo", "--file", str(file)]) == 1
    out, err = capfd.readouterr()
    assert says in err
    assert "Everything above was checked" not in out


@pytest.mark.parametrize(("make", "says"), [(False, "there is no such file"), (True, "it is empty")])
def test_a_file_that_is_none_or_empty_is_a_usage_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], make: bool, says: str
) -> None:
    file = tmp_path / "x"
    if make:
        file.touch()
    assert main(["demo", "--file", str(file)]) == 2
    assert says in capsys.readouterr().err
