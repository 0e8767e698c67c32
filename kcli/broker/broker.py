"""A broker as the rest of kcli sees it: ask, tell, close. Connections are opened on demand, one per lane (B8)."""

from __future__ import annotations

import asyncio

from kcli.broker.backoff import Backoff
from kcli.broker.connection import Connection
from kcli.broker.handshake import agree_on_versions
from kcli.broker.resolve import open_socket, resolve
from kcli.broker.versions import pick
from kcli.errors import Closed, ConnectError, DeadlineExceeded, KcliError
from kcli.model import Lane

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    from kcli.broker.versions import Ranges
    from kcli.model import Address
    from kcli.proto.schema import Request
    from kcli.settings import ClientSettings

    R = TypeVar("R")

LANES = {0: Lane.PRODUCE, 1: Lane.FETCH, 11: Lane.JOIN, 14: Lane.JOIN}
UNLIMITED = 1000
IDLE_CHECK = 5.0


class NetworkBroker:
    """One broker at one address. `node_id` is -1 for a bootstrap seed."""

    def __init__(self, address: Address, node_id: int, settings: ClientSettings, client_id: str = "kcli") -> None:
        self.address = address
        self._node_id = node_id
        self._settings = settings
        self._client_id = settings.client_id or client_id
        self._lanes: dict[str, Connection] = {}
        self._opening: dict[str, asyncio.Task[Connection]] = {}
        self._turns: dict[str, asyncio.Lock] = {}
        self._versions: Ranges | None = None
        self._backoff = Backoff(settings.reconnect_backoff, settings.reconnect_backoff_max)
        self._connect_budget = settings.connect_timeout
        self._not_before = 0.0
        self._fallback = False  # the broker dropped the connection at our ApiVersions: ask at v0 next time
        self._idle_timer: asyncio.TimerHandle | None = None
        self._closed = False

    def __repr__(self) -> str:
        return f"<{self.name}>"

    @property
    def name(self) -> str:
        """How people know this broker."""
        host = f"[{self.address.host}]" if ":" in self.address.host else self.address.host
        where = f"{host}:{self.address.port}"
        return where if self._node_id < 0 else f"broker {self._node_id} at {where}"

    @property
    def node_id(self) -> int:
        return self._node_id

    @property
    def connected(self) -> bool:
        return any(one.lost is None for one in self._lanes.values())

    @property
    def in_flight(self) -> int:
        return sum(one.in_flight for one in self._lanes.values())

    @property
    def backing_off(self) -> bool:
        """A connection attempt failed a moment ago, the next one has to wait."""
        return not self.connected and asyncio.get_running_loop().time() < self._not_before

    async def ask(
        self,
        request: Request[R],
        *,
        timeout: float | None = None,
        lane: str | None = None,
        max_version: int | None = None,
    ) -> R:
        """See `model.Broker.ask`."""
        lane = lane or LANES.get(request.api_key, Lane.CONTROL)
        timeout = self._settings.request_timeout if timeout is None else timeout
        async with self._turn(lane):
            answer = await self._write(request, lane, timeout, max_version)
        result: R = await answer
        return result

    async def _write(
        self, request: Request[Any], lane: str, timeout: float, max_version: int | None
    ) -> asyncio.Future[Any]:
        for attempt in (1, 2):
            connection = await self._connection(lane)
            version = pick(type(request), await self.versions(), self.name, max_version)
            try:
                return await connection.ask(request, version, timeout)
            except ConnectError:
                # the broker had closed an idle connection: nothing was written, so ask again once (B24)
                if attempt == 2:
                    raise
        raise AssertionError("unreachable")

    def _turn(self, lane: str) -> asyncio.Lock:
        """Whoever asked first writes first, also while the connection is being opened (B5)."""
        return self._turns.setdefault(lane, asyncio.Lock())

    async def tell(self, request: Request[Any], *, max_version: int | None = None) -> None:
        """See `model.Broker.tell`."""
        lane = LANES.get(request.api_key, Lane.CONTROL)
        async with self._turn(lane):
            connection = await self._connection(lane)
            version = pick(type(request), await self.versions(), self.name, max_version)
            await connection.tell(request, version, self._settings.request_timeout)

    async def versions(self) -> Ranges:
        """See `model.Broker.versions`."""
        if self._versions is None:
            await self._connection(Lane.CONTROL)
        assert self._versions is not None
        return self._versions

    # -- connections ------------------------------------------------------------------------------------------------

    async def _connection(self, lane: str) -> Connection:
        """The lane's connection, opened if there is none. Whoever comes while it is being opened shares the wait."""
        if self._closed:
            raise Closed(f"{self.name} was closed")
        connection = self._lanes.get(lane)
        if connection is not None and connection.lost is None:
            return connection
        task = self._opening.get(lane)
        if task is None:
            task = asyncio.get_running_loop().create_task(self._open(lane), name=f"connect {self.name} {lane}")
            self._opening[lane] = task
            task.add_done_callback(lambda done: self._opened(lane, done))
        return await asyncio.shield(task)

    def _opened(self, lane: str, task: asyncio.Task[Connection]) -> None:
        self._opening.pop(lane, None)
        if not task.cancelled() and task.exception() is None:
            self._lanes[lane] = task.result()

    async def _open(self, lane: str) -> Connection:
        loop = asyncio.get_running_loop()
        if (wait := self._not_before - loop.time()) > 0:
            await asyncio.sleep(wait)
        begin = loop.time()
        try:
            async with asyncio.timeout(self._connect_budget):
                connection = await self._dial(lane)
                await self._greet(connection)
        except TimeoutError:
            self._failed()
            raise ConnectError(f"{self.name}: no connection after {loop.time() - begin:.0f} s") from None
        except KcliError:
            self._failed()
            raise
        self._backoff.reset()
        self._connect_budget = self._settings.connect_timeout
        self._watch_idle()
        return connection

    def _failed(self) -> None:
        self._not_before = asyncio.get_running_loop().time() + self._backoff.next()
        self._connect_budget = min(self._connect_budget * 2, self._settings.connect_timeout_max)

    async def _dial(self, lane: str) -> Connection:
        """Connect to the first of the name's addresses that answers. Raises ConnectError with each one's reason."""
        host, port = self.address
        try:
            addresses = await resolve(host, port)
        except OSError as problem:
            raise ConnectError(f"{self.name}: the name {host} does not resolve ({problem.strerror})") from problem
        loop = asyncio.get_running_loop()
        in_flight = self._settings.max_in_flight if lane == Lane.PRODUCE else UNLIMITED
        reasons = []
        for family, where in addresses:
            sock = open_socket(family)
            try:
                await loop.sock_connect(sock, where)
                _, connection = await loop.create_connection(
                    lambda: Connection(
                        self.name, self._client_id, self._settings.max_frame, in_flight, self._connection_lost
                    ),
                    sock=sock,
                )
                return connection
            except OSError as problem:
                sock.close()
                reasons.append(f"{where[0]}: {problem.strerror or problem}" if len(addresses) > 1 else _reason(problem))
            except BaseException:
                sock.close()
                raise
        raise ConnectError(f"{self.name}: {'; '.join(reasons)}")

    async def _greet(self, connection: Connection) -> None:
        try:
            self._versions = await agree_on_versions(connection, self._connect_budget, 0 if self._fallback else 4)
        except DeadlineExceeded as slow:
            raise ConnectError(
                f"{self.name} accepts connections and does not answer ApiVersions: is it a Kafka listener?"
            ) from slow
        except ConnectError as broken:
            if "closed the connection" in str(broken) and not self._fallback:
                self._fallback = True
                raise ConnectError(
                    f"{self.name} closed the connection at the first request: it may expect TLS or SASL "
                    "(security.protocol), or not be a Kafka listener"
                ) from broken
            raise
        finally:
            if connection.answered == 0:
                connection.close()

    def _connection_lost(self, connection: Connection) -> None:
        for lane, one in list(self._lanes.items()):
            if one is connection:
                del self._lanes[lane]

    # -- idle connections and the end -------------------------------------------------------------------------------

    def _watch_idle(self) -> None:
        if self._idle_timer is None and not self._closed:
            loop = asyncio.get_running_loop()
            self._idle_timer = loop.call_later(min(IDLE_CHECK, self._settings.idle_timeout), self._check_idle)

    def _check_idle(self) -> None:
        self._idle_timer = None
        now = asyncio.get_running_loop().time()
        for connection in list(self._lanes.values()):
            if connection.idle and now - connection.last_used >= self._settings.idle_timeout:
                connection.close()
        if self._lanes:
            self._watch_idle()

    async def close(self) -> None:
        """End every connection. Idempotent; never waits for the network."""
        self._closed = True
        if self._idle_timer is not None:
            self._idle_timer.cancel()
            self._idle_timer = None
        opening = list(self._opening.values())
        for task in opening:
            task.cancel()
        await asyncio.gather(*opening, return_exceptions=True)
        for connection in list(self._lanes.values()):
            connection.close()
        await asyncio.sleep(0)  # the transports' own last step


def _reason(problem: OSError) -> str:
    return {
        ConnectionRefusedError: "connection refused: nothing listens there",
        TimeoutError: "no answer: the address may be wrong or behind a firewall",
    }.get(type(problem), problem.strerror or str(problem))
