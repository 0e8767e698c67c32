"""A sandbox process for the tests that run kcli as people do: as a process."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NUMBERS = itertools.count(1)
KCLI = [sys.executable, "-m", "kcli"]


class Shell:
    """Runs kcli against one cluster; bytes in, bytes out."""

    def __init__(self, bootstrap: str) -> None:
        self.environment = {**os.environ, "KCLI_BOOTSTRAP": bootstrap, "PYTHONPATH": str(ROOT)}
        self.bootstrap = bootstrap

    def topic(self, partitions: int = 1) -> str:
        """A new topic."""
        name = f"t-{next(NUMBERS)}"
        self.ok("topics", "create", name, "--partitions", str(partitions))
        return name

    def __call__(self, *words: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        return subprocess.run([*KCLI, *words], input=stdin, capture_output=True, env=self.environment, timeout=60)

    def ok(self, *words: str, stdin: bytes = b"") -> bytes:
        """stdout of a run that must succeed and say nothing."""
        done = self(*words, stdin=stdin)
        assert (done.returncode, done.stderr) == (0, b""), (words, done.returncode, done.stderr)
        return done.stdout

    def start(
        self, *words: str, stdin: int = subprocess.PIPE, stdout: int = subprocess.PIPE
    ) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [*KCLI, *words], stdin=stdin, stdout=stdout, stderr=subprocess.PIPE, env=self.environment, bufsize=0
        )


@pytest.fixture(scope="session")
def sandbox_process() -> Iterator[str]:
    """The bootstrap address of a sandbox that runs in a process of its own."""
    process = subprocess.Popen(
        [*KCLI, "sandbox", "--port", "0", "--format", "json"],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert process.stdout is not None
    try:
        yield json.loads(process.stdout.readline())["bootstrap"]
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(20)
        process.stdout.close()


@pytest.fixture
def kcli(sandbox_process: str) -> Shell:
    return Shell(sandbox_process)
