"""ExpireDelegationToken 1-2."""

from __future__ import annotations

from kcli.errors import BrokerError
from kcli.proto.messages.expire_delegation_token import ExpireDelegationTokenRequest, ExpireDelegationTokenResponse
from kcli.sandbox.answers.create_delegation_token import check_token_requests
from kcli.sandbox.wire.request_context import RequestContext


async def answer(context: RequestContext, request: ExpireDelegationTokenRequest) -> ExpireDelegationTokenResponse:
    try:
        scripted = context.refused(40)
        if scripted is not None:
            raise BrokerError(scripted)
        check_token_requests(context)
        ends = context.cluster.access.tokens.expire(
            bytes(request.hmac), context.principal, request.expiry_time_period_ms
        )
    except BrokerError as refused:
        return ExpireDelegationTokenResponse(error_code=refused.code.number, expiry_timestamp_ms=-1)
    return ExpireDelegationTokenResponse(expiry_timestamp_ms=ends)
