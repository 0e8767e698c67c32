"""Offsets: of logs by time or end (from the leaders, C14), and those that groups committed (from the coordinators)."""

from __future__ import annotations

import asyncio

from kcli import codes
from kcli.admin.gather import PATIENCE, ask_anyone, gather
from kcli.errors import BrokerError, KcliError
from kcli.model import TopicPartition
from kcli.proto.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kcli.proto.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from kcli.proto.schema import NO_ID
from kcli.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from kcli.admin.coordinators import Coordinators
    from kcli.model import Broker, Cluster
    from kcli.proto.messages.offset_fetch import OffsetFetchResponsePartition, OffsetFetchResponsePartitions

LATEST, EARLIEST, MAX_TIMESTAMP = -1, -2, -3
"""The special timestamps of ListOffsets (E22)."""

LEADERLESS_PATIENCE = 2.0
"""Seconds for which a leader is waited for where the metadata names none."""

ISOLATION = {"read_uncommitted": 0, "read_committed": 1}
OFFSET_FETCH, MANY_GROUPS_SINCE = 9, 8


class LogOffset(Value):
    """A place in a log. `offset` is -1 when no record is that young; `timestamp` (ms) is -1 unless asked by time."""

    offset: int = -1
    timestamp: int = -1
    leader_epoch: int = -1


class Committed(Value):
    """A group's position. `offset` is -1 where nothing is committed."""

    offset: int = -1
    leader_epoch: int = -1
    metadata: str = ""


async def list_offsets(
    cluster: Cluster,
    timestamp: int,
    partitions: Iterable[TopicPartition],
    *,
    isolation: str = "read_uncommitted",
    patience: float = PATIENCE,
) -> dict[TopicPartition, LogOffset | KcliError]:
    """Where each log stands at `timestamp` (ms, or LATEST, EARLIEST, MAX_TIMESTAMP): one request per leader.
    With isolation read_committed LATEST is the last stable offset. Failed partitions carry their error."""
    places = Leaders(cluster)

    async def ask(broker: Broker, some: list[TopicPartition]) -> dict[TopicPartition, LogOffset | KcliError]:
        return await _ask_leader(cluster, broker, some, timestamp, ISOLATION[isolation])

    return await gather(partitions, places.locate, ask, places.forget, patience=patience)


class Leaders:
    """Partitions by leader as the metadata has it, which is asked once for all topics that are not known."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.waits_until = asyncio.get_running_loop().time() + LEADERLESS_PATIENCE

    def forget(self, at: TopicPartition) -> None:
        self.cluster.leader_moved(at)

    async def locate(
        self, partitions: list[TopicPartition]
    ) -> tuple[list[tuple[Broker, list[TopicPartition]]], dict[TopicPartition, KcliError]]:
        unknown = sorted({at.topic for at in partitions if self.cluster.leader_id(at) < 0})
        lost: dict[TopicPartition, KcliError] = {}
        if unknown:
            try:
                await self.cluster.refresh(unknown)
            except KcliError as error:
                lost = {at: error for at in partitions if self.cluster.leader_id(at) < 0}
        by_node: dict[int, list[TopicPartition]] = {}
        for at in partitions:
            if at not in lost:
                by_node.setdefault(self.cluster.leader_id(at), []).append(at)
        lost.update(await self._why_leaderless(by_node.pop(-1, [])))
        found: list[tuple[Broker, list[TopicPartition]]] = []
        for node_id, some in by_node.items():
            try:
                found.append((await self.cluster.node(node_id), some))
            except KcliError as error:
                lost.update(dict.fromkeys(some, error))
        return found, lost

    async def _why_leaderless(self, partitions: list[TopicPartition]) -> dict[TopicPartition, KcliError]:
        """A topic that does not exist is final; a partition that nobody leads now may have a leader soon, but its
        last replica may also be gone for good."""
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


class TopicMissing(KcliError):
    """The cluster has no topic of this name, which asking again does not change."""

    def __init__(self, topic: str) -> None:
        super().__init__(f"{topic}: this topic does not exist")
        self.topic = topic


class Leaderless(KcliError):
    """Nobody has led this partition for a while: all its in-sync replicas are down."""

    def __init__(self, at: TopicPartition) -> None:
        super().__init__(f"{at.topic} [{at.partition}]: no broker leads this partition now")


async def _ask_leader(
    cluster: Cluster, broker: Broker, partitions: list[TopicPartition], timestamp: int, isolation: int
) -> dict[TopicPartition, LogOffset | KcliError]:
    topics: dict[str, ListOffsetsTopic] = {}
    for at in partitions:
        topic = topics.get(at.topic) or topics.setdefault(at.topic, ListOffsetsTopic(name=at.topic))
        epoch = cluster.leader_epoch(at)
        topic.partitions.append(
            ListOffsetsPartition(partition_index=at.partition, current_leader_epoch=epoch, timestamp=timestamp)
        )
    answer = await broker.ask(
        ListOffsetsRequest(replica_id=-1, isolation_level=isolation, topics=list(topics.values()), timeout_ms=30_000)
    )
    answers: dict[TopicPartition, LogOffset | KcliError] = {}
    for row in answer.topics:
        for part in row.partitions:
            at = TopicPartition(row.name, part.partition_index)
            if part.error_code:
                answers[at] = BrokerError(codes.of(part.error_code), f"{at.topic} [{at.partition}]")
            else:
                answers[at] = LogOffset(offset=part.offset, timestamp=part.timestamp, leader_epoch=part.leader_epoch)
    return answers


async def committed_offsets(
    coordinators: Coordinators, groups: Iterable[str], *, stable: bool = False, patience: float = PATIENCE
) -> dict[str, dict[TopicPartition, Committed | KcliError] | KcliError]:
    """All that each group committed: one request per coordinator (KIP-709), one per group before Kafka 3.0.
    A group that does not exist has committed nothing, which is not an error here. `stable` waits for transactions
    that are about to commit offsets (KIP-447)."""
    cluster = coordinators.cluster

    async def ask(
        broker: Broker, some: list[str]
    ) -> dict[str, dict[TopicPartition, Committed | KcliError] | KcliError]:
        if (await broker.versions()).get(OFFSET_FETCH, (0, 0))[1] < MANY_GROUPS_SINCE:
            return await _one_by_one(broker, some, stable)
        asked = [OffsetFetchRequestGroup(group_id=group, topics=None) for group in some]
        answer = await broker.ask(OffsetFetchRequest(groups=asked, require_stable=stable))
        ids = {t.topic_id for row in answer.groups for t in row.topics if not t.name and t.topic_id != NO_ID}
        names = await topic_names(cluster, ids)
        found: dict[str, dict[TopicPartition, Committed | KcliError] | KcliError] = {}
        for row in answer.groups:
            if row.error_code:
                found[row.group_id] = BrokerError(codes.of(row.error_code), row.group_id)
                continue
            here = found[row.group_id] = {}
            for topic in row.topics:
                name = topic.name or names.get(topic.topic_id) or f"(topic id {topic.topic_id.hex()})"
                for part in topic.partitions:
                    here[TopicPartition(name, part.partition_index)] = _committed(part, name)
        return found

    return await coordinators.ask(groups, ask, patience=patience)


async def _one_by_one(
    broker: Broker, groups: list[str], stable: bool
) -> dict[str, dict[TopicPartition, Committed | KcliError] | KcliError]:
    async def one(group: str) -> dict[TopicPartition, Committed | KcliError] | KcliError:
        answer = await broker.ask(OffsetFetchRequest(group_id=group, topics=None, require_stable=stable))
        if answer.error_code:
            return BrokerError(codes.of(answer.error_code), group)
        return {
            TopicPartition(topic.name, part.partition_index): _committed(part, topic.name)
            for topic in answer.topics
            for part in topic.partitions
        }

    return dict(zip(groups, await asyncio.gather(*(one(group) for group in groups)), strict=True))


def _committed(part: OffsetFetchResponsePartition | OffsetFetchResponsePartitions, topic: str) -> Committed | KcliError:
    if part.error_code:
        return BrokerError(codes.of(part.error_code), f"{topic} [{part.partition_index}]")
    epoch = part.committed_leader_epoch
    return Committed(offset=part.committed_offset, leader_epoch=epoch, metadata=part.metadata or "")


async def topic_names(cluster: Cluster, ids: set[bytes]) -> dict[bytes, str]:
    """Names of topic ids (KIP-516): from the cache, the rest in one Metadata request. Unknown ids are left out."""
    names = {topic_id: name for topic_id in ids if (name := cluster.topic_name(topic_id))}
    missing = sorted(ids - names.keys())
    if missing:
        from kcli.proto.messages.metadata import MetadataRequest, MetadataRequestTopic

        asked = [MetadataRequestTopic(topic_id=topic_id, name=None) for topic_id in missing]
        answer = await ask_anyone(cluster, MetadataRequest(topics=asked, allow_auto_topic_creation=False))
        names |= {row.topic_id: row.name for row in answer.topics if row.name and not row.error_code}
    return names
