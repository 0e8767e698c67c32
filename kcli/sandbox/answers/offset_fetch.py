"""OffsetFetch 1-10. 2 lets null mean all positions, 5 adds leader epochs, 7 asks for stable ones, 8 for many groups at
once, 10 uses topic ids. A position that does not exist is -1 and no error; a stable one that an open transaction may
change is UNSTABLE_OFFSET_COMMIT (KIP-447)."""

from __future__ import annotations

from kcli import codes
from kcli.errors import BrokerError
from kcli.model import OffsetAndMetadata
from kcli.proto.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)
from kcli.proto.schema import NO_ID
from kcli.sandbox.answers.partitions import name_of
from kcli.sandbox.groups.offsets import NOTHING
from kcli.sandbox.wire.request_context import RequestContext


async def answer(context: RequestContext, request: OffsetFetchRequest) -> OffsetFetchResponse:
    if context.version >= 8:
        return OffsetFetchResponse(groups=[_group(context, group, request.require_stable) for group in request.groups])
    topics = None
    if request.topics is not None:
        topics = [OffsetFetchRequestTopics(name=t.name, partition_indexes=t.partition_indexes) for t in request.topics]
    group = _group(context, OffsetFetchRequestGroup(group_id=request.group_id, topics=topics), request.require_stable)
    return OffsetFetchResponse(
        error_code=group.error_code,
        topics=[
            OffsetFetchResponseTopic(
                name=topic.name,
                partitions=[
                    OffsetFetchResponsePartition(
                        partition_index=p.partition_index,
                        committed_offset=p.committed_offset,
                        metadata=p.metadata,
                        committed_leader_epoch=p.committed_leader_epoch,
                        error_code=group.error_code or p.error_code,
                    )
                    for p in topic.partitions
                ],
            )
            for topic in group.topics or _refused(topics or [], 0)
        ],
    )


def _group(context: RequestContext, asked: OffsetFetchRequestGroup, stable: bool) -> OffsetFetchResponseGroup:
    groups = context.cluster.groups
    try:
        context.check_coordinator(9, asked.group_id)
        groups.may_read(asked.group_id, asked.member_id, asked.member_epoch)
    except BrokerError as refused:
        return OffsetFetchResponseGroup(group_id=asked.group_id, error_code=refused.code.number)
    kept = groups.offsets.by_group.get(asked.group_id, {})
    wanted = asked.topics if asked.topics is not None else _everything(context, kept)
    topics = [_topic(context, topics, kept, asked.group_id if stable else None) for topics in wanted]
    return OffsetFetchResponseGroup(group_id=asked.group_id, topics=topics)


def _everything(
    context: RequestContext, kept: dict[tuple[str, int], OffsetAndMetadata]
) -> list[OffsetFetchRequestTopics]:
    rows: dict[str, OffsetFetchRequestTopics] = {}
    for name, partition in kept:
        if not context.may("describe", "topic", name):
            continue
        topic = context.cluster.topics.by_name.get(name)
        topic_id = topic.id if topic is not None and context.version >= 10 else NO_ID
        row = rows.setdefault(name, OffsetFetchRequestTopics(name=name, topic_id=topic_id))
        row.partition_indexes.append(partition)
    return list(rows.values())


def _topic(
    context: RequestContext,
    asked: OffsetFetchRequestTopics,
    kept: dict[tuple[str, int], OffsetAndMetadata],
    stable_in: str | None,
) -> OffsetFetchResponseTopics:
    """`stable_in` is the group whose open transactions count, None when they do not."""
    try:
        name = name_of(context, asked.name, asked.topic_id)
        context.must("describe", "topic", name)
    except BrokerError as refused:
        return _refused([asked], refused.code.number)[0]
    rows = []
    for index in asked.partition_indexes:
        if stable_in is not None and context.cluster.groups.pending.unstable(stable_in, name, index):
            rows.append(
                OffsetFetchResponsePartitions(
                    partition_index=index, committed_offset=-1, error_code=codes.UNSTABLE_OFFSET_COMMIT.number
                )
            )
            continue
        offset, epoch, metadata = kept.get((name, index), NOTHING)
        rows.append(
            OffsetFetchResponsePartitions(
                partition_index=index, committed_offset=offset, committed_leader_epoch=epoch, metadata=metadata
            )
        )
    return OffsetFetchResponseTopics(name=asked.name, topic_id=asked.topic_id, partitions=rows)


def _refused(topics: list[OffsetFetchRequestTopics], code: int) -> list[OffsetFetchResponseTopics]:
    return [
        OffsetFetchResponseTopics(
            name=topic.name,
            topic_id=topic.topic_id,
            partitions=[
                OffsetFetchResponsePartitions(partition_index=index, committed_offset=-1, error_code=code)
                for index in topic.partition_indexes
            ],
        )
        for topic in topics
    ]
