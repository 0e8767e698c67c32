"""docs/sandbox.md is true: its tests pass, and its script for other languages starts and stops a sandbox."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.programs import KCLI

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = 6


def block(language: str) -> str:
    """The only block of a language."""
    (found,) = re.findall(
        rf"^```{language}\n(.*?)^```", (ROOT / "docs/sandbox.md").read_text(), re.DOTALL | re.MULTILINE
    )
    return str(found)


@pytest.mark.process
def test_the_examples_of_the_fixture_pass(tmp_path: Path) -> None:
    (tmp_path / "test_sandbox.py").write_text(block("python"))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=100)
    assert (done.returncode, f"{EXAMPLES} passed" in done.stdout) == (0, True), done.stdout + done.stderr


@pytest.mark.process
def test_the_script_starts_a_sandbox_and_stops_it(tmp_path: Path) -> None:
    (tmp_path / "kcli").write_text(f'#!/bin/sh\nexec {" ".join(KCLI)} "$@"\n')
    (tmp_path / "kcli").chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        ["bash", "-eu", "-c", block("bash")], executable=shutil.which("bash"), cwd=tmp_path, env=environment,
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, ""), done
    assert re.fullmatch(r"tests run against 127\.0\.0\.1:\d+\n", done.stdout)
    assert "NOT_LEADER_OR_FOLLOWER" in (tmp_path / "faults.txt").read_text()
