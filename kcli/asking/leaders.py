"""Partitions by leader: from the current metadata, or with waiting."""

from __future__ import annotations

import asyncio

from kcli import codes
from kcli.asking.fan_out import bad, brokers_of, gather
from kcli.errors import BrokerError, KcliError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from kcli.model import Broker, Cluster, TopicPartition

LEADERLESS_PATIENCE = 2.0
"""Seconds to wait for a leader if the metadata has none."""


class Leaders:
    """Partitions by leader from the metadata, which is requested once for all unknown topics."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.waits_until = asyncio.get_running_loop().time() + LEADERLESS_PATIENCE

    def forget(self, at: TopicPartition) -> None:
        self.cluster.leader_moved(at)

    async def locate(
        self, partitions: list[TopicPartition]
    ) -> tuple[list[tuple[Broker, list[TopicPartition]]], dict[TopicPartition, KcliError]]:
        lost: dict[TopicPartition, KcliError] = {}
        by_node = self._by_node(partitions)
        unknown = by_node.pop(-1, [])
        if unknown:
            try:
                await self.cluster.refresh(sorted({at.topic for at in unknown}))
            except KcliError as error:
                lost = {at: error for at in unknown if self.cluster.leader_id(at) < 0}
            by_node = self._by_node(at for at in partitions if at not in lost)
            lost.update(await self._why_leaderless(by_node.pop(-1, [])))
        return await brokers_of(self.cluster, by_node, lost), lost

    def _by_node(self, partitions: Iterable[TopicPartition]) -> dict[int, list[TopicPartition]]:
        by_node: dict[int, list[TopicPartition]] = {}
        for at in partitions:
            by_node.setdefault(self.cluster.leader_id(at), []).append(at)
        return by_node

    async def _why_leaderless(self, partitions: list[TopicPartition]) -> dict[TopicPartition, KcliError]:
        """Return errors for partitions without a leader. A missing topic is final; a partition may get a leader soon,
        but its last replica may also be gone for good."""
        why: dict[TopicPartition, KcliError] = {}
        late = asyncio.get_running_loop().time() > self.waits_until
        topics: dict[str, KcliError | None] = {}
        for at in partitions:
            if at.topic not in topics:
                topics[at.topic] = await self._missing(at.topic)
            soon = BrokerError(codes.LEADER_NOT_AVAILABLE, f"{at.topic} [{at.partition}]")
            why[at] = topics[at.topic] or (Leaderless(at) if late else soon)
        return why

    async def _missing(self, topic: str) -> KcliError | None:
        try:
            await self.cluster.partitions(topic)
        except BrokerError as error:
            if error.code is codes.UNKNOWN_TOPIC_OR_PARTITION:
                return TopicMissing(topic)
            return error
        except KcliError as error:
            return error
        return None


class AwaitedLeaders:
    """Partitions by leader, waiting for each as long as `Cluster.leader` does: for engines, which outlast elections and
    topic creation. A leader in the metadata is looked up once for all its partitions."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster

    def forget(self, at: TopicPartition) -> None:
        self.cluster.leader_moved(at)

    async def locate(
        self, partitions: list[TopicPartition]
    ) -> tuple[list[tuple[Broker, list[TopicPartition]]], dict[TopicPartition, KcliError]]:
        led: dict[int, list[TopicPartition]] = {}
        for at in partitions:
            led.setdefault(self.cluster.leader_id(at), []).append(at)
        awaited = led.pop(-1, [])
        located: dict[int, tuple[Broker, list[TopicPartition]]] = {}
        leaders = await asyncio.gather(*(self._leader(some[0]) for some in led.values()))
        for (node_id, some), leader in zip(led.items(), leaders, strict=True):
            if isinstance(leader, KcliError) or leader.node_id != node_id:
                awaited += some  # no longer a broker of the cluster
            else:
                located[node_id] = (leader, some)
        return await self._await(awaited, located)

    async def _await(
        self, partitions: list[TopicPartition], located: dict[int, tuple[Broker, list[TopicPartition]]]
    ) -> tuple[list[tuple[Broker, list[TopicPartition]]], dict[TopicPartition, KcliError]]:
        """Return `located` with the leaders of `partitions` added, found one by one, and the errors of those without a
        leader."""
        lost: dict[TopicPartition, KcliError] = {}
        leaders = await asyncio.gather(*(self._leader(at) for at in partitions))
        for at, leader in zip(partitions, leaders, strict=True):
            if isinstance(leader, KcliError):
                lost[at] = leader
            else:
                located.setdefault(leader.node_id, (leader, []))[1].append(at)
        return list(located.values()), lost

    async def _leader(self, at: TopicPartition) -> Broker | KcliError:
        try:
            return await self.cluster.leader(at)
        except KcliError as error:
            return error


async def leaderless(
    cluster: Cluster, partitions: Iterable[TopicPartition], patience: float
) -> dict[TopicPartition, Leaderless]:
    """Return the partitions without a leader, after waiting up to `patience` seconds. Raises KcliError."""

    async def found(broker: Broker, some: list[TopicPartition]) -> dict[TopicPartition, int | KcliError]:
        return dict.fromkeys(some, broker.node_id)

    missing: dict[TopicPartition, Leaderless] = {}
    for at, error in bad(await gather(partitions, Leaders(cluster), found, patience=patience)).items():
        if not isinstance(error, Leaderless) and not (isinstance(error, BrokerError) and error.retriable):
            raise error
        missing[at] = Leaderless(at)
    return missing


class TopicMissing(KcliError):
    """The cluster has no topic of this name; asking again does not change that."""

    def __init__(self, topic: str) -> None:
        super().__init__(f"{topic}: this topic does not exist")
        self.topic = topic


class Leaderless(KcliError):
    """The partition has had no leader for a while: all its in-sync replicas are down."""

    def __init__(self, at: TopicPartition) -> None:
        super().__init__(f"{at.topic} [{at.partition}]: no broker leads this partition now")
