"""SaslAuthenticate 0-2: one message of the exchange that SaslHandshake began."""

from __future__ import annotations

from kcli import codes
from kcli.proto.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from kcli.sandbox.wire.request_context import RequestContext


async def answer(context: RequestContext, request: SaslAuthenticateRequest) -> SaslAuthenticateResponse:
    if context.sasl is None:
        return SaslAuthenticateResponse(
            error_code=codes.ILLEGAL_SASL_STATE.number,
            error_message="SaslAuthenticate request received without SASL on this listener",
        )
    return context.sasl.authenticate(bytes(request.auth_bytes))
