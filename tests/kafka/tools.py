"""Kafka's own command-line tools, run one after another in one virtual machine (ToolServer.java); where the Java at
hand cannot compile, each in a virtual machine of its own."""

from __future__ import annotations

import atexit
import functools
import os
import select
import struct
import subprocess
import tempfile
import time
from pathlib import Path

from tests.kafka import class_archive
from tests.kafka.artifacts import libs

SOURCE = Path(__file__).with_name("ToolServer.java")
JVM = [
    "-Xms128m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xss512k", "-XX:+ExitOnOutOfMemoryError",
    "-Djava.awt.headless=true",
]  # fmt: skip
ALONE = ("VerifiableProducer", "ConsoleProducer")
"""Tools whose work ends in a shutdown hook of the virtual machine."""
INT32 = struct.Struct(">i")
START_LIMIT = 60.0


def java() -> list[str]:
    return ["java", *JVM, *class_archive.options()]


def run_tool(main: str, *arguments: str, stdin: bytes | None = None, timeout: float = 60) -> str:
    """What the tool printed, errors included. Raises subprocess.TimeoutExpired when its virtual machine was ended."""
    if main.endswith(ALONE) or not can_compile():
        return run_alone(main, *arguments, stdin=stdin, timeout=timeout)
    return _server().run([main, *arguments], stdin or b"", timeout).decode(errors="replace")


def run_alone(
    main: str, *arguments: str, stdin: bytes | None = None, timeout: float = 60, jars: Path | None = None
) -> str:
    """The same in a virtual machine of its own, of the Kafka with these jars (the newest)."""
    done = subprocess.run(
        [*java(), "-cp", f"{jars or libs()}/*", main, *arguments], input=stdin, timeout=timeout,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, "LC_ALL": "C.UTF-8"},
    )  # fmt: skip
    return done.stdout.decode(errors="replace")


@functools.cache
def can_compile() -> bool:
    modules = subprocess.run(["java", "--list-modules"], capture_output=True, timeout=START_LIMIT, check=True).stdout
    return b"jdk.compiler" in modules


class ToolServer:
    """One virtual machine; it ends with this process."""

    def __init__(self) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `close`
        self._process = subprocess.Popen(
            [*java(), "-cp", f"{libs()}/*", str(SOURCE)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=self._errors, env={**os.environ, "LC_ALL": "C.UTF-8"},
        )  # fmt: skip
        atexit.register(self.close)

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    def run(self, words: list[str], stdin: bytes, timeout: float) -> bytes:
        """What the tool printed. Raises subprocess.TimeoutExpired, and EOFError if the virtual machine ended."""
        request = INT32.pack(len(words)) + b"".join(_string(word.encode()) for word in words) + _string(stdin)
        assert self._process.stdin is not None
        self._process.stdin.write(request)
        self._process.stdin.flush()
        deadline = time.monotonic() + timeout
        try:
            (size,) = INT32.unpack(self._read(INT32.size, deadline, timeout))
            return self._read(size, deadline, timeout)
        except BaseException:
            self.close()
            raise

    def _read(self, size: int, deadline: float, timeout: float) -> bytes:
        assert self._process.stdout is not None
        pipe, received = self._process.stdout.fileno(), bytearray()
        while len(received) < size:
            if not select.select([pipe], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise subprocess.TimeoutExpired(self._process.args, timeout)
            chunk = os.read(pipe, size - len(received))
            if not chunk:
                self._errors.seek(0)
                said = self._errors.read().decode(errors="replace")
                raise EOFError(f"the virtual machine of Kafka's tools ended: {said[-2000:]}")
            received += chunk
        return bytes(received)

    def close(self) -> None:
        atexit.unregister(self.close)
        self._process.kill()
        self._process.wait(30)
        for pipe in (self._process.stdin, self._process.stdout, self._errors):
            if pipe is not None:
                pipe.close()


_servers: list[ToolServer] = []


def _server() -> ToolServer:
    if not _servers or not _servers[-1].running:
        _servers.append(ToolServer())
    return _servers[-1]


def _string(text: bytes) -> bytes:
    return INT32.pack(len(text)) + text
