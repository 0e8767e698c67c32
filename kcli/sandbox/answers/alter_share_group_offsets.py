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
from kcli.sandbox.groups.share.group import ShareGroup
from kcli.sandbox.wire.request_context import RequestContext


async def answer(context: RequestContext, request: AlterShareGroupOffsetsRequest) -> AlterShareGroupOffsetsResponse:
    try:
        switched_on(context)
        context.check_coordinator(91, request.group_id)
        group = context.cluster.groups.sharing(request.group_id)
        if group.members:
            raise BrokerError(codes.NON_EMPTY_GROUP)
    except BrokerError as refused:
        return AlterShareGroupOffsetsResponse(error_code=refused.code.number, error_message=str(refused))
    return AlterShareGroupOffsetsResponse(
        responses=[
            AlterShareGroupOffsetsResponseTopic(
                topic_name=topic.topic_name,
                partitions=[
                    _moved(context, group, topic.topic_name, partition.partition_index, partition.start_offset)
                    for partition in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )


def _moved(
    context: RequestContext, group: ShareGroup, name: str, index: int, start: int
) -> AlterShareGroupOffsetsResponsePartition:
    row = AlterShareGroupOffsetsResponsePartition(partition_index=index)
    try:
        group.move(context.cluster.topics.partition(name, index), start)
    except BrokerError as refused:
        row.error_code, row.error_message = refused.code.number, str(refused)
    return row
