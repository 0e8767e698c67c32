"""ShareAcknowledge 1-2 (KIP-932). 2 adds renewals. Epoch -1 ends the session and frees what was not acknowledged."""

from __future__ import annotations

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.messages.share_acknowledge import (
    AcknowledgePartition,
    PartitionData,
    ShareAcknowledgeRequest,
    ShareAcknowledgeResponse,
    ShareAcknowledgeTopicResponse,
)
from kcli.sandbox.answers.sharing import SHARE_ACKNOWLEDGE, acknowledge, must_know, switched_on
from kcli.sandbox.wire.request_context import RequestContext


async def answer(context: RequestContext, request: ShareAcknowledgeRequest) -> ShareAcknowledgeResponse:
    group, member = request.group_id or "", request.member_id or ""
    try:
        switched_on(context)
        if not member:
            raise BrokerError(codes.INVALID_REQUEST, message="MemberId can't be empty.")
        scripted = context.refused(SHARE_ACKNOWLEDGE)
        if scripted is not None:
            raise BrokerError(scripted)
        context.check(SHARE_ACKNOWLEDGE, "group", group)
        session = context.share_sessions.continued((group, member), request.share_session_epoch)
        must_know(context, (topic.topic_id for topic in request.topics))
    except BrokerError as refused:
        return ShareAcknowledgeResponse(error_code=refused.code.number, error_message=str(refused))
    responses = [
        ShareAcknowledgeTopicResponse(
            topic_id=topic.topic_id,
            partitions=[
                _one(context, request, topic.topic_id, partition)
                for partition in topic.partitions
                if partition.acknowledgement_batches
            ],
        )
        for topic in request.topics
        if any(partition.acknowledgement_batches for partition in topic.partitions)
    ]
    if session is None:
        context.share_sessions.end(group, member)
    lock = int(context.cluster.groups.configs.value(group, "share.record.lock.duration.ms"))
    return ShareAcknowledgeResponse(acquisition_lock_timeout_ms=lock, responses=responses)


def _one(
    context: RequestContext, request: ShareAcknowledgeRequest, topic_id: bytes, asked: AcknowledgePartition
) -> PartitionData:
    row = PartitionData(partition_index=asked.partition_index)
    try:
        acknowledge(context, request, (topic_id, asked.partition_index), asked.acknowledgement_batches)
    except BrokerError as refused:
        row.error_code, row.error_message = refused.code.number, str(refused)
    return row
