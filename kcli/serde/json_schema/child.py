"""Validates with a JSON schema in a separate process, for values whose check may take too long.

jsonschema-rs cannot be interrupted: it holds the interpreter's lock until it is done, which blocks both deadlines and
Ctrl-C. A process can be killed.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import weakref
from contextlib import suppress
from typing import IO

from kcli.errors import KcliError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess

SECONDS = 2.0  # of CPU per value: a busy machine must not make a check fail
PATIENCE = 30.0  # seconds of wall-clock time, for the start and for each value
GIVEN_UP = 3  # number of values that took longer, after which no more are tried
HEAD = 4  # bytes of the length before a message


class TooSlow(KcliError):
    """The value could not be checked in time, so it is unknown whether it is valid."""

    def __init__(self) -> None:
        super().__init__(f"checking it against its JSON schema takes more than {SECONDS:g} s")


class Child:
    """The validator of one schema. Values of several threads take turns."""

    def __init__(self, text: str, references: list[tuple[str, str]]) -> None:
        self._schema = json.dumps({"text": text, "references": references, "seconds": SECONDS}).encode()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0  # the process that started it: a pipe must not be shared after a fork
        self._answers: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._late = 0
        self._lock = threading.Lock()

    def problem(self, data: bytes) -> str | None:
        """Like `JsonValidator.problem`, for a JSON text. Raises TooSlow."""
        with self._lock:
            if self._late >= GIVEN_UP:
                raise TooSlow
            answer = None
            with suppress(OSError, queue.Empty):  # it has ended because of its time or memory limit; it is late
                _write(self._started().stdin, data)
                answer = self._answers.get(timeout=PATIENCE)
            if answer is None:
                self._late += 1
                self._end()
                raise TooSlow
            return answer.decode() or None

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._owner != os.getpid():
            import subprocess

            words = [sys.executable, "-c", "from kcli.serde.json_schema.child import serve; serve()"]
            self._process = child = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, bufsize=0,
            )  # fmt: skip
            self._owner = os.getpid()
            weakref.finalize(self, _kill, child, self._owner)
            self._answers = queue.SimpleQueue()
            threading.Thread(target=_listen, args=(child.stdout, self._answers), daemon=True).start()
            _write(child.stdin, self._schema)
            self._answers.get(timeout=PATIENCE)
        return self._process

    def _end(self) -> None:
        if self._process is not None:
            _kill(self._process, self._owner)
        self._process = None


def _kill(child: subprocess.Popen[bytes], owner: int) -> None:
    if owner == os.getpid():
        assert child.stdin is not None
        child.kill()
        child.stdin.close()
        child.wait()


def _write(pipe: IO[bytes] | None, data: bytes) -> None:
    assert pipe is not None
    rest = memoryview(len(data).to_bytes(HEAD, "big") + data)
    while rest:
        rest = rest[pipe.write(rest) or 0 :]


def _listen(pipe: IO[bytes], answers: queue.SimpleQueue[bytes | None]) -> None:
    """Pass on the child's messages, and None at its end.

    Only this thread closes the pipe: otherwise its number could be reused for the next child while this thread is about
    to read from it, and take the other's result.
    """
    with suppress(EOFError, OSError), pipe:
        while True:
            answers.put(_read(pipe))
    answers.put(None)


def _read(pipe: IO[bytes]) -> bytes:
    """Read a message. Raises EOFError."""
    data = bytearray()
    while len(data) < HEAD or len(data) < HEAD + int.from_bytes(data[:HEAD], "big"):
        want = HEAD if len(data) < HEAD else HEAD + int.from_bytes(data[:HEAD], "big")
        piece = pipe.read(want - len(data))
        if not piece:
            raise EOFError
        data += piece
    return bytes(data[HEAD:])


def serve() -> None:
    """Run the child: read the schema first, then values, and answer each with its problem."""
    from kcli.serde.json_schema.validate import Library
    from kcli.system.processes import limit_cpu

    given, out = open(0, "rb", buffering=0), open(1, "wb", buffering=0)  # noqa: SIM115 - as long as the process
    try:
        schema = json.loads(_read(given))
        seconds = schema.pop("seconds")
        library = Library(**schema)
        _write(out, b"")  # it has started
        while True:
            data = _read(given)
            limit_cpu(seconds)
            _write(out, (library.problem(json.loads(data), every=False) or "").encode())
            limit_cpu(0)
    except EOFError:
        return
