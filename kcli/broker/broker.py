"""A broker as the rest of kcli sees it: ask, tell, close. Connections are opened on demand, one per lane (B8)."""

from __future__ import annotations

import asyncio

from kcli.broker.opening import Opening
from kcli.broker.versions import pick
from kcli.errors import AuthError, Closed, ConnectError, KcliError
from kcli.model import Lane
from kcli.waiting import retrieve, share

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    from kcli.broker.connection import Connection
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
        self._opening = Opening(address, self.name, settings, settings.client_id or client_id)
        self._lanes: dict[str, Connection] = {}
        self._under_way: dict[str, asyncio.Task[Connection]] = {}
        self._turns: dict[str, asyncio.Lock] = {}
        self._failures: dict[str, KcliError] = {}  # what the last attempt of a lane ended with, if it failed
        self._versions: Ranges | None = None
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

    # -- what the choice of a broker looks at (B27) -----------------------------------------------------------------

    @property
    def connected(self) -> bool:
        return any(one.lost is None for one in self._lanes.values())

    @property
    def connecting(self) -> bool:
        return bool(self._under_way)

    @property
    def in_flight(self) -> int:
        return sum(one.in_flight for one in self._lanes.values())

    @property
    def muted(self) -> bool:
        """It throttles us on some lane."""
        return any(one.muted for one in self._lanes.values())

    @property
    def backing_off(self) -> bool:
        """A connection attempt failed a moment ago, the next one has to wait."""
        return not self.connected and asyncio.get_running_loop().time() < self._opening.not_before

    @property
    def last_attempt(self) -> float:
        """When we last began to connect, in loop time; 0 for never."""
        return self._opening.last_attempt

    @property
    def busy(self) -> bool:
        """Somebody waits for something from it."""
        return self.connecting or self.in_flight > 0 or any(turn.locked() for turn in self._turns.values())

    # -- asking -----------------------------------------------------------------------------------------------------

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
        failures = self._failures.get(lane)
        async with self._turn(lane):
            self._share_failure(lane, failures)
            answer = await self._write(request, lane, timeout, max_version, answered=True)
        assert answer is not None
        result: R = await answer
        return result

    async def tell(self, request: Request[Any], *, max_version: int | None = None) -> None:
        """See `model.Broker.tell`."""
        lane = LANES.get(request.api_key, Lane.CONTROL)
        failures = self._failures.get(lane)
        async with self._turn(lane):
            self._share_failure(lane, failures)
            await self._write(request, lane, self._settings.request_timeout, max_version, answered=False)

    async def versions(self) -> Ranges:
        """See `model.Broker.versions`."""
        if self._versions is None:
            return (await self._connection(Lane.CONTROL)).versions
        return self._versions

    def _turn(self, lane: str) -> asyncio.Lock:
        """Whoever asked first writes first, also while the connection is being opened (B5)."""
        turn = self._turns.get(lane)
        if turn is None:
            turn = self._turns[lane] = asyncio.Lock()
        return turn

    def _share_failure(self, lane: str, before: KcliError | None) -> None:
        """Whoever waited for its turn while an attempt to connect failed shares that attempt: twenty callers of a
        dead address wait once, not twenty times."""
        failure = self._failures.get(lane)
        if failure is not None and failure is not before:
            raise failure.with_traceback(None)

    async def _write(
        self, request: Request[Any], lane: str, timeout: float, max_version: int | None, *, answered: bool
    ) -> asyncio.Future[Any] | None:
        for attempt in (1, 2):
            connection = await self._connection(lane)
            version = pick(type(request), connection.versions, self.name, max_version)
            try:
                if answered:
                    return await connection.ask(request, version, timeout)
                await connection.tell(request, version, timeout)
                return None
            except ConnectError:
                # the broker had closed an idle connection: nothing was written, so ask again once (B24)
                if attempt == 2:
                    raise
        raise AssertionError("unreachable")

    # -- connections ------------------------------------------------------------------------------------------------

    async def _connection(self, lane: str) -> Connection:
        """The lane's connection, opened if there is none. Whoever comes while it is being opened shares the wait."""
        if self._closed:
            raise Closed(f"{self.name} was closed")
        connection = self._lanes.get(lane)
        if connection is not None and connection.lost is None:
            return connection
        task = self._under_way.get(lane)
        if task is None:
            task = asyncio.get_running_loop().create_task(self._open(lane), name=f"connect {self.name} {lane}")
            self._under_way[lane] = task
            task.add_done_callback(lambda done: self._opened(lane, done))
        return await share(task)

    async def _open(self, lane: str) -> Connection:
        in_flight = self._settings.max_in_flight if lane == Lane.PRODUCE else UNLIMITED
        try:
            connection = await self._opening.connect(in_flight, self._connection_lost)
        except AuthError:
            raise
        except ConnectError as problem:
            raise ConnectError(f"{problem}{self._advertised()}") from problem
        self._versions = connection.versions
        return connection

    def _advertised(self) -> str:
        """A broker that was never reached under the address it advertises: name both addresses (C2)."""
        if self._node_id < 0 or self._opening.succeeded or self.address in self._settings.bootstrap:
            return ""
        seeds = ", ".join(f"{host}:{port}" for host, port in self._settings.bootstrap)
        return f" (broker {self._node_id} advertises this address to clients of {seeds}: see its advertised.listeners)"

    def _opened(self, lane: str, task: asyncio.Task[Connection]) -> None:
        del self._under_way[lane]
        retrieve(task)
        if task.cancelled():
            return
        if (problem := task.exception()) is not None:
            if isinstance(problem, KcliError):
                self._failures[lane] = problem
            return
        self._failures.pop(lane, None)
        if self._closed:
            task.result().close()
        elif task.result().lost is None:
            self._lanes[lane] = task.result()
            self._watch_idle()

    def _connection_lost(self, connection: Connection) -> None:
        for lane, one in list(self._lanes.items()):
            if one is connection:
                del self._lanes[lane]

    # -- idle connections and the end -------------------------------------------------------------------------------

    def _watch_idle(self) -> None:
        if self._idle_timer is None:
            loop = asyncio.get_running_loop()
            self._idle_timer = loop.call_later(min(IDLE_CHECK, self._settings.idle_timeout), self._check_idle)

    def _check_idle(self) -> None:
        self._idle_timer = None
        for connection in list(self._lanes.values()):
            if connection.idle_since(self._settings.idle_timeout):
                connection.close(idle=True)
        if self._lanes:
            self._watch_idle()

    async def close(self) -> None:
        """End every connection. Idempotent; never waits for the network."""
        self._closed = True
        if self._idle_timer is not None:
            self._idle_timer.cancel()
            self._idle_timer = None
        under_way = list(self._under_way.values())
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)
        for connection in list(self._lanes.values()):
            connection.close()
        await asyncio.sleep(0)  # the transports' own last step
