"""LeaveGroup 0-5. 3 lets several members be removed at once, static ones by their instance id."""

from __future__ import annotations

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity, MemberResponse
from kcli.sandbox.groups.classic import ClassicGroup
from kcli.sandbox.groups.consumer.group import ConsumerGroup
from kcli.sandbox.wire.request_context import RequestContext


async def answer(context: RequestContext, request: LeaveGroupRequest) -> LeaveGroupResponse:
    try:
        context.check_coordinator(13, request.group_id)
        if context.version < 3:
            _leave(context, request.group_id, request.member_id, None)
    except BrokerError as refused:
        return LeaveGroupResponse(error_code=refused.code.number)
    return LeaveGroupResponse(members=[_one(context, request.group_id, member) for member in request.members])


def _one(context: RequestContext, group: str, asked: MemberIdentity) -> MemberResponse:
    response = MemberResponse(member_id=asked.member_id, group_instance_id=asked.group_instance_id)
    try:
        _leave(context, group, asked.member_id, asked.group_instance_id)
    except BrokerError as refused:
        response.error_code = refused.code.number
    return response


def _leave(context: RequestContext, name: str, member_id: str, instance_id: str | None) -> None:
    """Remove a member of a classic or a KIP-848 group. Raises BrokerError UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID."""
    group = context.cluster.groups.by_name(name)
    if not isinstance(group, ClassicGroup | ConsumerGroup):
        raise BrokerError(codes.UNKNOWN_MEMBER_ID)
    group.leave(member_id, instance_id)
