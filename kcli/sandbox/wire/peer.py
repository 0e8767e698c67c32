"""A client's connection as seen by the parts of a sandbox, and how a response can end it."""

from __future__ import annotations

import asyncio
from typing import Protocol

from kcli.proto.buffer import Buffer

CHUNK = 512 * 1024
SMALL = 16 * 1024
SEND_BUFFER = 2 * CHUNK  # bytes that the kernel takes


class Peer(Protocol):
    """`asked`: whether a whole request has arrived; `since`: when it connected (monotonic seconds)."""

    asked: bool
    since: float

    @property
    def principal(self) -> str:
        """User:NAME, or User:ANONYMOUS."""

    def abort(self) -> None:
        """Break the connection at once."""

    def used(self) -> None:
        """The connection is in use: restart its idle time."""

    def forget(self) -> None:
        """The broker no longer counts this connection."""

    async def ended(self) -> None:
        """Wait until nothing of this connection is running."""


class CloseConnection(Exception):
    """The response to this request is that the connection ends (acks=0 with an error)."""


class Outgoing:
    """`held` is a response to send with the next one (a fault)."""

    def __init__(self, transport: asyncio.Transport) -> None:
        transport.set_write_buffer_limits(high=CHUNK)
        self.held: list[Buffer] = []
        self._transport = transport
        self._drained: asyncio.Future[None] | None = None  # write() waits for the socket

    def pause(self) -> None:
        """The socket accepts no more for now."""
        self._drained = asyncio.get_running_loop().create_future()

    def resume(self) -> None:
        """The socket accepts more."""
        if self._drained is not None and not self._drained.done():
            self._drained.set_result(None)
        self._drained = None

    async def write(self, parts: list[Buffer]) -> None:
        """Write small parts together; a large one is a slice of a log and is written in chunks, without copying."""
        if self._transport.is_closing():
            return  # the client is gone
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
