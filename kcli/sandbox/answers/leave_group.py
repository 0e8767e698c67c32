"""LeaveGroup 0-5. 3 lets several members be removed at once, static ones by their instance id."""

from __future__ import annotations

from kcli.errors import BrokerError
from kcli.proto.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity, MemberResponse
from kcli.sandbox.groups.classic_group import ClassicGroup
from kcli.sandbox.wire.request_context import RequestContext


async def answer(context: RequestContext, request: LeaveGroupRequest) -> LeaveGroupResponse:
    try:
        context.check_coordinator(13, request.group_id)
        group = context.cluster.groups.existing(request.group_id)
        if context.version < 3:
            group.leave(request.member_id, None)
    except BrokerError as refused:
        return LeaveGroupResponse(error_code=refused.code.number)
    return LeaveGroupResponse(members=[_one(group, member) for member in request.members])


def _one(group: ClassicGroup, asked: MemberIdentity) -> MemberResponse:
    response = MemberResponse(member_id=asked.member_id, group_instance_id=asked.group_instance_id)
    try:
        group.leave(asked.member_id, asked.group_instance_id)
    except BrokerError as refused:
        response.error_code = refused.code.number
    return response
