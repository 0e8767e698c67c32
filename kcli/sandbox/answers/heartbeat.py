"""Heartbeat 0-4. 3 adds static members. A group of KIP-848 may have members of the classic protocol."""

from __future__ import annotations

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from kcli.sandbox.groups.consumer.classic_members import beat
from kcli.sandbox.groups.consumer.group import ConsumerGroup
from kcli.sandbox.groups.states import PREPARING
from kcli.sandbox.wire.request_context import RequestContext


async def answer(context: RequestContext, request: HeartbeatRequest) -> HeartbeatResponse:
    try:
        context.check_coordinator(12, request.group_id)
        found = context.cluster.groups.by_name(request.group_id)
        if isinstance(found, ConsumerGroup):
            beat(found, request.member_id, request.group_instance_id, request.generation_id)
            return HeartbeatResponse()
        group = context.cluster.groups.existing(request.group_id)
        group.beat(group.member_of(request.member_id, request.group_instance_id, request.generation_id))
        if group.state == PREPARING:
            raise BrokerError(codes.REBALANCE_IN_PROGRESS)
    except BrokerError as refused:
        return HeartbeatResponse(error_code=refused.code.number)
    return HeartbeatResponse()
