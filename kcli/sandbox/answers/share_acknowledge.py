"""ShareAcknowledge 1-2 (KIP-932). 2 adds renewals. Epoch -1 ends the session and frees what was not acknowledged."""

from __future__ import annotations

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.messages.share_acknowledge import (
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
    responses: dict[bytes, ShareAcknowledgeTopicResponse] = {}
    for (topic_id, index), wrong in acknowledge(context, request).items():
        row = PartitionData(partition_index=index)
        if wrong is not None:
            row.error_code, row.error_message = wrong.code.number, str(wrong)
        responses.setdefault(topic_id, ShareAcknowledgeTopicResponse(topic_id=topic_id)).partitions.append(row)
    if session is None:
        context.share_sessions.end(group, member)
    lock = int(context.cluster.groups.configs.value(group, "share.record.lock.duration.ms"))
    return ShareAcknowledgeResponse(acquisition_lock_timeout_ms=lock, responses=list(responses.values()))
