"""Controls how often the loop is woken while a large response arrives, or several small ones that are needed
together."""

from __future__ import annotations

import asyncio
import socket

from kcli.system.sockets import makes_room

TYPE_CHECKING = False
if TYPE_CHECKING:
    from asyncio import BaseTransport

LARGE = 64 * 1024
"""Missing bytes of a response below which every piece that arrives wakes the loop."""
PIECE = 1024 * 1024
"""Bytes to receive before a wake-up in a larger response: a turn of the loop costs as much as copying some 100 KB."""
SLACK = 32 * 1024
"""Bytes that may already have arrived in an incomplete TLS record."""
PATIENCE = 0.002
"""Seconds without a read after which small responses are no longer awaited together; at most twice that in practice."""
PAUSE = 1.0
"""Seconds until they may be awaited together again."""


class Wakes:
    """Sets the socket's SO_RCVLOWAT (socket(7)): the socket becomes readable when this many bytes have arrived, or the
    stream has ended. Only on systems that grow the buffer for it: others could wait forever for more than their buffer
    holds."""

    def __init__(self, transport: BaseTransport) -> None:
        self._socket = transport.get_extra_info("socket") if makes_room() else None
        self._loop = asyncio.get_running_loop()
        self._at = 1
        self._together = 1  # bytes of small responses to read in one piece
        self._reads = self._seen = 0  # reads so far, and at the last run of `_check`
        self._alarm: asyncio.TimerHandle | None = None
        self._paused_until = 0.0

    def expect(self, missing: int) -> None:
        """Note a read. `missing` bytes of a large response are still to come; 0 if none are known."""
        self._reads += 1
        at = min(missing - SLACK, PIECE) if missing > LARGE else self._together
        if at != self._at:
            self._wake_at(at)

    def expect_together(self, size: int) -> None:
        """The next responses have `size` bytes in total and are needed together; 1 for none. If they do not arrive
        soon, each wakes the loop again."""
        if size == self._together or self._socket is None or (size > 1 and self._loop.time() < self._paused_until):
            return
        before, self._together = self._together, size
        if self._at == before:
            self._wake_at(size)
        if size > 1 and self._alarm is None:
            self._check_later()

    def _wake_at(self, size: int) -> None:
        if self._socket is not None:
            try:
                self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, size)
            except (OSError, ValueError):  # not supported, or a closed socket (ValueError: uvloop, TLS)
                self._socket = None
        self._at = size

    def _check_later(self) -> None:
        self._seen = self._reads
        self._alarm = self._loop.call_later(PATIENCE, self._check)

    def _check(self) -> None:
        """Stop waiting together if responses are shorter than expected or late, so that they do not delay those before
        them."""
        self._alarm = None
        if self._together == 1:
            return
        if self._reads == self._seen:
            self._paused_until = self._loop.time() + PAUSE
            self.expect_together(1)
        else:
            self._check_later()

    def end(self) -> None:
        """The connection ended."""
        self._together = 1
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
