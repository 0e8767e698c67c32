"""SaslAuthenticate 0-2: one message of the exchange that SaslHandshake began."""

from __future__ import annotations

from kcli import codes
from kcli.proto.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.sandbox.wire.broker import Call


async def answer(call: Call, request: SaslAuthenticateRequest) -> SaslAuthenticateResponse:
    if call.entrance is None:
        return SaslAuthenticateResponse(
            error_code=codes.ILLEGAL_SASL_STATE.number,
            error_message="SaslAuthenticate request received without SASL on this listener",
        )
    return call.entrance.authenticate(bytes(request.auth_bytes))
