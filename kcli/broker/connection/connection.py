"""One TCP connection: requests and responses in order, and a single shutdown path.

A framing error, a wrong correlation id or a timed-out request ends the connection and fails every request on it,
because the order of the stream is lost. If a caller is cancelled, its response is still read, and dropped.
"""

from __future__ import annotations

import asyncio
from collections import deque

from kcli.broker.connection.backpressure import LONG, Gate, Slots, pause
from kcli.broker.connection.versions import pick
from kcli.broker.connection.wakes import Wakes
from kcli.errors import Closed, ConnectError, DeadlineExceeded, DecodeError, KcliError
from kcli.proto.session import ClientSession, FrameReader, describe
from kcli.text.log import Log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from kcli.broker.connection.versions import Ranges
    from kcli.metrics.observer import BrokerObserver
    from kcli.model import Posted, Reply
    from kcli.proto.buffer import Buffer
    from kcli.proto.schema import Request
    from kcli.proto.session import Asked

LOG = Log("broker")
HIGH_WATER = 4 * 1024 * 1024
UNHEARD = " on the first request: it may require authentication (security.protocol=SASL_PLAINTEXT or SASL_SSL)"
LATE = 0.05  # seconds: a timer this late means that the loop was blocked
QUIET = 1.0  # seconds without traffic after which the peer may have closed the connection unnoticed


class Waiter:
    """A request on the wire: its receiver, when it was written (loop time), and its timeout in seconds. `slot`: it
    counts as in flight. `after` is called after all responses of one read."""

    __slots__ = ("after", "asked", "future", "since", "slot", "timeout")

    def __init__(
        self,
        asked: Asked,
        future: Reply,
        slot: bool,
        since: float,
        timeout: float,
        after: Callable[[], None] | None = None,
    ) -> None:
        self.after = after
        self.asked = asked
        self.future = future
        self.slot = slot
        self.since = since
        self.timeout = timeout


GREETINGS = (17, 18, 36)
"""SaslHandshake, ApiVersions, SaslAuthenticate."""
GREETING = 1024 * 1024
"""Largest response to those in bytes: a peer that has not yet proved to be our broker must not make us reserve more."""


class Connection(asyncio.BufferedProtocol):
    """A connected peer. `name` is used in error messages; `on_lost` is called once, at the end."""

    def __init__(
        self, name: str, client_id: str, max_frame: int, max_in_flight: int, on_lost: Callable[[Connection], None]
    ) -> None:
        self.name = name
        self.versions: Ranges = {}
        self.lost: BaseException | None = None
        self.hung_up = False  # the peer closed
        self.cause: BaseException | None = None  # the transport's reason for the loss
        self._loop = asyncio.get_running_loop()
        self._session = ClientSession(client_id)
        self._max_frame = max_frame
        self._reader = FrameReader(min(max_frame, GREETING))
        self._waiters: deque[Waiter] = deque()
        self._slots = Slots(max_in_flight)
        self._alarm: asyncio.TimerHandle | None = None  # not later than the first deadline of a waiter
        self._gate = Gate()
        self._on_lost = on_lost
        self._greeted = -1
        self._transport: asyncio.Transport | None = None
        self.last_used = self._loop.time()
        self.observer: BrokerObserver | None = None
        self._open = False  # the handshake is over
        self._enough = 1  # responses to read in one piece
        self._usual = 0  # size of a response, from the last read
        self._after: list[Callable[[], None]] = []  # to call after the responses being read

    # -- called by users --------------------------------------------------------------------------------------------

    @property
    def in_flight(self) -> int:
        return len(self._waiters)

    def greeted(self) -> None:
        """The handshake is over, without authentication: a peer that closes the connection on the next request may
        require it."""
        self._greeted = self._session.answered

    def opened(self, seconds: float) -> None:
        """The connection is established; `seconds` since the attempt began."""
        self._open = True
        if self.observer is not None:
            self.observer.connected(seconds)

    @property
    def muted(self) -> bool:
        """The peer throttles us."""
        return self._gate.muted

    @property
    def long_silence(self) -> float:
        """Seconds for which the peer throttles us, if more than a minute; otherwise 0."""
        return self._gate.asked if self._gate.muted and self._gate.asked > LONG else 0.0

    def idle_since(self, seconds: float) -> bool:
        """Whether nothing has been in flight for `seconds`."""
        return not self._waiters and self._loop.time() - self.last_used >= seconds

    async def ask(self, request: Request[Any], version: int, timeout: float) -> asyncio.Future[Any]:
        """Write the request; the returned future is its response, within `timeout` seconds of the write.

        The caller's turn ends when this returns, which is when the request was written; then the next caller may ask.
        Raises ConnectError, Closed, and EncodeError with nothing written. The future raises ConnectError,
        DeadlineExceeded.
        """
        await self._slots.take()
        try:
            await self._write(request, version, timeout, answered=True)
        except BaseException:
            self._slots.give()
            raise
        future: asyncio.Future[Any] = self._loop.create_future()
        self._expect(Waiter(self._session.asked[-1], future, True, self._loop.time(), timeout))
        return future

    def post(
        self, requests: Sequence[Posted], timeout: float, after: Callable[[], None] | None = None, enough: int = 1
    ) -> int:
        """Write as many of the requests as possible without waiting, in one piece; return their number.

        Use `ask` for the others: it waits, or raises their error. The next `enough` responses are read in one piece, if
        they are as long as the last one and arrive soon, because each read costs a wake-up.
        """
        session, waiters, slots, now = self._session, self._waiters, self._slots, self._loop.time()
        if not self._writable(now):
            return 0
        self._reader.limit = self._max_frame
        frames: list[list[Buffer]] = []
        size = version = 0
        before: tuple[type[Request[Any]], int | None] | None = None
        for request, reply, cap in requests:
            if size > HIGH_WATER or not slots.free or slots.waiting:
                break
            try:
                if (type(request), cap) != before:  # requests posted together are usually alike
                    version = pick(type(request), self.versions, self.name, cap)
                    before = type(request), cap
                frames.append(session.send(request, version))
            except KcliError:
                break
            slots.free -= 1
            asked = session.asked[-1]
            waiters.append(Waiter(asked, reply, True, now, timeout, after))
            size += asked.size
        if frames:
            self.last_used = now
            if self._alarm is None or now + timeout < self._alarm.when():
                self._watch(now + timeout)
            if enough > 1 or self._enough > 1:
                self._enough = enough = min(enough, len(waiters))
                self._wakes.expect_together(max(enough * self._usual, 1) if enough > 1 else 1)
            self._send_all(frames)
        return len(frames)

    def _writable(self, now: float) -> bool:
        """Whether a request may be written at once."""
        silent = not self._waiters and now - self.last_used >= QUIET
        return self.lost is None and self._gate.open and not silent

    def _expect(self, waiter: Waiter) -> None:
        """Wait for the response to the last request written."""
        self._waiters.append(waiter)
        due = waiter.since + waiter.timeout
        if self._alarm is None or due < self._alarm.when():
            self._watch(due)

    async def tell(self, request: Request[Any], version: int, timeout: float) -> None:
        """Write a request that has no response. Returns when the system has taken all of it, because no response will
        confirm it, and buffered data is discarded when the connection ends.

        Raises like `ask`; an error is `sent` if part of the request may have been sent.
        """
        await self._write(request, version, timeout, answered=False)
        await self._flush(timeout)

    async def _flush(self, timeout: float) -> None:
        assert self._transport is not None
        if not self._transport.get_write_buffer_size():
            return
        self._transport.set_write_buffer_limits(high=0)  # paused until the last byte has been sent
        while self._gate.paused and self.lost is None:
            if not await self._gate.wait(timeout):
                self._stuck(timeout)
        if self.lost is not None and self._gate.paused:
            raise Closed(str(self.lost)) if isinstance(self.lost, Closed) else ConnectError(str(self.lost), sent=True)

    async def _write(self, request: Request[Any], version: int, timeout: float, *, answered: bool) -> None:
        if self.idle_since(QUIET):  # let the loop notice a close that is waiting in the socket before writing
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        while not self._gate.open:
            if not await self._gate.wait(timeout):  # what is already buffered will never be sent
                self._stuck(timeout)
        if self.lost is not None:
            raise self._not_sent()
        if request.api_key not in GREETINGS:  # a verified broker: larger responses are accepted now
            self._reader.limit = self._max_frame
        parts = self._session.send(request, version, answered=answered)
        self.last_used = self._loop.time()
        self._send(parts)
        if not answered and self.observer is not None:
            self.observer.unanswered(request.api_key, version, sum(len(part) for part in parts))

    def _send_all(self, frames: list[list[Buffer]]) -> None:
        """Write the frames, the small ones in one write."""
        self._send(frames[0] if len(frames) == 1 else [part for frame in frames for part in frame])

    def _send(self, parts: list[Buffer]) -> None:
        assert self._transport is not None
        if len(parts) == 1:
            self._transport.write(parts[0])
            return
        small: list[Buffer] = []
        for part in parts:
            if len(part) >= 65536:  # record batches are written as they are, without copying them into one frame
                self._transport.write(b"".join(small))
                self._transport.write(part)
                small = []
            else:
                small.append(part)
        if small:
            self._transport.write(small[0] if len(small) == 1 else b"".join(small))

    def _watch(self, due: float) -> None:
        """Check the deadlines at that time. One timer serves all requests, because most are answered long before it
        fires."""
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm = self._loop.call_at(due, self._check)

    def _check(self) -> None:
        """Fail requests past their deadline, including cancelled ones, which would otherwise hold their slots forever
        behind a silent peer. If our own loop was blocked, the response may be there but unread: check again."""
        assert self._alarm is not None
        now, rang = self._loop.time(), self._alarm.when()
        self._alarm = None
        if not self._waiters:
            return
        first = min(self._waiters, key=lambda waiter: waiter.since + waiter.timeout)
        due = first.since + first.timeout
        if due > now:
            self._watch(due)
        elif now - rang > LATE:
            self._watch(now + min(now - rang, first.timeout))
        else:
            self._expire(first)

    def _expire(self, waiter: Waiter) -> None:
        seconds = round(waiter.timeout, 1 if waiter.timeout >= 1 else 3)
        text = f"{self.name} did not answer {describe(waiter.asked)} within {seconds:g} s"
        if not waiter.future.done():
            waiter.future.set_exception(DeadlineExceeded(text, sent=True))
        self._fail(text)

    # -- called by the transport ------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if TYPE_CHECKING:  # uvloop's is not a subclass
            assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._wakes = Wakes(transport)
        transport.set_write_buffer_limits(high=HIGH_WATER)

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._reader.buffer()

    def buffer_updated(self, nbytes: int) -> None:
        self.last_used = self._loop.time()
        try:
            frame = None
            for frame in self._reader.received(nbytes):
                if self.lost is not None:
                    return  # a response ended the connection, and failed every request
                self._answer(frame)
            if frame is not None:
                self._usual = len(frame) + 4
            self._wakes.expect(self._reader.missing)
        except DecodeError as broken:
            about = f" ({describe(self._session.asked[0])})" if self._session.asked else ""
            self._fail(f"{self.name}: {broken}{about}")
        finally:
            self._call_after()
            if len(self._waiters) < self._enough > 1:
                self._enough = 1
                self._wakes.expect_together(1)  # fewer will arrive

    def _note_after(self, waiter: Waiter) -> None:
        if waiter.after is not None and waiter.after not in self._after:
            self._after.append(waiter.after)

    def _call_after(self) -> None:
        """Call the receivers whose responses were read, once each; they may write again."""
        if self._after:
            told, self._after = self._after, []
            for after in told:
                after()

    def _answer(self, frame: memoryview) -> None:
        asked, response = self._session.receive(frame)
        waiter = self._waiters.popleft()
        if waiter.slot and self._slots.waiting:
            self._slots.give()  # released only here: the request of a cancelled caller is still in flight
        elif waiter.slot:
            self._slots.free += 1
        try:
            if self.observer is not None:
                self.observer.answered(asked, len(frame) + 4, self.last_used - waiter.since)
            if asked_for := getattr(response, "throttle_time_ms", 0):
                self._throttled(asked, asked_for)
        finally:  # even if an observer raises, because nothing else settles these waiters
            self._settle(waiter, response)

    def _throttled(self, asked: Asked, milliseconds: int) -> None:
        quiet = pause(asked.request.api_key, asked.version, milliseconds)
        if quiet:
            self._gate.mute(quiet)
            LOG.info("%s: throttles this client for %.3g s (quota)", self.name, quiet)
            if self.observer is not None:
                self.observer.throttled(asked.request.api_key, quiet)

    def _settle(self, waiter: Waiter, answer: Any) -> None:
        if not waiter.future.done():
            waiter.future.set_result(answer)
            if waiter.after is not None and waiter.after not in self._after:
                self._after.append(waiter.after)

    def eof_received(self) -> bool:
        return False

    def connection_lost(self, exc: BaseException | None) -> None:
        self.hung_up = self.lost is None
        self.cause = exc
        cause = f": {exc}" if exc is not None else ""
        if self._session.asked and self._session.answered == self._greeted:
            cause += UNHEARD
        self._fail(f"{self.name} closed the connection{cause}")

    def pause_writing(self) -> None:
        self._gate.pause()

    def resume_writing(self) -> None:
        self._gate.resume()

    # -- the end ----------------------------------------------------------------------------------------------------

    def _fail(self, reason: str) -> None:
        """End the connection. A request without a response may have been executed (`sent`)."""
        self._end(ConnectError(reason, sent=True))

    def _stuck(self, timeout: float) -> None:
        self._fail(f"{self.name} has stopped reading; nothing could be sent for {timeout:g} s")

    def close(self, lost: ConnectError | None = None) -> None:
        """Close the connection. Idempotent. `lost` is the reason if the client continues without it."""
        self._end(lost or Closed(f"the connection to {self.name} was closed"))

    def _end(self, lost: ConnectError | Closed) -> None:
        if self.lost is not None:
            return
        self.lost = lost
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        waiters, self._waiters = self._waiters, deque()
        for waiter in waiters:
            if waiter.slot:
                self._slots.give()
            if not waiter.future.done():
                sent = isinstance(lost, ConnectError)
                waiter.future.set_exception(ConnectError(str(lost), sent=True) if sent else Closed(str(lost)))
            self._note_after(waiter)
        self._gate.end()
        if self._transport is not None:
            self._wakes.end()
            self._transport.abort()
        if self.observer is not None:
            for waiter in waiters:
                self.observer.lost(waiter.asked, self._loop.time() - waiter.since, lost)
            if self._open:
                self.observer.disconnected(lost, lost=isinstance(lost, ConnectError) and lost.sent)
        self._on_lost(self)
        self._call_after()

    def _not_sent(self) -> Exception:
        return Closed(str(self.lost)) if isinstance(self.lost, Closed) else ConnectError(str(self.lost), sent=False)
