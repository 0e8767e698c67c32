"""What groups committed (OffsetFetch), read from their coordinators."""

from __future__ import annotations

import asyncio

from kcli import codes
from kcli.asking.fan_out import PATIENCE
from kcli.errors import BrokerError, KcliError
from kcli.model import OffsetAndMetadata, TopicPartition
from kcli.proto.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from kcli.proto.schema import NO_ID

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from kcli.asking.coordinators import Coordinators
    from kcli.model import Broker, Cluster
    from kcli.proto.messages.offset_fetch import OffsetFetchResponsePartition, OffsetFetchResponsePartitions

OFFSET_FETCH, STABLE_SINCE, MANY_GROUPS_SINCE = 9, 7, 8


async def committed_offsets(
    coordinators: Coordinators, groups: Iterable[str], *, stable: bool = False, patience: float = PATIENCE
) -> dict[str, dict[TopicPartition, OffsetAndMetadata | KcliError] | KcliError]:
    """All that each group committed: one request per coordinator (KIP-709), one per group before Kafka 3.0.
    A group that does not exist has committed nothing, which is not an error here. `stable` waits for transactions
    that are about to commit offsets (KIP-447); a broker before Kafka 2.5 cannot."""
    cluster = coordinators.cluster

    async def ask(
        broker: Broker, some: list[str]
    ) -> dict[str, dict[TopicPartition, OffsetAndMetadata | KcliError] | KcliError]:
        highest = (await broker.versions()).get(OFFSET_FETCH, (0, 0))[1]
        if highest < MANY_GROUPS_SINCE:
            return await _one_by_one(broker, some, stable and highest >= STABLE_SINCE)
        asked = [OffsetFetchRequestGroup(group_id=group, topics=None) for group in some]
        answer = await broker.ask(OffsetFetchRequest(groups=asked, require_stable=stable))
        ids = {t.topic_id for row in answer.groups for t in row.topics if not t.name and t.topic_id != NO_ID}
        names = await topic_names(cluster, ids)
        offsets: dict[str, dict[TopicPartition, OffsetAndMetadata | KcliError] | KcliError] = {}
        for row in answer.groups:
            if row.error_code:
                offsets[row.group_id] = _refused(row.error_code, row.group_id)
                continue
            here = offsets[row.group_id] = {}
            for topic in row.topics:
                name = topic.name or names.get(topic.topic_id) or f"(topic id {topic.topic_id.hex()})"
                for part in topic.partitions:
                    here[TopicPartition(name, part.partition_index)] = _committed(part, name)
        return offsets

    return await coordinators.ask(groups, ask, patience=patience)


async def _one_by_one(
    broker: Broker, groups: list[str], stable: bool
) -> dict[str, dict[TopicPartition, OffsetAndMetadata | KcliError] | KcliError]:
    async def read(group: str) -> dict[TopicPartition, OffsetAndMetadata | KcliError] | KcliError:
        answer = await broker.ask(OffsetFetchRequest(group_id=group, topics=None, require_stable=stable))
        if answer.error_code:
            return _refused(answer.error_code, group)
        return {
            TopicPartition(topic.name, part.partition_index): _committed(part, topic.name)
            for topic in answer.topics
            for part in topic.partitions
        }

    return dict(zip(groups, await asyncio.gather(*(read(group) for group in groups)), strict=True))


def _refused(code: int, group: str) -> BrokerError:
    return BrokerError(codes.of(code), group, api=OFFSET_FETCH, group=group)


def _committed(
    part: OffsetFetchResponsePartition | OffsetFetchResponsePartitions, topic: str
) -> OffsetAndMetadata | KcliError:
    if part.error_code:
        return BrokerError(
            codes.of(part.error_code), f"{topic} [{part.partition_index}]", api=OFFSET_FETCH, topic=topic
        )
    epoch = part.committed_leader_epoch
    return OffsetAndMetadata(offset=part.committed_offset, leader_epoch=epoch, metadata=part.metadata or "")


async def topic_names(cluster: Cluster, ids: set[bytes]) -> dict[bytes, str]:
    """Names of topic ids (KIP-516): from the cache, the rest by one Metadata request, which
    tells their leaders too. Unknown ids are omitted."""
    names = {topic_id: name for topic_id in ids if (name := cluster.topic_name(topic_id))}
    missing = ids - names.keys()
    if missing:
        await cluster.learn(missing)
        names |= {topic_id: name for topic_id in missing if (name := cluster.topic_name(topic_id))}
    return names
