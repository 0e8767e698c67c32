"""Programs under test as processes: kcli and kcat with a deadline, killed by their own id."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from kcli.proto.messages import api_name
from kcli.sandbox.thread import SandboxThread

NEWLINE = b"\n"
KCLI = [sys.executable, "-m", "kcli"]


@dataclass(frozen=True)
class Result:
    code: int
    out: bytes
    err: str


def run(
    argv: Sequence[str], *, stdin: bytes | Path = b"", timeout: float = 60, env: dict[str, str] | None = None
) -> Result:
    """Run to the end. Raises TimeoutExpired after `timeout` seconds, with the process gone."""
    source = stdin.open("rb") if isinstance(stdin, Path) else None
    try:
        done = subprocess.run(
            list(argv), stdin=source, input=None if source else stdin, capture_output=True, timeout=timeout,
            env={**os.environ, **(env or {})},
        )  # fmt: skip
    finally:
        if source:
            source.close()
    return Result(done.returncode, done.stdout, done.stderr.decode(errors="replace"))


def kcli(*words: str, stdin: bytes | Path = b"", timeout: float = 60, env: dict[str, str] | None = None) -> Result:
    return run([*KCLI, *words], stdin=stdin, timeout=timeout, env=env)


def kcat(*words: str, stdin: bytes | Path = b"", timeout: float = 60) -> Result:
    return run(["kcat", *words], stdin=stdin, timeout=timeout)


def until(holds: Callable[[], object], within: float = 60.0, said: Callable[[], object] = str) -> None:
    """Wait until something holds. Raises AssertionError with what is `said` at the deadline."""
    deadline = time.monotonic() + within
    while not holds():
        assert time.monotonic() < deadline, said()
        time.sleep(0.02)


def requests(sandbox: SandboxThread, *names: str) -> int:
    """How many requests of these kinds have come to a sandbox."""
    seen: dict[int, int] = sandbox.call(lambda inside: dict(inside.seen))
    return sum(count for key, count in seen.items() if api_name(key) in names)


class Background:
    """A program that runs beside the test; `with` ends it, whatever happened."""

    def __init__(self, argv: Sequence[str], *, stdout: Path, stdin: int | None = subprocess.DEVNULL) -> None:
        self.path = stdout
        self._out = stdout.open("wb")
        self._told = stdout.with_name(f"{stdout.name}.err")  # names that differ in their suffix only are usual here
        self._err = self._told.open("wb")
        self.process = subprocess.Popen(list(argv), stdin=stdin, stdout=self._out, stderr=self._err)

    def __enter__(self) -> Background:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(10)
        if self.process.stdin is not None:
            self.process.stdin.close()
        self._out.close()
        self._err.close()

    @property
    def out(self) -> bytes:
        return self.path.read_bytes()

    @property
    def err(self) -> str:
        return self._told.read_text(errors="replace")

    def wait_for(self, lines: int, *, timeout: float = 30) -> None:
        """Until stdout has this many lines. Raises AssertionError at the deadline or when the program ended before."""
        deadline = time.monotonic() + timeout
        while self.out.count(b"\n") < lines:
            ended = self.process.poll()
            assert ended is None or self.out.count(b"\n") >= lines, f"ended with {ended}: {self.err}"
            assert time.monotonic() < deadline, f"{self.out.count(NEWLINE)} of {lines} lines: {self.err}"
            time.sleep(0.02)

    def stop(self, how: int = signal.SIGINT, *, timeout: float = 20) -> int:
        """Send a signal and wait for the end; the exit code."""
        self.process.send_signal(how)
        return self.process.wait(timeout)
