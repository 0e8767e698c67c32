"""InitProducerId 0-5. An idempotent producer gets a new id each time, whatever epoch it brings (KIP-360 is about
transactional ids). Transactional ids are refused: the sandbox has no transactions."""

from __future__ import annotations

from kcli import codes
from kcli.proto.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.sandbox.broker import Call


async def answer(call: Call, request: InitProducerIdRequest) -> InitProducerIdResponse:
    code = call.sandbox.faults.code(22, call.broker.node_id)
    if code is None and request.transactional_id is not None:
        code = codes.INVALID_REQUEST
    if code is not None:
        return InitProducerIdResponse(error_code=code.number, producer_id=-1, producer_epoch=-1)
    return InitProducerIdResponse(producer_id=call.sandbox.next_producer_id(), producer_epoch=0)
