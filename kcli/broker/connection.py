"""One TCP connection: requests out in order, answers back in order, and one way to die.

A framing error, a wrong correlation id or a request over its time ends the connection and fails everything on it: the
order of the stream is lost (B3, B6). A cancelled caller leaves a tombstone, its answer is read and dropped (B4).
"""

from __future__ import annotations

import asyncio
from collections import deque

from kcli.errors import Closed, ConnectError, DeadlineExceeded, DecodeError
from kcli.proto.session import ClientSession, FrameReader, describe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from kcli.proto.schema import Buffer, Request

HIGH_WATER = 4 * 1024 * 1024


class Waiter:
    """A request on the wire: who waits for its answer, and until when."""

    __slots__ = ("future", "timer")

    def __init__(self, future: asyncio.Future[Any]) -> None:
        self.future = future
        self.timer: asyncio.TimerHandle | None = None


class Connection(asyncio.BufferedProtocol):
    """A connected peer. `name` is how it is called in error messages; `on_lost` is called once, at the end."""

    def __init__(
        self, name: str, client_id: str, max_frame: int, max_in_flight: int, on_lost: Callable[[Connection], None]
    ) -> None:
        self.name = name
        self.lost: BaseException | None = None
        self.answered = 0
        self._loop = asyncio.get_running_loop()
        self._session = ClientSession(client_id)
        self._reader = FrameReader(max_frame)
        self._waiters: deque[Waiter] = deque()
        self._slots = asyncio.Semaphore(max_in_flight)
        self._writable = asyncio.Event()
        self._writable.set()
        self._muted_until = 0.0
        self._on_lost = on_lost
        self._transport: asyncio.Transport | None = None
        self.last_used = self._loop.time()

    # -- the caller's side ------------------------------------------------------------------------------------------

    @property
    def idle(self) -> bool:
        """Nothing is on the wire."""
        return not self._waiters

    @property
    def in_flight(self) -> int:
        return len(self._waiters)

    async def ask(self, request: Request[Any], version: int, timeout: float) -> asyncio.Future[Any]:
        """Write the request; the future is its answer, at most `timeout` seconds after the write. Callers take turns:
        the next one may ask when this returns, which is when the request is written.
        Raises ConnectError, Closed; EncodeError with nothing written. The future: ConnectError, DeadlineExceeded."""
        await self._slots.acquire()
        try:
            await self._write(request, version, timeout, answered=True)
        except BaseException:
            self._slots.release()
            raise
        waiter = Waiter(self._loop.create_future())
        waiter.timer = self._loop.call_later(timeout, self._expire, waiter, timeout)
        self._waiters.append(waiter)
        return waiter.future

    async def tell(self, request: Request[Any], version: int, timeout: float) -> None:
        """Write a request that has no answer."""
        await self._write(request, version, timeout, answered=False)

    async def _write(self, request: Request[Any], version: int, timeout: float, *, answered: bool) -> None:
        if not self._writable.is_set() or self._muted_until:
            await self._may_write(timeout)
        if self.lost is not None:
            raise self._not_sent()
        parts = self._session.send(request, version, answered=answered)
        self.last_used = self._loop.time()
        self._send(parts)

    async def _may_write(self, timeout: float) -> None:
        """Wait until the peer reads again and does not throttle us."""
        try:
            async with asyncio.timeout(timeout):
                await self._writable.wait()
        except TimeoutError:
            # what is already in the buffer will never get through (A5.16)
            self._fail(f"{self.name} has stopped reading; nothing could be sent for {timeout:g} s")
        if (left := self._muted_until - self._loop.time()) > 0:  # answers go on coming while we are muted (B25)
            await asyncio.sleep(left)

    def _send(self, parts: list[Buffer]) -> None:
        assert self._transport is not None
        small: list[Buffer] = []
        for part in parts:
            if len(part) >= 65536:  # record batches go out as they are, without a copy into one frame
                self._transport.write(b"".join(small))
                self._transport.write(part)
                small = []
            else:
                small.append(part)
        if small:
            self._transport.write(b"".join(small))

    def _expire(self, waiter: Waiter, timeout: float) -> None:
        if waiter.future.done() and waiter in self._waiters:
            return  # a tombstone: its caller has gone, the answer may still come
        asked = self._session.asked[0] if self._session.asked else None
        what = f" ({describe(asked)})" if asked is not None else ""
        self._fail(
            f"{self.name} did not answer within {timeout:g} s{what}",
            DeadlineExceeded(f"{self.name} did not answer within {timeout:g} s{what}", sent=True),
        )

    def _not_sent(self) -> Exception:
        if isinstance(self.lost, Closed):
            return self.lost
        return ConnectError(str(self.lost), sent=False)

    # -- the transport's side ---------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.set_write_buffer_limits(high=HIGH_WATER)

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._reader.buffer()

    def buffer_updated(self, nbytes: int) -> None:
        try:
            frames = self._reader.received(nbytes)
            for frame in frames:
                self._answer(frame)
        except DecodeError as broken:
            self._fail(f"{self.name}: {broken}")

    def _answer(self, frame: memoryview) -> None:
        _, response = self._session.receive(frame)
        waiter = self._waiters.popleft()
        self._slots.release()  # not when the caller leaves: a tombstone is still in flight
        self.answered += 1
        throttle = getattr(response, "throttle_time_ms", 0)
        if throttle > 0:
            self._muted_until = max(self._muted_until, self._loop.time() + throttle / 1000)
        if waiter.timer is not None:
            waiter.timer.cancel()
        if not waiter.future.done():
            waiter.future.set_result(response)

    def eof_received(self) -> bool:
        return False

    def connection_lost(self, exc: BaseException | None) -> None:
        reason = f": {exc}" if exc is not None else ""
        self._fail(f"{self.name} closed the connection{reason}")

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    # -- the end ----------------------------------------------------------------------------------------------------

    def _fail(self, reason: str, first: Exception | None = None) -> None:
        """End the connection; whoever waits may have been heard (`sent`). `first` is for the oldest waiter."""
        if self.lost is not None:
            return
        self.lost = ConnectError(reason, sent=True)
        self._end(first)

    def close(self) -> None:
        """End the connection on our side. Idempotent."""
        if self.lost is None:
            self.lost = Closed(f"the connection to {self.name} was closed")
            self._end(None)

    def _end(self, first: Exception | None) -> None:
        assert self.lost is not None
        waiters, self._waiters = self._waiters, deque()
        for waiter in waiters:
            if waiter.timer is not None:
                waiter.timer.cancel()
            self._slots.release()
            if not waiter.future.done():
                waiter.future.set_exception(first or self._copy())
                first = None
        self._writable.set()
        if self._transport is not None:
            self._transport.abort()
        self._on_lost(self)

    def _copy(self) -> Exception:
        if isinstance(self.lost, ConnectError):
            return ConnectError(str(self.lost), sent=True)
        return Closed(str(self.lost))
