"""SaslHandshake 0-1. A listener without SASL says that this is no place for it, as Kafka's do."""

from __future__ import annotations

from kcli import codes
from kcli.proto.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.sandbox.wire.broker import Call


async def answer(call: Call, request: SaslHandshakeRequest) -> SaslHandshakeResponse:
    if call.entrance is None:
        return SaslHandshakeResponse(error_code=codes.ILLEGAL_SASL_STATE.number)
    return call.entrance.handshake(request.mechanism, call.version)
