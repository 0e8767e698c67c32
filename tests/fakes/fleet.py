"""Several scripted brokers that tell one story of who leads what."""

from __future__ import annotations

import asyncio
from typing import Any, Self

from kcli import codes
from kcli.client import Client
from kcli.cluster.cluster import NetworkCluster
from kcli.model import Address
from kcli.proto.messages.find_coordinator import Coordinator, FindCoordinatorResponse
from kcli.proto.messages.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from kcli.proto.schema import NO_ID
from kcli.settings import ClientSettings
from tests.fakes.scripted import Ranges, Scripted

QUICK: dict[str, Any] = {
    "reconnect_backoff": 0.005, "reconnect_backoff_max": 0.02, "retry_backoff": 0.01, "retry_backoff_max": 0.04,
    "connect_timeout": 1.0, "deadline": 2.0,
}  # fmt: skip


class Told:
    """What the metadata says of one partition."""

    def __init__(self, leader: int, epoch: int = 0, error: codes.ErrorCode = codes.NONE) -> None:
        self.leader, self.epoch, self.error = leader, epoch, error


class Fleet:
    """`async with Fleet(3) as fleet:`, brokers 1 to 3. Topics are added to `topics`; `advertised` overrides where a
    broker says it is; `coordinators` says who coordinates a key (else broker 1)."""

    def __init__(self, count: int = 1, *, spoken: Ranges | None = None, first: int = 1) -> None:
        self.brokers = [Scripted(first + n, spoken=spoken) for n in range(count)]
        self.topics: dict[str, dict[int, Told]] = {}
        self.ids: dict[str, bytes] = {}
        self.internal: set[str] = set()
        self.errors: dict[str, codes.ErrorCode] = {}
        self.advertised: dict[int, Address] = {}
        self.coordinators: dict[str, int] = {}
        self.cluster_id = "fleet"
        self.error = codes.NONE
        self._clients: list[Client] = []

    async def __aenter__(self) -> Self:
        for broker in self.brokers:
            await broker.__aenter__()
            broker.sound["Metadata"] = self.metadata
            broker.sound["FindCoordinator"] = self.coordinator
        return self

    async def __aexit__(self, *_: object) -> None:
        for client in self._clients:
            await client.cluster.close()
        for broker in self.brokers:
            await broker.stop()

    def __getitem__(self, node_id: int) -> Scripted:
        return next(one for one in self.brokers if one.node_id == node_id)

    def cluster(self, *seeds: Address, **given: Any) -> NetworkCluster:
        """Our view of it, from the first broker or the given seeds; closed with the fleet."""
        bootstrap = seeds or (self.address(self.brokers[0].node_id),)
        client = Client(ClientSettings(bootstrap=bootstrap, **{**QUICK, **given}))
        self._clients.append(client)
        assert isinstance(client.cluster, NetworkCluster)
        return client.cluster

    def address(self, node_id: int) -> Address:
        return Address(self[node_id].host, self[node_id].port)

    def asked(self, api: str = "Metadata") -> list[Any]:
        """The requests of an API, wherever they came in."""
        from kcli.proto.messages import api_name

        return [one.request for broker in self.brokers for one in broker.seen if api_name(one.api_key) == api]

    async def told(self, count: int) -> None:
        """Wait until metadata was asked for so many times in all; fails when it was more."""
        for _ in range(1000):
            if len(self.asked()) >= count:
                break
            await asyncio.sleep(0.003)
        await asyncio.sleep(0.01)  # and the answer has come
        assert len(self.asked()) == count

    def metadata(self, request: Any) -> MetadataResponse:
        names = {topic_id: name for name, topic_id in self.ids.items()}
        asked: list[str] = [topic.name or names.get(topic.topic_id, "") for topic in request.topics or ()]
        asked = list(self.topics) if request.topics is None else [name for name in asked if name]
        rows = []
        for one in self.brokers:
            host, port = self.advertised.get(one.node_id, Address(one.host, one.port))
            rows.append(MetadataResponseBroker(node_id=one.node_id, host=host, port=port))
        return MetadataResponse(
            brokers=rows, cluster_id=self.cluster_id, controller_id=self.brokers[-1].node_id,
            topics=[self._topic(name) for name in asked], error_code=self.error.number,
        )  # fmt: skip

    def _topic(self, name: str) -> MetadataResponseTopic:
        error = self.errors.get(name, codes.NONE if name in self.topics else codes.UNKNOWN_TOPIC_OR_PARTITION)
        return MetadataResponseTopic(
            error_code=error.number, name=name, topic_id=self.ids.get(name, NO_ID), is_internal=name in self.internal,
            partitions=[
                MetadataResponsePartition(
                    error_code=told.error.number, partition_index=n, leader_id=told.leader, leader_epoch=told.epoch
                )
                for n, told in ({} if error else self.topics[name]).items()
            ],
        )  # fmt: skip

    def coordinator(self, request: Any) -> FindCoordinatorResponse:
        keys = request.coordinator_keys or [request.key]
        rows = []
        for key in keys:
            node = self.coordinators.get(key, self.brokers[0].node_id)
            host, port = self.advertised.get(node, self.address(node))
            rows.append(Coordinator(key=key, node_id=node, host=host, port=port))
        if request.coordinator_keys:
            return FindCoordinatorResponse(coordinators=rows)
        return FindCoordinatorResponse(node_id=rows[0].node_id, host=rows[0].host, port=rows[0].port)
