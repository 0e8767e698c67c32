"""EndTxn 0-5. 2 tells PRODUCER_FENCED; 5 is protocol v2: every end bumps the epoch and answers the identity to continue
with (KIP-890). The answer comes when the outcome is certain and, where the leaders live, the markers are written."""

from __future__ import annotations

from kcli.errors import BrokerError
from kcli.proto.messages.end_txn import EndTxnRequest, EndTxnResponse
from kcli.sandbox.answers.fencing import error_for
from kcli.sandbox.cluster.brokers import TRANSACTION
from kcli.sandbox.wire.request_context import RequestContext


async def answer(context: RequestContext, request: EndTxnRequest) -> EndTxnResponse:
    transactions = context.cluster.transactions
    try:
        context.check_coordinator(26, request.transactional_id, TRANSACTION)
        producer_id, epoch = transactions.end(
            request.transactional_id,
            request.producer_id,
            request.producer_epoch,
            commit=request.committed,
            bump=context.version >= 5,
        )
    except BrokerError as refused:
        return EndTxnResponse(error_code=error_for(refused.code, context.version, 2).number)
    return EndTxnResponse(producer_id=producer_id, producer_epoch=epoch)
