"""The world of world.py behind the real `NetworkCluster`: its nodes answer Metadata too, each as it sees things, so
that leaders, epochs, hints and topic ids are kcli's own business."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from kcli import codes
from kcli.cluster.cluster import NetworkCluster
from kcli.errors import ConnectError, DeadlineExceeded
from kcli.model import Address
from kcli.proto.messages.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from kcli.proto.messages.produce import ProduceRequest
from kcli.settings import ClientSettings
from tests.fakes.idle import IdleBroker
from tests.producer.world import FakeBroker, Log, World, now, post

if TYPE_CHECKING:
    from kcli.model import Posted

SPOKEN = {0: (3, 13), 3: (0, 13), 22: (0, 5)}
PORT = 1000  # of node 0
CLIENT_TIMEOUT = 5.0


class View:
    """What a node says of a partition."""

    def __init__(self, log: Log) -> None:
        self.leader, self.epoch = log.leader, log.epoch


class Network(World):
    """`stale[node]` is what a node goes on telling; `absent` how many answers leave the topics out; `quiet_until[node]`
    until when a node has asked for silence; `late()` how long a request that the client gave up stays in the broker's
    queue, to be carried out after all."""

    def __init__(self, topics: dict[str, int], nodes: int, latency: float) -> None:
        super().__init__(topics, nodes, latency)
        self.stale: dict[int, tuple[bytes, dict[Any, View]]] = {}
        self.absent = 0
        self.quiet_until: dict[int, float] = {}
        self.late: Callable[[], float] | None = None
        self.takes: Callable[[int], int] = lambda count: count  # how many of them are written at once

    def freeze(self, node_id: int) -> None:
        """That node learns nothing any more."""
        self.stale[node_id] = (self.topic_id("t"), {at: View(log) for at, log in self.logs.items()})

    def connect(self, address: Address, node_id: int) -> Seat:
        return Seat(self.nodes_by_id[address.port % PORT], node_id)

    def cluster(self) -> NetworkCluster:
        settings = ClientSettings(bootstrap=tuple(Address("h", PORT + n) for n in self.nodes_by_id), deadline=3.0)
        return NetworkCluster(self.connect, settings)

    def metadata(self, node_id: int, request: MetadataRequest) -> MetadataResponse:
        told = MetadataResponse(cluster_id="c", controller_id=0)
        told.brokers = [MetadataResponseBroker(node_id=n, host="h", port=n) for n in self.nodes_by_id]
        topic_id, views = self.stale.get(node_id) or (self.topic_id("t"), {a: View(o) for a, o in self.logs.items()})
        for asked in request.topics or []:
            topic = MetadataResponseTopic(name=asked.name)
            told.topics.append(topic)
            if self.absent or self.hidden:
                self.absent = max(0, self.absent - 1)
                topic.error_code = codes.UNKNOWN_TOPIC_OR_PARTITION.number
                continue
            topic.topic_id = topic_id
            for at, view in views.items():
                trouble = codes.NONE if view.leader >= 0 else codes.LEADER_NOT_AVAILABLE
                topic.partitions.append(
                    MetadataResponsePartition(
                        error_code=trouble.number,
                        partition_index=at.partition,
                        leader_id=view.leader,
                        leader_epoch=view.epoch,
                    )
                )
        return told


class Seat(IdleBroker):
    """A broker as the client holds it."""

    def __init__(self, node: FakeBroker, node_id: int) -> None:
        self.node, self.node_id = node, node_id
        assert isinstance(node.world, Network)
        self.world = node.world

    def become(self, node_id: int) -> None:
        self.node_id = node_id

    async def versions(self) -> dict[int, tuple[int, int]]:
        return SPOKEN

    async def close(self) -> None:
        await asyncio.sleep(0)

    async def ask(self, request: Any, *, timeout: float | None = None, max_version: int | None = None, **_: Any) -> Any:
        await self._quiet()
        timeout = CLIENT_TIMEOUT if timeout is None else timeout
        try:
            async with asyncio.timeout(timeout):
                return await self._ask(request, max_version)
        except TimeoutError:
            if isinstance(request, ProduceRequest) and self.world.late is not None and self.node.up:
                self._carry_out(request, self.world.late())
            raise DeadlineExceeded(f"node {self.node.node_id} did not answer in time", sent=True) from None

    def post(
        self,
        requests: Sequence[Posted],
        *,
        timeout: float,
        after: Callable[[], None] | None = None,
        enough: int = 1,
    ) -> int:
        """Some of them: none while the node is silent or down, else as many as `takes` says."""
        if not self.node.up or self.world.quiet_until.get(self.node.node_id, 0.0) > now():
            return 0
        return post(self, requests[: self.world.takes(len(requests))], timeout, after)

    async def tell(self, request: Any, *, max_version: int | None = None) -> None:
        await self._quiet()
        try:
            async with asyncio.timeout(CLIENT_TIMEOUT):
                await self.node.tell(request, max_version=max_version)
        except TimeoutError:
            raise ConnectError(f"node {self.node.node_id} has stopped reading", sent=True) from None

    def _carry_out(self, request: ProduceRequest, later: float) -> None:
        """The client has given it up, and the broker finds it in its queue at last."""

        def act() -> None:
            if self.node.up:
                self.node._append(request)

        asyncio.get_running_loop().call_later(later, act)

    async def _quiet(self) -> None:
        until = self.world.quiet_until.get(self.node.node_id, 0.0)
        if until > now():
            await asyncio.sleep(until - now())

    async def _ask(self, request: Any, max_version: int | None) -> Any:
        if not self.node.up:
            await asyncio.sleep(0)
            raise ConnectError(f"node {self.node.node_id} is down")
        if isinstance(request, MetadataRequest):
            await asyncio.sleep(self.world.latency)
            return self.world.metadata(self.node.node_id, request)
        return await self.node.ask(request, max_version=max_version)
