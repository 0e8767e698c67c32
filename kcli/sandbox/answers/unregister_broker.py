"""UnregisterBroker 0: a broker that is down is forgotten until it starts again. One that lives registers at once."""

from __future__ import annotations

from kcli import codes
from kcli.proto.messages.unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse
from kcli.sandbox.wire.request_context import RequestContext


async def answer(context: RequestContext, request: UnregisterBrokerRequest) -> UnregisterBrokerResponse:
    cluster = context.cluster
    code = context.refused(64)
    if code is None:
        registered = {broker.node_id: broker for broker in (*cluster.brokers.living(), *cluster.brokers.fenced())}
        code = codes.NONE if request.broker_id in registered else codes.BROKER_ID_NOT_REGISTERED
    if code:
        return UnregisterBrokerResponse(error_code=code.number, error_message=code.text)
    registered[request.broker_id].registered = False
    return UnregisterBrokerResponse(error_message=None)
