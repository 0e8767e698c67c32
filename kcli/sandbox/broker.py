"""One broker of the sandbox: a listening port and its connections. A connection answers its requests one after the
other, in the order they came, as Kafka does."""

from __future__ import annotations

import asyncio
import importlib
import socket
from collections import deque

from kcli import codes
from kcli.errors import DecodeError
from kcli.proto.session import FrameReader, ServerSession
from kcli.sandbox.answers import ANSWERS, versions_answered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import Any

    from kcli.proto.schema import Buffer, Response
    from kcli.proto.session import Received
    from kcli.sandbox.faults import Conduct
    from kcli.sandbox.fetch_sessions import FetchSession
    from kcli.sandbox.sandbox import Sandbox

    Answer = Callable[["Call", Any], Awaitable[Response | None]]

MAX_REQUEST = 100 * 1024 * 1024
MAX_WAITING = 64  # frames of one connection that wait for their turn; more are left in the socket
CHUNK = 512 * 1024
SMALL = 16 * 1024


class Call:
    """What an answer knows about its request besides the request itself."""

    __slots__ = ("broker", "client_id", "host", "sandbox", "version")

    def __init__(self, broker: SandboxBroker, version: int, client_id: str, host: str) -> None:
        self.sandbox = broker.sandbox
        self.broker = broker
        self.version = version
        self.client_id = client_id
        self.host = host


class CloseConnection(Exception):
    """The answer to this request is that the connection ends (acks=0 with an error)."""


class SandboxBroker:
    """A node: `port` 0 takes a free one and keeps it over stop and start."""

    def __init__(self, sandbox: Sandbox, node_id: int, host: str, port: int) -> None:
        self.sandbox = sandbox
        self.node_id = node_id
        self.host = host
        self.port = port
        self.sessions: dict[int, FetchSession] = {}
        self._server: asyncio.Server | None = None
        self._links: set[Link] = set()

    @property
    def alive(self) -> bool:
        return self._server is not None

    async def start(self) -> None:
        """Listen. Raises OSError when the port is taken."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: Link(self), self.host, self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Stop listening and break all connections, as a process that dies."""
        if self._server is None:
            return
        self._server.close()
        self._server = None
        self.sessions.clear()
        links = list(self._links)
        self.drop_links()
        for link in links:
            await link.ended()

    def drop_links(self) -> None:
        for link in list(self._links):
            link.abort()

    def linked(self, link: Link) -> None:
        self._links.add(link)

    def unlinked(self, link: Link) -> None:
        self._links.discard(link)


class Link(asyncio.BufferedProtocol):
    """One connection."""

    def __init__(self, broker: SandboxBroker) -> None:
        self._broker = broker
        self._session = ServerSession()
        self._reader = FrameReader(MAX_REQUEST)
        self._frames: deque[memoryview] = deque()
        self._more: asyncio.Future[None] | None = None  # serve() waits for a frame
        self._drained: asyncio.Future[None] | None = None  # serve() waits for the socket
        self._full = False
        self._lost = False
        self._transport: asyncio.Transport
        self._task: asyncio.Task[None]

    # -- what asyncio says ------------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.set_write_buffer_limits(high=CHUNK)
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2 * CHUNK)
        self._broker.linked(self)
        self._task = asyncio.get_running_loop().create_task(self._serve())
        if self._broker.sandbox.faults.take("refuse", None, self._broker.node_id):
            transport.close()

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._reader.buffer()

    def buffer_updated(self, nbytes: int) -> None:
        try:
            self._frames.extend(self._reader.received(nbytes))
        except DecodeError:  # HTTP, TLS, a size out of this world: not a Kafka client, nothing to say to it (3.7)
            self._transport.abort()
            return
        if len(self._frames) > MAX_WAITING:
            self._transport.pause_reading()
            self._full = True
        if self._frames and self._more is not None and not self._more.done():
            self._more.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost = True
        self._broker.unlinked(self)
        self._task.cancel()

    def pause_writing(self) -> None:
        self._drained = asyncio.get_running_loop().create_future()

    def resume_writing(self) -> None:
        if self._drained is not None and not self._drained.done():
            self._drained.set_result(None)
        self._drained = None

    def abort(self) -> None:
        self._transport.abort()
        self._task.cancel()

    async def ended(self) -> None:
        """Wait until nothing of this connection runs any more."""
        await asyncio.wait([self._task])

    # -- serving ----------------------------------------------------------------------------------------------------

    async def _serve(self) -> None:
        try:
            while True:
                while not self._frames:
                    self._more = asyncio.get_running_loop().create_future()
                    await self._more
                frame = self._frames.popleft()
                if self._full and not self._frames and not self._lost:
                    self._full = False
                    self._transport.resume_reading()
                await self._handle(frame)
        except (CloseConnection, DecodeError):
            self._transport.close()
        except asyncio.CancelledError:
            self._transport.abort()
            raise
        except Exception as bug:  # noqa: BLE001 a bug of ours must fail the test that met it, not one connection
            self._broker.sandbox.failed(bug)
            self._transport.abort()

    async def _handle(self, frame: memoryview) -> None:
        asked = self._session.receive(frame)
        if asked.request is None or asked.api_key not in ANSWERS:
            self._refuse(asked)
            return
        sandbox = self._broker.sandbox
        conduct = sandbox.faults.conduct(asked.api_key, self._broker.node_id)
        if conduct is not None:
            if conduct.delay:
                await asyncio.sleep(conduct.delay)
            if conduct.close_before:
                raise CloseConnection
        sandbox.seen[asked.api_key] = sandbox.seen.get(asked.api_key, 0) + 1
        peer = self._transport.get_extra_info("peername")
        call = Call(self._broker, asked.version, asked.client_id or "", f"/{peer[0]}" if peer else "/")
        response = await _answer(asked.api_key)(call, asked.request)
        if response is None:
            return
        if conduct is None:
            await self._write(self._session.respond(asked, response))
        else:
            await self._misbehave(asked, response, conduct)

    def _refuse(self, asked: Received) -> None:
        """An API or a version that is not served: ApiVersions is told so at version 0 (KIP-511), others are cut off."""
        if asked.api_key != 18:
            raise CloseConnection
        from kcli.proto.messages.api_versions import ApiVersionsResponse

        refused = ApiVersionsResponse(error_code=codes.UNSUPPORTED_VERSION.number, api_keys=versions_answered())
        for part in self._session.respond(asked, refused, 0):
            self._transport.write(part)

    async def _misbehave(self, asked: Received, response: Response, conduct: Conduct) -> None:
        if conduct.silent:
            await asyncio.get_running_loop().create_future()
        if conduct.throttle_ms:
            response.throttle_time_ms = conduct.throttle_ms  # type: ignore[attr-defined]
        asked.correlation_id += conduct.correlation_shift
        parts: list[Buffer] = [conduct.raw] if conduct.raw is not None else self._session.respond(asked, response)
        if conduct.cut_after is None:
            await self._write(parts)
            return
        self._transport.write(b"".join(parts)[: conduct.cut_after])
        raise CloseConnection

    async def _write(self, parts: list[Buffer]) -> None:
        """Small parts go out together; a large one is a slice of a log and goes out in chunks, not copied."""
        small: list[Buffer] = []
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


_answers: dict[int, Answer] = {}


def _answer(api_key: int) -> Answer:
    """The function that answers an API, from its own file, imported when it is first asked."""
    found = _answers.get(api_key)
    if found is None:
        module = importlib.import_module(f"kcli.sandbox.answers.{ANSWERS[api_key][0]}")
        found = _answers[api_key] = module.answer
    return found
