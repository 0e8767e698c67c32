"""The broker interface for the rest of kcli: ask, tell, close. In each lane, requests are written in the order of the
calls."""

from __future__ import annotations

import asyncio

from kcli import codes
from kcli.broker.connection.versions import pick, too_old
from kcli.broker.connector import Identity, Opening
from kcli.broker.lanes import Lanes
from kcli.errors import BrokerError, ConnectError, TooOld
from kcli.model import Lane

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TypeVar

    from kcli.broker.connection.versions import Ranges
    from kcli.broker.security.access import Access
    from kcli.errors import KcliError
    from kcli.metrics.observer import Observer
    from kcli.model import Address, Posted
    from kcli.proto.schema import Request
    from kcli.settings import ClientSettings

    R = TypeVar("R")

METADATA = 3
CONTROLLERS = 2
"""The endpoint type of DescribeCluster for controllers instead of brokers."""
LANES = {0: Lane.PRODUCE, 1: Lane.FETCH, 11: Lane.JOIN, 14: Lane.JOIN}


class NetworkBroker:
    """A broker at one address. `node_id` is -1 for a bootstrap seed."""

    def __init__(
        self,
        address: Address,
        node_id: int,
        settings: ClientSettings,
        client_id: str = "kcli",
        access: Access | None = None,
    ) -> None:
        self.address = address
        self._node_id = node_id
        self._settings = settings
        if access is None and settings.security is not None:
            from kcli.broker.security.access import Access

            access = Access(settings.security)
        self._opening = Opening(address, self.name, settings, settings.client_id or client_id, access)
        if node_id >= 0 and address not in settings.bootstrap:
            seeds = ", ".join(f"{host}:{port}" for host, port in settings.bootstrap)
            self._opening.hint = (  # names both addresses until the advertised one was reached
                f" (broker {node_id} advertises this address to clients of {seeds}: see its advertised.listeners)"
            )
        self._opening.node_id = node_id
        self._lanes = Lanes(self.name, self._opening, settings)
        self._turns: dict[str, asyncio.Lock] = {}
        self._taking_turns: dict[str, int] = {}  # calls that write, or wait for their turn

    def __repr__(self) -> str:
        return f"<{self.name}>"

    @property
    def name(self) -> str:
        """The broker's name in messages."""
        host = f"[{self.address.host}]" if ":" in self.address.host else self.address.host
        where = f"{host}:{self.address.port}"
        return where if self._node_id < 0 else f"broker {self._node_id} at {where}"

    @property
    def node_id(self) -> int:
        return self._node_id

    def become(self, node_id: int) -> None:
        """See `model.BrokerConnection.become`."""
        self._node_id = node_id
        self._lanes.rename(self._opening.rename(self.name, node_id))
        for connection in list(self._lanes.open.values()):
            self._opening.check_identity(connection, self._settings.request_timeout)

    def watch(self, observer: Observer) -> None:
        """Count this broker's connections and requests with an observer. Call it before the first of them."""
        self._opening.observer = observer.of_broker(self.name, self._node_id)

    def expect(self, identity: Identity) -> None:
        """Check that connections lead to this broker of the client's cluster. Call it before the first of them."""
        if self._settings.check_cluster:
            self._opening.identity = identity

    # -- requests ---------------------------------------------------------------------------------------------------

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
        answer = await self._write(request, lane, timeout, max_version, answered=True)
        assert answer is not None
        result: R = await answer
        return result

    async def tell(self, request: Request[Any], *, max_version: int | None = None) -> None:
        """See `model.Broker.tell`."""
        lane = LANES.get(request.api_key, Lane.CONTROL)
        await self._write(request, lane, self._settings.request_timeout, max_version, answered=False)

    def post(
        self,
        requests: Sequence[Posted],
        *,
        timeout: float,
        after: Callable[[], None] | None = None,
        enough: int = 1,
    ) -> int:
        """See `model.Broker.post`."""
        lane = LANES.get(requests[0][0].api_key, Lane.CONTROL)
        connection = self._lanes.open.get(lane)
        if connection is None or self._taking_turns.get(lane):
            return 0  # calls that wait for their turn go first
        return connection.post(requests, timeout, after, enough)

    async def versions(self) -> Ranges:
        """See `model.Broker.versions`."""
        return self._opening.versions or (await self._lanes.connection(Lane.CONTROL)).versions

    async def reach(self) -> None:
        """Connect unless connected. Raises ConnectError."""
        if not self.connected:
            await self._lanes.connection(Lane.CONTROL)

    async def _write(
        self, request: Request[Any], lane: str, timeout: float, max_version: int | None, *, answered: bool
    ) -> asyncio.Future[Any] | None:
        """Wait for a turn and write the request; the future is its response. The turn ends with the write, because
        responses arrive independently."""
        self._taking_turns[lane] = self._taking_turns.get(lane, 0) + 1
        try:
            return await self._in_turn(request, lane, timeout, max_version, answered=answered)
        finally:
            self._taking_turns[lane] -= 1

    async def _in_turn(
        self, request: Request[Any], lane: str, timeout: float, max_version: int | None, *, answered: bool
    ) -> asyncio.Future[Any] | None:
        turn = self._turns.get(lane)
        if turn is None:
            turn = self._turns[lane] = asyncio.Lock()
        before = self._lanes.failure(lane)
        async with turn:
            self._lanes.share_failure(lane, before)
            for attempt in (1, 2):
                connection = await self._lanes.connection(lane)
                version = pick(type(request), connection.versions, self.name, max_version)
                try:
                    if answered:
                        return await connection.ask(request, version, timeout)
                    await connection.tell(request, version, timeout)
                    return None
                except TooOld as problem:
                    if max_version is not None:
                        raise
                    raise too_old(type(request), version, self.name) from problem
                except ConnectError as problem:
                    # the broker had closed an idle connection: nothing was written, so try once more
                    if attempt == 2 or problem.sent:
                        raise
        raise AssertionError("unreachable")

    async def close(self) -> None:
        """End every connection. Idempotent; never waits for the network."""
        await self._lanes.close()

    async def retire(self) -> None:
        """Close every connection because the broker's address has changed. Pending requests get ConnectError instead of
        Closed, because the client is still open."""
        await self._lanes.close(moved=f"{self.name} has moved to another address")

    # -- state for choosing a broker --------------------------------------------------------------------------------

    @property
    def connected(self) -> bool:
        return any(connection.lost is None for connection in self._lanes.open.values())

    @property
    def connecting(self) -> bool:
        return self._lanes.connecting

    @property
    def in_flight(self) -> int:
        return sum(connection.in_flight for connection in self._lanes.open.values())

    @property
    def muted(self) -> bool:
        """Whether the broker throttles us on any lane."""
        return any(connection.muted for connection in self._lanes.open.values())

    @property
    def long_silence(self) -> float:
        """Seconds for which the broker throttles us on a lane, if more than a minute; otherwise 0."""
        return max((connection.long_silence for connection in self._lanes.open.values()), default=0.0)

    @property
    def backing_off(self) -> bool:
        """Whether the next connection attempt has to wait, because the last one just failed."""
        return not self.connected and asyncio.get_running_loop().time() < self._opening.not_before

    @property
    def last_attempt(self) -> float:
        """Time of the last connection attempt (loop time); 0 for never."""
        return self._opening.last_attempt

    @property
    def met(self) -> bool:
        """Whether this address has ever responded."""
        return self._opening.met

    @property
    def failing(self) -> tuple[float, KcliError] | None:
        """Since when (loop time) no connection could be made, and the error; None if there is no problem."""
        return None if self.connected else self._opening.failing

    @property
    def busy(self) -> bool:
        """Whether a request or a connection attempt is in progress."""
        return self.connecting or self.in_flight > 0 or any(turn.locked() for turn in self._turns.values())


class ControllerBroker(NetworkBroker):
    """A KRaft controller (KIP-919): the cluster's other controllers take the place of brokers. Controllers do not
    support Metadata; DescribeCluster lists the others."""

    async def ask(
        self,
        request: Request[R],
        *,
        timeout: float | None = None,
        lane: str | None = None,
        max_version: int | None = None,
    ) -> R:
        if request.api_key != METADATA:
            return await super().ask(request, timeout=timeout, lane=lane, max_version=max_version)
        from kcli.proto.messages.describe_cluster import DescribeClusterRequest
        from kcli.proto.messages.metadata import MetadataResponse, MetadataResponseBroker

        found = await super().ask(DescribeClusterRequest(endpoint_type=CONTROLLERS), timeout=timeout, lane=lane)
        if found.error_code:
            raise BrokerError(codes.of(found.error_code), self.name, found.error_message)
        peers = [
            MetadataResponseBroker(node_id=p.broker_id, host=p.host, port=p.port, rack=p.rack) for p in found.brokers
        ]
        answer: Any = MetadataResponse(cluster_id=found.cluster_id, controller_id=found.controller_id, brokers=peers)
        return answer  # type: ignore[no-any-return]  # an R, as the request is a MetadataRequest
