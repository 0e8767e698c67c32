"""RenewDelegationToken 1-2."""

from __future__ import annotations

from kcli.errors import BrokerError
from kcli.proto.messages.renew_delegation_token import RenewDelegationTokenRequest, RenewDelegationTokenResponse
from kcli.sandbox.answers.create_delegation_token import check_token_requests

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.sandbox.wire.broker import Call


async def answer(call: Call, request: RenewDelegationTokenRequest) -> RenewDelegationTokenResponse:
    try:
        scripted = call.refused(39)
        if scripted is not None:
            raise BrokerError(scripted)
        check_token_requests(call)
        ends = call.sandbox.access.tokens.renew(bytes(request.hmac), call.principal, request.renew_period_ms)
    except BrokerError as refused:
        return RenewDelegationTokenResponse(error_code=refused.code.number)
    return RenewDelegationTokenResponse(expiry_timestamp_ms=ends)
