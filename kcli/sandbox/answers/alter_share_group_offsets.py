"""AlterShareGroupOffsets 0: moves the window of a group without members."""

from __future__ import annotations

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.messages.alter_share_group_offsets import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsResponse,
    AlterShareGroupOffsetsResponsePartition,
    AlterShareGroupOffsetsResponseTopic,
)
from kcli.sandbox.answers.sharing import switched_on
from kcli.sandbox.groups.share import ShareGroup
from kcli.sandbox.wire.request_context import RequestContext


async def answer(context: RequestContext, request: AlterShareGroupOffsetsRequest) -> AlterShareGroupOffsetsResponse:
    try:
        switched_on(context)
        context.check_coordinator(91, request.group_id)
        groups, moved = context.cluster.groups, [(t.topic_name, p) for t in request.topics for p in t.partitions]
        if any(partition.partition_index < 0 for _, partition in moved):
            raise BrokerError(codes.UNKNOWN_SERVER_ERROR, message="a negative partition")
        there = any(_exists(context, name, partition.partition_index) for name, partition in moved)
        group = groups.sharing(request.group_id) if there or groups.by_name(request.group_id) else None
        if group is not None and group.members:
            raise BrokerError(codes.NON_EMPTY_GROUP)
    except BrokerError as refused:
        return AlterShareGroupOffsetsResponse(error_code=refused.code.number, error_message=str(refused))
    topics: dict[str, AlterShareGroupOffsetsResponseTopic] = {}
    for topic in request.topics:
        name = topic.topic_name
        rows = topics.setdefault(name, AlterShareGroupOffsetsResponseTopic(topic_name=name)).partitions
        rows += [_moved(context, group, name, each.partition_index, each.start_offset) for each in topic.partitions]
    return AlterShareGroupOffsetsResponse(responses=list(topics.values()))


def _exists(context: RequestContext, name: str, index: int) -> bool:
    topic = context.cluster.topics.by_name.get(name)
    return topic is not None and index < len(topic.partitions)


def _moved(
    context: RequestContext, group: ShareGroup | None, name: str, index: int, start: int
) -> AlterShareGroupOffsetsResponsePartition:
    row = AlterShareGroupOffsetsResponsePartition(partition_index=index)
    try:
        partition = context.cluster.topics.partition(name, index)
        assert group is not None
        group.move(partition, start)
    except BrokerError as refused:
        row.error_code, row.error_message = refused.code.number, str(refused)
    return row
