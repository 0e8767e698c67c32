"""AddOffsetsToTxn 0-4: protocol v1 says first for which group it will commit positions. 2 tells PRODUCER_FENCED."""

from __future__ import annotations

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from kcli.sandbox.answers.fencing import told

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.sandbox.wire.broker import Call


async def answer(call: Call, request: AddOffsetsToTxnRequest) -> AddOffsetsToTxnResponse:
    transactions = call.sandbox.transactions
    try:
        transactions.coordinated(call, 25, request.transactional_id)
        call.must("read", "group", request.group_id)
        if not request.group_id:
            raise BrokerError(codes.INVALID_GROUP_ID)
        one = transactions.writer(request.transactional_id, request.producer_id, request.producer_epoch)
        transactions.add(one, groups=[request.group_id])
    except BrokerError as refused:
        return AddOffsetsToTxnResponse(error_code=told(refused.code, call.version, 2).number)
    return AddOffsetsToTxnResponse()
