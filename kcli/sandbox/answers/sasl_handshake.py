"""SaslHandshake 0-1. A listener without SASL refuses it, as Kafka's do."""

from __future__ import annotations

from kcli import codes
from kcli.proto.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from kcli.sandbox.wire.request_context import RequestContext


async def answer(context: RequestContext, request: SaslHandshakeRequest) -> SaslHandshakeResponse:
    if context.sasl is None:
        return SaslHandshakeResponse(error_code=codes.ILLEGAL_SASL_STATE.number)
    return context.sasl.handshake(request.mechanism, context.version)
