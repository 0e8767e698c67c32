"""FindCoordinator 0-6. 1 adds the key type, 4 asks for many keys at once, 6 for share partitions. Groups (type 0) and
transactional ids (1) have coordinators here; that of a share partition (2, group:topicId:partition) is only told."""

from __future__ import annotations

from kcli import codes
from kcli.proto.messages.find_coordinator import Coordinator, FindCoordinatorRequest, FindCoordinatorResponse
from kcli.sandbox.access.rights import REFUSALS
from kcli.sandbox.sandbox import GROUP, TRANSACTION

SHARE = 2

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.sandbox.wire.broker import Call


async def answer(call: Call, request: FindCoordinatorRequest) -> FindCoordinatorResponse:
    if call.version >= 4:
        return FindCoordinatorResponse(coordinators=[_one(call, request, key) for key in request.coordinator_keys])
    one = _one(call, request, request.key)
    return FindCoordinatorResponse(
        error_code=one.error_code, error_message=one.error_message, node_id=one.node_id, host=one.host, port=one.port
    )


def _one(call: Call, request: FindCoordinatorRequest, key: str) -> Coordinator:
    code = call.refused(10)
    kind = {GROUP: "group", TRANSACTION: "transactional-id"}.get(request.key_type)
    if code is None and kind is not None and not call.may("describe", kind, key):
        code = REFUSALS[kind]
    if code is None and kind is None and not _share(call, request, key):
        code = codes.INVALID_REQUEST
    broker = call.sandbox.coordinator(key, request.key_type)
    if code is None and broker is None:
        code = codes.COORDINATOR_NOT_AVAILABLE
    if code is not None or broker is None:
        code = code or codes.COORDINATOR_NOT_AVAILABLE
        return Coordinator(key=key, node_id=-1, port=-1, error_code=code.number, error_message=code.text)
    host = call.sandbox.settings.advertised_host
    return Coordinator(key=key, node_id=broker.node_id, host=host, port=broker.port, error_message=None)


def _share(call: Call, request: FindCoordinatorRequest, key: str) -> bool:
    """Whether it is a share partition that is asked for (KIP-932)."""
    _, _, partition = key.rpartition(":")
    return request.key_type == SHARE and call.version >= 6 and key.count(":") >= 2 and partition.isdecimal()
