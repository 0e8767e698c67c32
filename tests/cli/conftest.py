"""A sandbox process, and kcli against it: as a process where that is the point, else in this one, which is quick."""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import os
import pty
import struct
import subprocess
import sys
import tempfile
import termios
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Self

import pytest

from kcli import redact
from kcli.cli.main import main
from kcli.sandbox.thread import SandboxThread
from tests.programs import Result

ROOT = Path(__file__).resolve().parents[2]
NUMBERS = itertools.count(1)
KCLI = [sys.executable, "-m", "kcli"]


@pytest.fixture(autouse=True)
def within_a_command(face: None) -> None:
    """Parts of commands are tested by themselves, too."""


@contextlib.contextmanager
def redirected(*fds: int) -> Iterator[None]:
    """Have 0, 1 and 2 be these, also as Python's streams, as a shell's redirections do."""
    kept = [os.dup(number) for number in range(3)]
    streams = sys.stdin, sys.stdout, sys.stderr
    try:
        for number, fd in enumerate(fds):
            os.dup2(fd, number)
        with open(0, closefd=False) as sys.stdin, open(1, "w", closefd=False) as sys.stdout:
            with open(2, "w", closefd=False, buffering=1) as sys.stderr:
                yield
    finally:
        sys.stdin, sys.stdout, sys.stderr = streams
        for number, fd in enumerate(kept):
            os.dup2(fd, number)
            os.close(fd)


def inside(*words: str, env: Mapping[str, str] | None = None) -> Result:
    """`tests.programs.kcli` in this process, which is quick; it has forgotten what it hid before."""
    redact._sent.clear()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, pytest.MonkeyPatch.context() as patch:
        for name, value in (env or {}).items():
            patch.setenv(name, value)
        with open(os.devnull, "rb") as nothing, redirected(nothing.fileno(), out.fileno(), err.fileno()):
            code = main(list(words))
        out.seek(0)
        err.seek(0)
        return Result(code, out.read(), err.read().decode(errors="replace"))


class Screen:
    """A terminal, and what was written to it. It is read while it is written, for it holds only some 4 KiB."""

    def __init__(self, columns: int) -> None:
        self._columns = columns

    def __enter__(self) -> Self:
        self.held, self.terminal = pty.openpty()
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, self._columns, 0, 0))
        self._shown = b""
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.text()
        os.close(self.held)

    def text(self) -> bytes:
        """All that was written, with the line ends of a file; nothing can be written afterwards."""
        if self.terminal >= 0:
            os.close(self.terminal)
            self.terminal = -1
            self._reader.join()
        return self._shown.replace(b"\r\n", b"\n")

    def _read(self) -> None:
        with contextlib.suppress(OSError):  # EIO: the other side is closed
            while part := os.read(self.held, 65536):
                self._shown += part


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
        """Run a command line in this process, with files as stdin, stdout and stderr."""
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            given.write(stdin)
            given.seek(0)
            with redirected(given.fileno(), out.fileno(), err.fileno()), pytest.MonkeyPatch.context() as patch:
                patch.setenv("KCLI_BOOTSTRAP", self.bootstrap)
                code = main(list(words))
            out.seek(0)
            err.seek(0)
            return subprocess.CompletedProcess([*words], code, out.read(), err.read())

    def on_terminal(self, *words: str, columns: int = 80, typed: bytes = b"") -> Result:
        """Run a command line in this process with stdout and stderr on terminals of their own; stdin is one too, where
        something is `typed`."""
        with (
            tempfile.TemporaryFile() as nothing,
            Screen(columns) as out,
            Screen(columns) as err,
            Screen(columns) as keys,
        ):
            if typed:
                os.write(keys.held, typed)
            given = keys.terminal if typed else nothing.fileno()
            with redirected(given, out.terminal, err.terminal), pytest.MonkeyPatch.context() as patch:
                patch.setenv("KCLI_BOOTSTRAP", self.bootstrap)
                patch.setenv("NO_COLOR", "1")
                for name in ("COLUMNS", "LINES"):
                    patch.delenv(name, raising=False)
                code = main(list(words))
            return Result(code, out.text(), err.text().decode(errors="replace"))

    def process(self, *words: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        """Run a command line as a process, with pipes."""
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
def shared_sandbox() -> Iterator[SandboxThread]:
    """The sandbox that all tests of a worker share."""
    with SandboxThread(control=True) as sandbox:
        yield sandbox


@pytest.fixture(scope="session")
def bootstrap(shared_sandbox: SandboxThread) -> str:
    return shared_sandbox.bootstrap


@pytest.fixture
def kcli(bootstrap: str) -> Shell:
    return Shell(bootstrap)
