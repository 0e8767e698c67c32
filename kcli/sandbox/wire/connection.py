"""A connection to a broker of the sandbox. It answers its requests one after another, in order, as Kafka does;
`faults/responses.py` handles scripted faults."""

from __future__ import annotations

import asyncio
import socket
import time
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from kcli import codes
from kcli.errors import DecodeError
from kcli.proto.session import FrameReader, Received, ServerSession
from kcli.sandbox.access.sasl import SaslSession
from kcli.sandbox.answers import answer_of, served, versions_answered
from kcli.sandbox.cluster.cluster import SandboxCluster
from kcli.sandbox.faults.planned import Conduct
from kcli.sandbox.wire.broker import SandboxBroker
from kcli.sandbox.wire.client_rules import ConnectionChecks
from kcli.sandbox.wire.peer import SEND_BUFFER, CloseConnection, Outgoing
from kcli.sandbox.wire.request_context import ANONYMOUS, RequestContext

MAX_REQUEST = 100 * 1024 * 1024
MAX_WAITING = 64  # waiting frames per connection; more are left in the socket
MAX_WAITING_BYTES = 16 * 1024 * 1024
FREE = 1024 * 1024  # bytes that a connection may hold however much others do
KEPT = 2 * 1024 * 1024  # the largest buffer that a connection reuses
IN_A_ROW = 8  # consecutive requests of a connection before others get their turn
PRODUCE, FETCH, API_VERSIONS = 0, 1, 18
MOST_HELD = 256 * 1024 * 1024
"""Bytes of requests, including incomplete ones, that all connections to all brokers may hold together."""


class Connection(asyncio.BufferedProtocol):
    """One connection."""

    def __init__(self, cluster: SandboxCluster, broker: SandboxBroker, traffic: Traffic) -> None:
        self._cluster = cluster
        self._served = served(cluster.settings)
        self._broker = broker
        self._traffic = traffic
        self.session = ServerSession()
        self.transport: asyncio.Transport
        self.outgoing: Outgoing
        self.checks: ConnectionChecks | None = None  # checks this client if it is kcli
        self.frames: deque[memoryview] = deque()  # waiting for their turn
        self._sasl: SaslSession | None = None  # on a listener with SASL
        self.since = time.monotonic()
        self.asked = False  # whether it has sent a whole request
        self._reader = FrameReader(MAX_REQUEST, KEPT, trusting=False)
        self._unanswered = 0  # bytes of complete frames
        self._taken = 0  # this connection's part of the bytes of all
        self._more: asyncio.Future[None] | None = None  # serve() waits for a frame
        self._full = False
        self._deaf = False
        self._lost = False
        self._ended = False  # whether it ended regularly
        self._waits_its_turn = False
        self._idle: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None]

    # -- called by asyncio ------------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if TYPE_CHECKING:  # uvloop's is not a subclass
            assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.outgoing = Outgoing(transport)
        with suppress(OSError):  # it is already gone; connection_lost follows
            transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        if self._cluster.users is not None:
            self._sasl = SaslSession(self._cluster.users)
        self._broker.connected(self)
        self.used()
        self._task = asyncio.get_running_loop().create_task(self._serve())
        if self._cluster.faults.planned.take("refuse", None, self._broker.node_id):
            transport.close()

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._reader.buffer()

    def buffer_updated(self, nbytes: int) -> None:
        try:
            frames = self._reader.received(nbytes)
        except DecodeError:  # HTTP, TLS, an impossible size: not a Kafka client, so there is nothing to answer
            self.transport.abort()
            return
        self.frames.extend(frames)
        self._unanswered += sum(map(len, frames))
        self._weigh()
        if len(self.frames) > MAX_WAITING or self._unanswered > MAX_WAITING_BYTES:
            self._full = True
            self._listen()
        if self.frames and self._more is not None and not self._more.done():
            self._more.set_result(None)

    def _weigh(self) -> None:
        """Count the bytes of this connection, and close it if it exceeds the limit for all."""
        taken = self._unanswered + self._reader.filling
        if taken == self._taken:
            return
        self._traffic.held += taken - self._taken
        self._taken = taken
        if taken > FREE and self._traffic.held > MOST_HELD:
            self.transport.abort()

    def eof_received(self) -> None:
        self._ended = True

    @property
    def principal(self) -> str:
        """The principal of the client: of SASL, else of its certificate, else User:ANONYMOUS."""
        if self._sasl is not None:
            return f"User:{self._sasl.user}"
        secured = self.transport.get_extra_info("ssl_object")
        if secured is None:
            return ANONYMOUS
        from kcli.sandbox.access.tls import subject

        name = subject(secured)
        return f"User:{name}" if name else ANONYMOUS

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost = True
        self._broker.disconnected(self)
        if self._idle is not None:
            self._idle.cancel()
        if not (self._ended and self._waits_its_turn):
            self._let_go()
            self._task.cancel()  # otherwise requests sent before the end are still processed, as in Kafka

    def _let_go(self) -> None:
        """Release everything received."""
        self.frames.clear()
        self._reader = FrameReader(MAX_REQUEST, trusting=False)
        self._unanswered = 0
        self._weigh()

    def pause_writing(self) -> None:
        self.outgoing.pause()

    def resume_writing(self) -> None:
        self.outgoing.resume()

    def abort(self) -> None:
        self.transport.abort()
        self._task.cancel()

    def forget(self) -> None:
        """The broker no longer counts this connection."""
        self._broker.disconnected(self)

    async def ended(self) -> None:
        """Wait until nothing of this connection is running."""
        await asyncio.wait([self._task])

    # -- reading and pausing ----------------------------------------------------------------------------------------

    def _listen(self) -> None:
        """Start or stop reading from the socket, as the state requires."""
        if self._lost or self.transport.is_closing():
            return
        if self._full or self._deaf:
            self.transport.pause_reading()
        else:
            self.transport.resume_reading()

    def go_deaf(self, seconds: float) -> None:
        """Read nothing for this many seconds (a fault)."""
        self._deaf = True
        self._listen()
        asyncio.get_running_loop().call_later(seconds, self._hear_again)

    def _hear_again(self) -> None:
        self._deaf = False
        self._listen()

    def used(self) -> None:
        """The connection is in use: restart its idle time."""
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None
        if self._broker.idle is not None:
            self._idle = asyncio.get_running_loop().call_later(self._broker.idle, self.transport.close)

    # -- serving ----------------------------------------------------------------------------------------------------

    async def _serve(self) -> None:
        unbroken = 0  # answered since others had their turn
        try:
            while True:
                while not self.frames:
                    if self._lost:
                        self._let_go()
                        return
                    unbroken = 0
                    await self.next_frame(None)
                if unbroken == IN_A_ROW:
                    unbroken = 0
                    self._waits_its_turn = True
                    await asyncio.sleep(0)
                    self._waits_its_turn = False
                unbroken += 1
                self.asked = True
                frame = self.frames.popleft()
                if self._full and not self.frames:
                    self._full = False
                    self._listen()
                await self._handle(frame)
                self._unanswered = max(self._unanswered - len(frame), 0)
                del frame
                self._weigh()
                if self._broker.idle is not None or self._idle is not None:
                    self.used()
        except (CloseConnection, DecodeError):
            self.transport.close()
        # raising it would keep this connection alive in a reference cycle with the traceback
        except asyncio.CancelledError:
            self.transport.abort()
        except Exception as bug:  # noqa: BLE001 a bug of ours must fail the test that met it, not one connection
            self._traffic.failures.append(bug)
            self.transport.abort()

    async def next_frame(self, seconds: float | None) -> None:
        """Wait for a frame, at most this many seconds."""
        self._more = asyncio.get_running_loop().create_future()
        if seconds is None:
            await self._more
        else:
            await asyncio.wait([self._more], timeout=seconds)

    async def _handle(self, frame: memoryview) -> None:
        sasl = self._sasl
        if sasl is not None and sasl.bare:
            self.transport.write(sasl.token(bytes(frame)))
            return
        asked = self.session.receive(frame)
        cluster, node = self._cluster, self._broker.node_id
        faults = cluster.faults.planned
        if self.checks is not None:
            self.checks.numbered(asked.correlation_id)
        speaks = faults.speaks(asked.api_key, node) if faults.limited else None
        _, _, newest = self._served.get(asked.api_key, ("", 0, -1))
        if asked.request is None or asked.version > newest or (speaks and asked.version not in speaks):
            self._refuse(asked)
            return
        if sasl is not None:
            sasl.admit(asked.api_key)
        conduct = faults.conduct(asked.api_key, node)
        if conduct is not None:
            await _before(conduct)
        self._traffic.count(asked.api_key)
        context = self._context(asked)
        response = await answer_of(asked.api_key)(context, asked.request)
        if asked.api_key == API_VERSIONS and self.checks is None:
            self.checks = cluster.client_rules.meet(node, self.frames, asked)
        if self.checks is not None:
            self.checks.saw(asked.request, response)
        if response is None:
            return
        quiet = self._quota(context, asked.api_key, len(frame), response) if cluster.limited else 0.0
        if conduct is not None:
            from kcli.sandbox.faults.responses import misbehave

            await misbehave(self, asked, response, conduct)
        else:
            await self.outgoing.write(self.session.respond(asked, response))
        if sasl is not None and sasl.over:
            raise CloseConnection
        if quiet:
            await asyncio.sleep(quiet)  # nothing more is read from it meanwhile, as in Kafka (KIP-219)

    def _context(self, asked: Received) -> RequestContext:
        peer = self.transport.get_extra_info("peername")
        host = f"/{peer[0]}" if peer else "/"
        client_id = asked.client_id or ""
        return RequestContext(self._cluster, self._broker, asked.version, client_id, host, self, self._sasl)

    def _quota(self, context: RequestContext, api_key: int, size: int, response: Any) -> float:
        """Set the throttle time in the response, if a quota requires it; return it in seconds."""
        if api_key not in (PRODUCE, FETCH):
            return 0.0
        key = "producer_byte_rate"
        if api_key == FETCH:
            key = "consumer_byte_rate"
            size = sum(len(row.records or b"") for topic in response.responses for row in topic.partitions)
        node = self._broker.node_id
        pause = self._cluster.quotas.pause(node, context.principal, context.client_id, key, size)
        response.throttle_time_ms = max(response.throttle_time_ms, pause)
        return pause / 1000

    def _refuse(self, asked: Received) -> None:
        """Reject an API or version that is not served: ApiVersions gets a version 0 error (KIP-511), for others the
        connection is closed."""
        if asked.api_key != API_VERSIONS:
            raise CloseConnection
        from kcli.proto.messages.api_versions import ApiVersionsResponse

        faults = self._cluster.faults.planned
        rows = versions_answered(self._cluster.settings)
        if not faults.limited:  # an older broker, which is a fault, reports all
            rows = [row for row in rows if row.api_key == API_VERSIONS]
        offered = faults.offered(rows, self._broker.node_id)
        refused = ApiVersionsResponse(error_code=codes.UNSUPPORTED_VERSION.number, api_keys=offered)
        for part in self.session.respond(asked, refused, 0):
            self.transport.write(part)


async def _before(conduct: Conduct) -> None:
    """Apply a planned fault before the request is processed. Raises CloseConnection."""
    if conduct.delay:
        await asyncio.sleep(conduct.delay)
    if conduct.close_before:
        raise CloseConnection


class Traffic:
    """`seen`: number of requests by API key; `held`: bytes of requests received and not answered; `failures`: bugs of
    the sandbox that requests triggered."""

    def __init__(self) -> None:
        self.seen: dict[int, int] = {}
        self.held = 0
        self.failures: list[Exception] = []

    def count(self, api_key: int) -> None:
        """A request arrived."""
        self.seen[api_key] = self.seen.get(api_key, 0) + 1
