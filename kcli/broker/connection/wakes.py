"""How often the loop is woken while a large response comes in, or several small ones that are of use only together."""

from __future__ import annotations

import asyncio
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
PATIENCE = 0.002
"""Seconds without a read after which small responses are no longer waited for together: twice that at most."""
PAUSE = 1.0
"""Seconds until they may be again."""


class Wakes:
    """The socket's SO_RCVLOWAT (socket(7)): it becomes readable when that many bytes are there, or the stream is over.
    Only on a system that makes room for them: an older one may wait for more than its buffer takes, for ever."""

    def __init__(self, transport: BaseTransport) -> None:
        self._socket = transport.get_extra_info("socket") if makes_room() else None
        self._loop = asyncio.get_running_loop()
        self._at = 1
        self._together = 1  # bytes of small responses that are read in one piece
        self._reads = self._seen = 0  # reads, and how many there were when `_look` last ran
        self._alarm: asyncio.TimerHandle | None = None
        self._paused_until = 0.0

    def expect(self, missing: int) -> None:
        """Something was read. `missing` bytes of a large response are still to come; 0 when none is known to."""
        self._reads += 1
        at = min(missing - SLACK, PIECE) if missing > LARGE else self._together
        if at != self._at:
            self._wake_at(at)

    def expect_together(self, size: int) -> None:
        """The next responses are of `size` bytes in all, and nothing is done before all of them are there; 1 for none.
        If they do not come soon, each wakes the loop again."""
        if size == self._together or self._socket is None or (size > 1 and self._loop.time() < self._paused_until):
            return
        before, self._together = self._together, size
        if self._at == before:
            self._wake_at(size)
        if size > 1 and self._alarm is None:
            self._look_later()

    def _wake_at(self, size: int) -> None:
        if self._socket is not None:
            try:
                self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, size)
            except (OSError, ValueError):  # a system without it, or a closed socket (ValueError: uvloop, TLS)
                self._socket = None
        self._at = size

    def _look_later(self) -> None:
        self._seen = self._reads
        self._alarm = self._loop.call_later(PATIENCE, self._look)

    def _look(self) -> None:
        """A response that is shorter than the others, or late, must not hold up those before it."""
        self._alarm = None
        if self._together == 1:
            return
        if self._reads == self._seen:
            self._paused_until = self._loop.time() + PAUSE
            self.expect_together(1)
        else:
            self._look_later()

    def end(self) -> None:
        """The connection is over."""
        self._together = 1
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
