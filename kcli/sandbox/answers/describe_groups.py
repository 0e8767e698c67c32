"""DescribeGroups 0-6. 4 adds static members; below 6 a group that does not exist is "Dead", from 6 on it is
GROUP_ID_NOT_FOUND."""

from __future__ import annotations

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.messages.describe_groups import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from kcli.sandbox.access.acls import UNTOLD, operations
from kcli.sandbox.groups.states import STABLE
from kcli.sandbox.wire.request_context import RequestContext


async def answer(context: RequestContext, request: DescribeGroupsRequest) -> DescribeGroupsResponse:
    return DescribeGroupsResponse(groups=[_one(context, name, request) for name in request.groups])


def _one(context: RequestContext, name: str, request: DescribeGroupsRequest) -> DescribedGroup:
    try:
        context.check_coordinator(15, name)
    except BrokerError as refused:
        return DescribedGroup(group_id=name, error_code=refused.code.number)
    allowed = operations(context, "group", name, wanted=request.include_authorized_operations)
    group = context.cluster.groups.find(name)
    if group is None:
        missing = DescribedGroup(group_id=name, group_state="Dead", authorized_operations=allowed)
        if context.version >= 6:
            missing.authorized_operations = UNTOLD
            missing.error_code, missing.error_message = codes.GROUP_ID_NOT_FOUND.number, f"group {name} not found"
        return missing
    stable = group.state == STABLE
    return DescribedGroup(
        group_id=name,
        group_state=group.state,
        authorized_operations=allowed,
        protocol_type=group.protocol_type,
        protocol_data=(group.roster.protocol or "") if stable else "",
        members=[
            DescribedGroupMember(
                member_id=member.id,
                group_instance_id=member.instance_id,
                client_id=member.client_id,
                client_host=member.host,
                member_metadata=member.metadata(group.roster.protocol) if stable else b"",
                member_assignment=member.assignment,
            )
            for member in group.members.values()
        ],
    )
