"""JoinGroup 0-9. 1 adds the rebalance timeout, 4 the id-first round trip (KIP-394), 5 static members, 9
skip_assignment. Any session timeout above 0 is accepted, so that tests can be quick."""

from __future__ import annotations

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.messages.join_group import JoinGroupRequest, JoinGroupResponse
from kcli.sandbox.groups.groups import LONGEST_SESSION_MS
from kcli.sandbox.groups.member import refusal
from kcli.sandbox.wire.request_context import RequestContext


async def answer(context: RequestContext, request: JoinGroupRequest) -> JoinGroupResponse:
    groups = context.cluster.groups
    try:
        context.check_coordinator(11, request.group_id)
        if not 0 < request.session_timeout_ms <= LONGEST_SESSION_MS:
            raise BrokerError(codes.INVALID_SESSION_TIMEOUT)
        group = groups.find(request.group_id)
        if group is None:
            if request.member_id:
                raise BrokerError(codes.UNKNOWN_MEMBER_ID)
            group = groups.get_or_create(request.group_id)
        response = await group.join(
            request, context.client_id, context.host, id_first=context.version >= 4, may_skip=context.version >= 9
        )
    except BrokerError as refused:
        response = refusal(refused.code, request.member_id)
    if context.version >= 7 and response.error_code:
        response.protocol_name = None
    return response
