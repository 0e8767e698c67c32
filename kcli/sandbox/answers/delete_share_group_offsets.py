"""DeleteShareGroupOffsets 0: a group without members forgets what it did with topics."""

from __future__ import annotations

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.messages.delete_share_group_offsets import (
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsResponse,
    DeleteShareGroupOffsetsResponseTopic,
)
from kcli.sandbox.answers.sharing import existing
from kcli.sandbox.wire.request_context import RequestContext


async def answer(context: RequestContext, request: DeleteShareGroupOffsetsRequest) -> DeleteShareGroupOffsetsResponse:
    try:
        group = existing(context, 92, request.group_id)
        if group.members:
            raise BrokerError(codes.NON_EMPTY_GROUP)
    except BrokerError as refused:
        return DeleteShareGroupOffsetsResponse(error_code=refused.code.number, error_message=str(refused))
    rows = []
    for asked in {topic.topic_name: topic for topic in request.topics}.values():
        row = DeleteShareGroupOffsetsResponseTopic(topic_name=asked.topic_name)
        topic = context.cluster.topics.by_name.get(asked.topic_name)
        if topic is None or not group.forget(topic.id):
            row.error_code = codes.UNKNOWN_TOPIC_OR_PARTITION.number
        else:
            row.topic_id = topic.id
        rows.append(row)
    return DeleteShareGroupOffsetsResponse(responses=rows)
