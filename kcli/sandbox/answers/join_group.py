"""JoinGroup 0-9. 1 adds the rebalance timeout, 4 the id-first round trip (KIP-394), 5 static members, 9
skip_assignment. Any session timeout above 0 is accepted, so that tests can be quick."""

from __future__ import annotations

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.consumer_protocol import version_of
from kcli.proto.messages.join_group import JoinGroupRequest, JoinGroupResponse
from kcli.sandbox.groups.classic import ClassicGroup, refusal
from kcli.sandbox.groups.consumer import classic_members
from kcli.sandbox.groups.consumer.group import ConsumerGroup
from kcli.sandbox.groups.groups import LONGEST_SESSION_MS
from kcli.sandbox.wire.request_context import RequestContext


async def answer(context: RequestContext, request: JoinGroupRequest) -> JoinGroupResponse:
    groups = context.cluster.groups
    try:
        context.check_coordinator(11, request.group_id)
        if not 0 < request.session_timeout_ms <= LONGEST_SESSION_MS:
            raise BrokerError(codes.INVALID_SESSION_TIMEOUT)
        found = groups.by_name(request.group_id)
        if isinstance(found, ConsumerGroup) and found.members:
            response = _joined(context, found, request)
        else:
            version = context.version
            response = await _group(context, request).join(
                request, context.client_id, context.host, id_first=version >= 4, may_skip=version >= 9
            )
    except BrokerError as refused:
        response = refusal(refused.code, request.member_id)
    if context.version >= 7 and response.error_code:
        response.protocol_name = None
    return response


def _joined(context: RequestContext, group: ConsumerGroup, request: JoinGroupRequest) -> JoinGroupResponse:
    """The answer to a member of a KIP-848 group that uses the classic protocol."""
    topics, client = context.cluster.topics, (context.client_id, context.host)
    try:
        return classic_members.join(group, topics, request, client, id_first=context.version >= 4)
    except BrokerError as refused:
        malformed = bool(request.protocols) and version_of(request.protocols[0].metadata) is None
        crashes = malformed and context.cluster.settings.kafka_version == "4.3"  # in its decoder
        return refusal(codes.UNKNOWN_SERVER_ERROR if crashes else refused.code, "")


def _group(context: RequestContext, request: JoinGroupRequest) -> ClassicGroup:
    """The classic group, created for a new member. Raises BrokerError UNKNOWN_MEMBER_ID."""
    group = context.cluster.groups.find(request.group_id)
    if group is not None:
        return group
    if request.member_id:
        raise BrokerError(codes.UNKNOWN_MEMBER_ID)
    return context.cluster.groups.get_or_create(request.group_id)
