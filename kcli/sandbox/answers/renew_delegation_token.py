"""RenewDelegationToken 1-2."""

from __future__ import annotations

from kcli.errors import BrokerError
from kcli.proto.messages.renew_delegation_token import RenewDelegationTokenRequest, RenewDelegationTokenResponse
from kcli.sandbox.answers.create_delegation_token import check_token_requests
from kcli.sandbox.wire.request_context import RequestContext


async def answer(context: RequestContext, request: RenewDelegationTokenRequest) -> RenewDelegationTokenResponse:
    try:
        scripted = context.refused(39)
        if scripted is not None:
            raise BrokerError(scripted)
        check_token_requests(context)
        ends = context.cluster.access.tokens.renew(bytes(request.hmac), context.principal, request.renew_period_ms)
    except BrokerError as refused:
        return RenewDelegationTokenResponse(error_code=refused.code.number, expiry_timestamp_ms=-1)
    return RenewDelegationTokenResponse(expiry_timestamp_ms=ends)
