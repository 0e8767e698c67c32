"""An HTTP server that answers what a test says, byte by byte if need be, and keeps what it was asked."""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple, Self


class Asked(NamedTuple):
    """One request, and the number of the connection it came on."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    connection: int


class Say(NamedTuple):
    """Bytes as they are; then the end of the connection, or the next request."""

    data: bytes
    close: bool = True


class Hang(NamedTuple):
    """Say nothing for so long, then close."""

    seconds: float


class Twice(NamedTuple):
    """An answer, and more that nobody asked for, a moment later."""

    data: bytes
    more: bytes


Step = Say | Hang | Twice | bytes


def answer(value: object, status: int = 200, **headers: str) -> bytes:
    """An answer with a JSON body."""
    return raw(json.dumps(value).encode(), status, **headers)


def raw(body: bytes, status: int = 200, **headers: str) -> bytes:
    fields = {"Content-Type": "application/vnd.schemaregistry.v1+json", "Content-Length": str(len(body))}
    fields |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = [f"HTTP/1.1 {status} Whatever", *(f"{name}: {value}" for name, value in fields.items())]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def refusal(status: int, code: int | None, message: str = "no", **headers: str) -> bytes:
    return answer({"message": message} if code is None else {"error_code": code, "message": message}, status, **headers)


class Scripted:
    """`with Scripted(step, …) as server:` answers at `server.url`, a step for each request, the last one for ever; or
    what `server.route` returns for a request, unless that is None."""

    def __init__(self, *steps: Step, tls: ssl.SSLContext | None = None, greeting: bytes = b"") -> None:
        self.steps = list(steps)
        self.asked: list[Asked] = []
        self.connections = 0
        self.route: Callable[[Asked], Step | None] = lambda _: None
        self._tls = tls
        self._greeting = greeting
        self._ended = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(0.05)
        self.port = self._listener.getsockname()[1]
        self.url = f"{'http' if tls is None else 'https'}://127.0.0.1:{self.port}"
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> Self:
        self._start(self._accept)
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join(5)
        self._listener.close()

    def paths(self) -> list[str]:
        return [asked.path for asked in self.asked]

    async def heard(self) -> None:
        """A request has come."""
        while not self.asked:  # noqa: ASYNC110 a thread hears it
            await asyncio.sleep(0.01)

    def _start(self, work: Callable[..., None], *words: Any) -> None:
        thread = threading.Thread(target=work, args=words, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while not self._ended.is_set():
            try:
                connection, _ = self._listener.accept()
            except TimeoutError:
                continue
            self.connections += 1
            self._start(self._serve, connection, self.connections)

    def _serve(self, connection: socket.socket, number: int) -> None:
        with connection:
            try:
                if self._tls is not None:
                    connection.settimeout(5)
                    connection = self._tls.wrap_socket(connection, server_side=True)
                with connection:
                    self._requests(connection, number)
            except OSError:  # the other side went away, which is what some tests are about
                return

    def _requests(self, connection: socket.socket, number: int) -> None:
        if self._greeting:
            connection.sendall(self._greeting)
        connection.settimeout(0.05)
        kept = b""
        while True:
            asked, kept = self._read(connection, number, kept)
            if asked is None:
                return
            self.asked.append(asked)
            step = self.route(asked)
            if step is None:
                step = self.steps[0] if len(self.steps) == 1 else self.steps.pop(0)
            if isinstance(step, Hang):
                self._ended.wait(step.seconds)
                return
            connection.settimeout(5)
            connection.sendall(step if isinstance(step, bytes) else step.data)
            if isinstance(step, Twice):
                self._ended.wait(0.05)
                connection.sendall(step.more)
            connection.settimeout(0.05)
            if isinstance(step, Say) and step.close:
                return

    def _read(self, connection: socket.socket, number: int, data: bytes) -> tuple[Asked | None, bytes]:
        length = -1
        while True:
            head, found, rest = data.partition(b"\r\n\r\n")
            if found:
                lines = head.decode("latin-1").split("\r\n")
                headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines[1:])}
                length = int(headers.get("content-length", "0"))
                if len(rest) >= length:
                    method, path, _ = lines[0].split(" ")
                    return Asked(method, path, headers, rest[:length], number), rest[length:]
            try:
                more = connection.recv(65536)
            except TimeoutError:
                if self._ended.is_set():
                    return None, b""
                continue
            if not more:
                return None, b""
            data += more


def nobody() -> str:
    """An address where nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"http://127.0.0.1:{listener.getsockname()[1]}"


def elapsed(since: float) -> float:
    return time.monotonic() - since
