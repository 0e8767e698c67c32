"""A connection with TLS, SASL, or both. Used only by clients with such settings.

The SASL exchange runs before other requests, and re-authentication while others are held: both bypass the gate and take
no slot, see `Renewal`.
"""

from __future__ import annotations

import asyncio

from kcli.broker.connection.connection import HIGH_WATER, Connection, Waiter
from kcli.errors import Closed, ConnectError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    from kcli.broker.connection.connection import Waiter
    from kcli.proto.schema import Request

    class Renewal(Protocol):
        """The interface of a connection's renewal: see `authentication.Renewal`."""

        at: float

        def begin(self) -> None: ...


LOOK_AGAIN = 0.002  # seconds


class SecuredConnection(Connection):
    """Takes the same arguments as `Connection`."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.renewal: Renewal | None = None  # if the authentication expires (KIP-368)
        self._wire: asyncio.Transport | None = None  # below TLS
        self._emptied: asyncio.Future[None] | None = None  # waits until nothing is in flight
        self._token: asyncio.Future[bytes] | None = None  # waits for a bare SASL token

    # -- TLS --------------------------------------------------------------------------------------------------------

    @property
    def wire(self) -> asyncio.Transport:
        """The transport to write to: the TCP connection before TLS is established."""
        assert self._transport is not None
        return self._transport

    def secured(self, transport: asyncio.Transport) -> None:
        """TLS is established; write to this transport from now on."""
        self._wire, self._transport = self._transport, transport
        transport.set_write_buffer_limits(high=HIGH_WATER)

    @property
    def loopback(self) -> bool:
        """The peer is on this machine."""
        peer = self._transport.get_extra_info("peername") if self._transport is not None else None
        host = str(peer[0]) if peer else ""
        return host == "::1" or host.removeprefix("::ffff:").startswith("127.")

    async def _flush(self, timeout: float) -> None:
        """Wait until data was sent: there are two buffers between us and the system, and no event when both are empty,
        so poll."""
        if self._wire is None:
            await super()._flush(timeout)
            return
        assert self._transport is not None
        end = self._loop.time() + timeout
        while self.lost is None and (self._wire.get_write_buffer_size() or self._transport.get_write_buffer_size()):
            if self._loop.time() > end:
                self._stuck(timeout)
            await asyncio.sleep(LOOK_AGAIN)
        if self.lost is not None:
            raise Closed(str(self.lost)) if isinstance(self.lost, Closed) else ConnectError(str(self.lost), sent=True)

    # -- SASL -------------------------------------------------------------------------------------------------------

    async def exchange(self, request: Request[Any], version: int, timeout: float) -> Any:
        """Send a request even while others are held, and await the response. Raises ConnectError, DeadlineExceeded,
        Closed."""
        if self.lost is not None:
            raise self._not_sent()
        self._send(self._session.send(request, version))
        future: asyncio.Future[Any] = self._loop.create_future()
        self._expect(Waiter(self._session.asked[-1], future, False, self._loop.time(), timeout))
        return await future

    async def exchange_raw(self, token: bytes, timeout: float) -> bytes:
        """Send a bare SASL token with its size, as after SaslHandshake 0 (KIP-43), and return the token in the
        response."""
        if self.lost is not None:
            raise self._not_sent()
        self._token = self._loop.create_future()
        self.wire.write(len(token).to_bytes(4, "big") + token)
        try:
            async with asyncio.timeout(timeout):
                return await self._token
        finally:
            self._token = None

    def _answer(self, frame: memoryview) -> None:
        if self._token is not None and not self._token.done():
            self._token.set_result(bytes(frame))
        else:
            super()._answer(frame)

    # -- re-authentication ------------------------------------------------------------------------------------------

    async def _write(self, request: Request[Any], version: int, timeout: float, *, answered: bool) -> None:
        if self.renewal is not None and self._loop.time() >= self.renewal.at:
            self.renewal.begin()
        await super()._write(request, version, timeout, answered=answered)

    def _writable(self, now: float) -> bool:
        due = self.renewal is not None and self._loop.time() >= self.renewal.at
        return not due and super()._writable(now)

    def hold(self) -> None:
        """Hold all writes except those of `exchange`."""
        self._gate.hold()

    def release(self) -> None:
        self._gate.release()

    async def drained(self) -> None:
        """Wait until nothing is in flight. Raises ConnectError or Closed if the connection ended."""
        while self._waiters and self.lost is None:
            self._emptied = self._loop.create_future()
            await self._emptied
        if self.lost is not None:
            raise self._not_sent()

    def _settle(self, waiter: Waiter, answer: Any) -> None:
        super()._settle(waiter, answer)
        if not self._waiters:
            self._wake(self._emptied)

    def _end(self, lost: ConnectError | Closed) -> None:
        super()._end(lost)
        self._wake(self._emptied)
        if self._token is not None and not self._token.done():
            self._token.set_exception(self._not_sent())

    def _wake(self, waiting: asyncio.Future[None] | None) -> None:
        if waiting is not None and not waiting.done():
            waiting.set_result(None)
