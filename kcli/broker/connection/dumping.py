"""The bytes of frames of one API, on stderr, as `xxd` draws them: `kcli raw --hex`. No other API's frames are shown, so
no secret of the handshake and no record that was not asked for."""

from __future__ import annotations

import sys
from struct import Struct as Layout

from kcli.broker.connection.connection import Connection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.proto.buffer import Buffer

_HEADER = Layout(">ihhi")
_ID = Layout(">i")
WIDTH = 16


class Dumping(Connection):
    """A mixin: a connection that also prints bytes. `api` is the key of the API. Nothing is printed before
    `Dumping.armed` is set: requests of the client itself are not meant."""

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
    """A kind of connection that shows the frames of an API."""
    return type("DumpingConnection", (Dumping, kind), {"api": api})
