"""How often the loop is woken while a large response comes in."""

from __future__ import annotations

import socket

from kcli.system.sockets import makes_room

TYPE_CHECKING = False
if TYPE_CHECKING:
    from asyncio import BaseTransport

LARGE = 64 * 1024
"""Bytes that are missing of a response, below which each piece that comes wakes the loop."""
PIECE = 1024 * 1024
"""Bytes that come before it wakes for the rest of a larger response: a turn of the loop costs as much as the copying of
some 100 KB."""
SLACK = 32 * 1024
"""Bytes that may lie before us already, in a TLS record that is not whole."""


class Wakes:
    """The socket's SO_RCVLOWAT (socket(7)): it becomes readable when that many bytes are there, or the stream is over.
    Only on a system that makes room for them: an older one may wait for more than its buffer takes, for ever."""

    def __init__(self, transport: BaseTransport) -> None:
        self._socket = transport.get_extra_info("socket") if makes_room() else None
        self._at = 1

    def expect(self, missing: int) -> None:
        """`missing` bytes of a response are still to come; 0 when none is known to."""
        at = min(missing - SLACK, PIECE) if missing > LARGE else 1
        if at != self._at and self._socket is not None:
            try:
                self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, at)
            except OSError:  # a system that has none, or a socket that is closed: each piece wakes us
                self._socket = None
            self._at = at
