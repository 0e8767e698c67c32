"""OffsetDelete 0. Not for a topic that a member of the group is subscribed to."""

from __future__ import annotations

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)
from kcli.sandbox.groups.groups import AnyGroup
from kcli.sandbox.wire.request_context import RequestContext


async def answer(context: RequestContext, request: OffsetDeleteRequest) -> OffsetDeleteResponse:
    try:
        context.check_coordinator(47, request.group_id)
        group = context.cluster.groups.any(request.group_id)
        if group.kind == "share":
            raise BrokerError(codes.GROUP_ID_NOT_FOUND, message=f"Group {request.group_id} is a share group.")
        if group.members and group.protocol_type not in ("", "consumer"):
            raise BrokerError(codes.NON_EMPTY_GROUP)
    except BrokerError as refused:
        return OffsetDeleteResponse(error_code=refused.code.number)
    topics: dict[str, OffsetDeleteResponseTopic] = {}
    for topic in request.topics:
        for partition in topic.partitions:
            row = topics.setdefault(topic.name, OffsetDeleteResponseTopic(name=topic.name))
            row.partitions.append(_one(context, group, topic.name, partition.partition_index))
    return OffsetDeleteResponse(topics=list(topics.values()))


def _one(context: RequestContext, group: AnyGroup, topic: str, partition: int) -> OffsetDeleteResponsePartition:
    try:
        context.cluster.topics.partition(topic, partition)
        if group.subscribes(topic):
            raise BrokerError(codes.GROUP_SUBSCRIBED_TO_TOPIC)
        context.cluster.groups.offsets.delete(group.name, topic, partition)
    except BrokerError as refused:
        return OffsetDeleteResponsePartition(partition_index=partition, error_code=refused.code.number)
    return OffsetDeleteResponsePartition(partition_index=partition)
