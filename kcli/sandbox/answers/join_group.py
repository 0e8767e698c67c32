"""JoinGroup 0-9. 1 adds the rebalance timeout, 4 the id-first round trip (KIP-394), 5 static members, 9
skip_assignment. Any session timeout above 0 is accepted, so that tests can be quick."""

from __future__ import annotations

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.messages.join_group import JoinGroupRequest, JoinGroupResponse
from kcli.sandbox.groups.groups import LONGEST_SESSION_MS
from kcli.sandbox.groups.member import refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.sandbox.wire.broker import Call


async def answer(call: Call, request: JoinGroupRequest) -> JoinGroupResponse:
    groups = call.sandbox.groups
    try:
        groups.coordinated(call, 11, request.group_id)
        if not 0 < request.session_timeout_ms <= LONGEST_SESSION_MS:
            raise BrokerError(codes.INVALID_SESSION_TIMEOUT)
        group = groups.find(request.group_id)
        if group is None:
            if request.member_id:
                raise BrokerError(codes.UNKNOWN_MEMBER_ID)
            group = groups.made(request.group_id)
        response = await group.join(
            request, call.client_id, call.host, id_first=call.version >= 4, may_skip=call.version >= 9
        )
    except BrokerError as refused:
        response = refusal(refused.code, request.member_id)
    if call.version >= 7 and response.error_code:
        response.protocol_name = None
    return response
