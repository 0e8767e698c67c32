"""AddOffsetsToTxn 0-4: protocol v1 says first for which group it will commit positions. 2 tells PRODUCER_FENCED."""

from __future__ import annotations

from kcli.errors import BrokerError
from kcli.proto.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from kcli.sandbox.answers.fencing import error_for
from kcli.sandbox.cluster.brokers import TRANSACTION
from kcli.sandbox.wire.request_context import RequestContext


async def answer(context: RequestContext, request: AddOffsetsToTxnRequest) -> AddOffsetsToTxnResponse:
    transactions = context.cluster.transactions
    try:
        context.check_coordinator(25, request.transactional_id, TRANSACTION)
        context.must("read", "group", request.group_id)
        transaction = transactions.writer(request.transactional_id, request.producer_id, request.producer_epoch)
        transactions.add(transaction, groups=[request.group_id])
    except BrokerError as refused:
        return AddOffsetsToTxnResponse(error_code=error_for(refused.code, context.version, 2).number)
    return AddOffsetsToTxnResponse()
