"""A client's connection as the parts of a sandbox see it, and how an answer ends it."""

from __future__ import annotations

import asyncio
from typing import Protocol

from kcli.proto.buffer import Buffer

CHUNK = 512 * 1024
SMALL = 16 * 1024
SEND_BUFFER = 2 * CHUNK  # bytes that the kernel takes


class Peer(Protocol):
    """`asked`: whether a whole request ever came; `since`: when it connected (monotonic seconds)."""

    asked: bool
    since: float

    @property
    def principal(self) -> str:
        """User:NAME, or User:ANONYMOUS."""

    def abort(self) -> None:
        """Break the connection at once."""

    def used(self) -> None:
        """The connection is in use: its idle time starts again."""

    def forget(self) -> None:
        """The broker counts this connection no more."""

    async def ended(self) -> None:
        """Wait until nothing of this connection runs any more."""


class CloseConnection(Exception):
    """The answer to this request is that the connection ends (acks=0 with an error)."""


class Outgoing:
    """`held` is a response that goes out with the next one (a fault)."""

    def __init__(self, transport: asyncio.Transport) -> None:
        transport.set_write_buffer_limits(high=CHUNK)
        self.held: list[Buffer] = []
        self._transport = transport
        self._drained: asyncio.Future[None] | None = None  # write() waits for the socket

    def pause(self) -> None:
        """The socket takes no more for now."""
        self._drained = asyncio.get_running_loop().create_future()

    def resume(self) -> None:
        """The socket takes more."""
        if self._drained is not None and not self._drained.done():
            self._drained.set_result(None)
        self._drained = None

    async def write(self, parts: list[Buffer]) -> None:
        """Small parts go out together; a large one is a slice of a log and goes out in chunks, not copied."""
        if self._transport.is_closing():
            return  # the peer has gone
        small: list[Buffer] = []
        if self.held:
            small, self.held = self.held, []
        for part in parts:
            if len(part) < SMALL:
                small.append(part)
                continue
            if small:
                self._transport.write(b"".join(small))
                small = []
            view = memoryview(part)
            for at in range(0, len(view), CHUNK):
                self._transport.write(view[at : at + CHUNK])
                if self._drained is not None:
                    await self._drained
        if small:
            self._transport.write(b"".join(small))
        if self._drained is not None:
            await self._drained
