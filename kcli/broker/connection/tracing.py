"""`--trace`: a line for each frame. Traced connections are a separate class, so that others pay nothing.

    12:31:05.120931 > [1] localhost:9092 ApiVersions v4 #0 40 B
    12:31:05.121544 < [1] localhost:9092 ApiVersions v4 #0 590 B 0.6 ms

`>` is sent, `<` received; `+` and `-` are the start and end of a connection, whose number is in brackets. Sizes are of
whole frames; the time is from the write to the response. Contents of frames are never written, so neither records nor
secrets appear.
"""

from __future__ import annotations

import sys
from itertools import count
from struct import Struct as Layout

from kcli.broker.connection.connection import Connection
from kcli.errors import Closed
from kcli.proto.messages import api_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio
    from typing import TextIO

    from kcli.proto.buffer import Buffer

_HEADER = Layout(">ihhi")
_ID = Layout(">i")
_numbers = count(1)
_files: dict[str, TextIO] = {}
WIDTH = 16


class Dumping(Connection):
    """Mixin for connections that also print bytes. `api` is the key of the API. Nothing is printed before
    `Dumping.armed` is set, so that requests of the client itself are not shown."""

    api = -1
    armed = False

    def _send_all(self, frames: list[list[Buffer]]) -> None:
        for frame in frames:
            self._send(frame)

    def _send(self, parts: list[Buffer]) -> None:
        _, key, version, number = _HEADER.unpack_from(parts[0])
        if key == self.api and Dumping.armed:
            self._shown = number
            _show(f"> request, {self.name}, version {version}", b"".join(bytes(part) for part in parts))
        super()._send(parts)

    def _answer(self, frame: memoryview) -> None:
        if len(frame) >= 4 and _ID.unpack_from(frame)[0] == getattr(self, "_shown", None):
            _show(f"< answer, {self.name}", _ID.pack(len(frame)) + bytes(frame))
        super()._answer(frame)


def _show(what: str, data: bytes) -> None:
    lines = [f"{what}, {len(data)} bytes"]
    for at in range(0, len(data), WIDTH):
        row = data[at : at + WIDTH]
        pairs = " ".join(row[n : n + 2].hex() for n in range(0, len(row), 2))
        text = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in row)
        lines.append(f"{at:08x}: {pairs:<39}  {text}")
    sys.stderr.write("\n".join(lines) + "\n")
    sys.stderr.flush()


def dumping(api: int, kind: type[Connection] = Connection) -> type[Connection]:
    """Return a connection class that shows the frames of an API."""
    return type("DumpingConnection", (Dumping, kind), {"api": api})


class Traced(Connection):
    """Mixin for connections that are traced."""

    where = "-"

    def _tell(self, sign: str, text: str) -> None:
        from datetime import datetime

        from kcli.text.escape import visible

        line = visible(f"{datetime.now().strftime('%H:%M:%S.%f')} {sign} [{self._number}] {self.name} {text}")
        out = _open(self.where)
        try:
            out.write(f"{line}\n")
            out.flush()
        except OSError:
            _files[self.where] = _nowhere()  # the reader is gone, which must not fail the command

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._asked: dict[int, tuple[str, float]] = {}
        self._number = next(_numbers)
        peer = transport.get_extra_info("peername")
        self._tell("+", f"connected to {peer[0]}:{peer[1]}" if peer else "connected")
        super().connection_made(transport)

    def _send_all(self, frames: list[list[Buffer]]) -> None:
        for frame in frames:
            self._send(frame)

    def _send(self, parts: list[Buffer]) -> None:
        head = parts[0]
        size = sum(len(part) for part in parts)
        _, key, version, number = _HEADER.unpack_from(head)
        what = f"{api_name(key)} v{version} #{number}"
        self._asked[number] = what, self._loop.time()
        self._tell(">", f"{what} {size} B")
        super()._send(parts)

    def _answer(self, frame: memoryview) -> None:
        number = _ID.unpack_from(frame)[0] if len(frame) >= 4 else -1
        what, since = self._asked.pop(number, ("a SASL token", self._loop.time()))  # those have no number (KIP-43)
        self._tell("<", f"{what} {len(frame) + 4} B {(self._loop.time() - since) * 1000:.1f} ms")
        super()._answer(frame)

    def connection_lost(self, exc: BaseException | None) -> None:
        ours = isinstance(self.lost, Closed)
        super().connection_lost(exc)
        self._tell("-", "closed" if ours else str(self.lost))


class _Nowhere:
    """Discards lines after the reader is gone."""

    def write(self, text: str) -> int:
        return len(text)

    def flush(self) -> None:
        """Do nothing: there is no buffer."""


def _nowhere() -> TextIO:
    stream: TextIO = _Nowhere()  # type: ignore[assignment]  # write and flush are all that is used
    return stream


def _open(where: str) -> TextIO:
    """Open the trace. Others cannot read the file, because it contains topic and group names."""
    if where == "-":
        return _files.get(where, sys.stderr)
    if where not in _files:
        import atexit
        import os

        _files[where] = os.fdopen(os.open(where, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "a", encoding="utf-8")
        atexit.register(_files[where].close)
    return _files[where]


def traced(where: str, kind: type[Connection] = Connection) -> type[Connection]:
    """Return a connection class that writes to `where`. Raises OSError if the file cannot be written."""
    _open(where)
    return type("TracedConnection", (Traced, kind), {"where": where})
