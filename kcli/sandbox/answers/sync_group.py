"""SyncGroup 0-5. 3 adds static members, 5 the protocol, which is checked (KIP-559)."""

from __future__ import annotations

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from kcli.sandbox.groups.consumer.classic_members import sync
from kcli.sandbox.groups.consumer.group import ConsumerGroup
from kcli.sandbox.groups.states import STABLE
from kcli.sandbox.wire.request_context import RequestContext

PROTOCOL = 5  # the first version with the protocol


async def answer(context: RequestContext, request: SyncGroupRequest) -> SyncGroupResponse:
    groups = context.cluster.groups
    try:
        context.check_coordinator(14, request.group_id)
        found = groups.by_name(request.group_id)
        if isinstance(found, ConsumerGroup):
            return _synced(context, found, request)
        group = groups.existing(request.group_id)
        member = group.member_of(request.member_id, request.group_instance_id, request.generation_id)
        roster = group.roster
        protocols = ((request.protocol_type, roster.protocol_type), (request.protocol_name, roster.protocol))
        _check_said(context, request)
        if any(asked not in (None, agreed) for asked, agreed in protocols):
            raise BrokerError(codes.INCONSISTENT_GROUP_PROTOCOL)
        was = group.state
        assignment = await group.sync(
            member, {assignment.member_id: assignment.assignment for assignment in request.assignments}
        )
        if was != STABLE and member.id == roster.leader:
            groups.remember(group)
    except BrokerError as refused:
        return SyncGroupResponse(error_code=refused.code.number)
    return SyncGroupResponse(protocol_type=roster.protocol_type, protocol_name=roster.protocol, assignment=assignment)


def _synced(context: RequestContext, group: ConsumerGroup, request: SyncGroupRequest) -> SyncGroupResponse:
    """The answer to a member of a KIP-848 group that uses the classic protocol. Raises BrokerError."""
    _check_said(context, request)
    assignment = sync(group, context.cluster.topics, request)
    return SyncGroupResponse(
        protocol_type=request.protocol_type, protocol_name=request.protocol_name, assignment=assignment
    )


def _check_said(context: RequestContext, request: SyncGroupRequest) -> None:
    """Raises BrokerError INCONSISTENT_GROUP_PROTOCOL for a version that has to say its protocol, and does not."""
    if context.version >= PROTOCOL and None in (request.protocol_type, request.protocol_name):
        raise BrokerError(codes.INCONSISTENT_GROUP_PROTOCOL)
