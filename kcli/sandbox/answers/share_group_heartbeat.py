"""ShareGroupHeartbeat 1 (KIP-932). Switched off below share.version 1."""

from __future__ import annotations

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.messages.share_group_heartbeat import (
    Assignment,
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
    TopicPartitions,
)
from kcli.sandbox.answers.sharing import by_topic, switched_on
from kcli.sandbox.groups.consumer.group import HEARTBEAT
from kcli.sandbox.groups.share import ShareMember, check_member
from kcli.sandbox.wire.request_context import RequestContext


async def answer(context: RequestContext, request: ShareGroupHeartbeatRequest) -> ShareGroupHeartbeatResponse:
    try:
        member, target = _beat(context, request)
    except BrokerError as refused:
        return ShareGroupHeartbeatResponse(error_code=refused.code.number, error_message=str(refused))
    if member is None:
        return ShareGroupHeartbeatResponse(member_id=request.member_id, member_epoch=request.member_epoch)
    assignment = None
    if member.sent_assignment != target:
        member.sent_assignment = set(target)
        rows = [
            TopicPartitions(topic_id=topic_id, partitions=numbers) for topic_id, numbers in by_topic(target).items()
        ]
        assignment = Assignment(topic_partitions=rows)
    return ShareGroupHeartbeatResponse(
        member_id=member.id,
        member_epoch=member.epoch,
        heartbeat_interval_ms=round(HEARTBEAT * 1000),
        assignment=assignment,
    )


def _beat(
    context: RequestContext, request: ShareGroupHeartbeatRequest
) -> tuple[ShareMember | None, set[tuple[bytes, int]]]:
    switched_on(context)
    groups = context.cluster.groups
    for field, value in (("GroupId", request.group_id), ("RackId", request.rack_id)):
        if value == "":
            raise BrokerError(codes.INVALID_REQUEST, message=f"{field} can't be empty.")
    check_member(request)
    context.check_coordinator(76, request.group_id)
    if request.member_epoch != 0 and groups.shared(request.group_id) is None:
        raise BrokerError(codes.GROUP_ID_NOT_FOUND, message=f"Group {request.group_id} not found.")
    group = groups.sharing(request.group_id)
    member = group.heartbeat(request, context.client_id, context.host)
    return member, group.target[member.id] if member is not None else set()
