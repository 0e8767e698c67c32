"""UnregisterController 0 (KIP-1242): a controller that is down is forgotten until it starts again."""

from __future__ import annotations

from kcli import codes
from kcli.proto.messages.unregister_controller import UnregisterControllerRequest, UnregisterControllerResponse
from kcli.sandbox.wire.request_context import RequestContext


async def answer(context: RequestContext, request: UnregisterControllerRequest) -> UnregisterControllerResponse:
    cluster = context.cluster
    code = context.refused(94)
    registered = {broker.node_id: broker for broker in cluster.brokers if broker.controls}
    if code is None and request.controller_id == cluster.quorum.leader:
        code = codes.INVALID_REQUEST  # the active controller does not unregister itself
    if code is None and request.controller_id not in registered:
        code = codes.CONTROLLER_ID_NOT_REGISTERED
    if code is not None:
        return UnregisterControllerResponse(error_code=code.number, error_message=code.text)
    broker = registered[request.controller_id]
    broker.controls = broker.alive  # one that lives registers at once
    return UnregisterControllerResponse(error_message=None)
