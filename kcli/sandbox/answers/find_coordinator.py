"""FindCoordinator 0-6. 1 adds the key type, 4 asks for many keys at once, 6 for share partitions. Groups (type 0) and
transactional ids (1) have coordinators here; that of a share partition (2, group:topicId:partition) is only told."""

from __future__ import annotations

from kcli import codes
from kcli.proto.messages.find_coordinator import Coordinator, FindCoordinatorRequest, FindCoordinatorResponse
from kcli.rights import REFUSALS
from kcli.sandbox.cluster.brokers import GROUP, TRANSACTION
from kcli.sandbox.wire.request_context import RequestContext

SHARE = 2
TOPICS = {GROUP: "__consumer_offsets", TRANSACTION: "__transaction_state", SHARE: "__share_group_state"}


async def answer(context: RequestContext, request: FindCoordinatorRequest) -> FindCoordinatorResponse:
    if context.version >= 4:
        return FindCoordinatorResponse(coordinators=[_one(context, request, key) for key in request.coordinator_keys])
    coordinator = _one(context, request, request.key)
    return FindCoordinatorResponse(
        error_code=coordinator.error_code,
        error_message=coordinator.error_message,
        node_id=coordinator.node_id,
        host=coordinator.host,
        port=coordinator.port,
    )


def _one(context: RequestContext, request: FindCoordinatorRequest, key: str) -> Coordinator:
    code = context.refused(10)
    kind = {GROUP: "group", TRANSACTION: "transactional-id"}.get(request.key_type)
    if code is None and kind is not None and not context.may("describe", kind, key):
        code = REFUSALS[kind]
    if code is None and kind is None and not _share(context, request, key):
        code = codes.INVALID_REQUEST
    broker = context.cluster.brokers.coordinator(key, request.key_type)
    if code is None and broker is None:
        code = codes.COORDINATOR_NOT_AVAILABLE
    if code is not None or broker is None:
        code = code or codes.COORDINATOR_NOT_AVAILABLE
        return Coordinator(key=key, node_id=-1, port=-1, error_code=code.number, error_message=code.text)
    context.cluster.topics.ensure_internal(TOPICS[request.key_type])
    host = context.cluster.settings.advertised_host
    return Coordinator(key=key, node_id=broker.node_id, host=host, port=broker.port, error_message=None)


def _share(context: RequestContext, request: FindCoordinatorRequest, key: str) -> bool:
    """Whether it is a share partition that is asked for (KIP-932)."""
    _, _, partition = key.rpartition(":")
    return request.key_type == SHARE and context.version >= 6 and key.count(":") >= 2 and partition.isdecimal()
