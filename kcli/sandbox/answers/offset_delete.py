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

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.sandbox.groups.groups import AnyGroup
    from kcli.sandbox.wire.broker import Call


async def answer(call: Call, request: OffsetDeleteRequest) -> OffsetDeleteResponse:
    try:
        call.sandbox.groups.coordinated(call, 47, request.group_id)
        group = call.sandbox.groups.any(request.group_id)
        if group.members and group.protocol_type not in ("", "consumer"):
            raise BrokerError(codes.NON_EMPTY_GROUP)
    except BrokerError as refused:
        return OffsetDeleteResponse(error_code=refused.code.number)
    return OffsetDeleteResponse(
        topics=[
            OffsetDeleteResponseTopic(
                name=topic.name,
                partitions=[_one(call, group, topic.name, one.partition_index) for one in topic.partitions],
            )
            for topic in request.topics
        ]
    )


def _one(call: Call, group: AnyGroup, topic: str, partition: int) -> OffsetDeleteResponsePartition:
    try:
        call.sandbox.topics.partition(topic, partition)
        if group.subscribes(topic):
            raise BrokerError(codes.GROUP_SUBSCRIBED_TO_TOPIC)
        call.sandbox.groups.uncommit(group.name, topic, partition)
    except BrokerError as refused:
        return OffsetDeleteResponsePartition(partition_index=partition, error_code=refused.code.number)
    return OffsetDeleteResponsePartition(partition_index=partition)
