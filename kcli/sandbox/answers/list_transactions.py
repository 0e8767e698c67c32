"""ListTransactions 0-2 (KIP-664). 1 adds the least duration in ms, 2 a pattern for the ids (KIP-1152)."""

from __future__ import annotations

import time

from kcli import codes
from kcli.proto.messages.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
    TransactionState,
)
from kcli.sandbox.cluster.brokers import TRANSACTION
from kcli.sandbox.groups.re2 import Invalid, pattern_of
from kcli.sandbox.transactions import KNOWN_TO_KAFKA
from kcli.sandbox.wire.request_context import RequestContext


async def answer(context: RequestContext, request: ListTransactionsRequest) -> ListTransactionsResponse:
    code = context.refused(66)
    if code is not None:
        return ListTransactionsResponse(error_code=code.number)
    try:
        return _listed(context, request)
    except Invalid:
        return ListTransactionsResponse(error_code=codes.INVALID_REGULAR_EXPRESSION.number)


def _listed(context: RequestContext, request: ListTransactionsRequest) -> ListTransactionsResponse:
    pattern = pattern_of(request.transactional_id_pattern) if request.transactional_id_pattern else None
    now = int(time.time() * 1000)
    return ListTransactionsResponse(
        unknown_state_filters=[name for name in request.state_filters if name not in KNOWN_TO_KAFKA],
        transaction_states=[
            TransactionState(
                transactional_id=transaction.id,
                producer_id=transaction.producer_id,
                transaction_state=transaction.state,
            )
            for transaction in context.cluster.transactions.by_id.values()
            if context.coordinates(transaction.id, TRANSACTION)
            and (not request.producer_id_filters or transaction.producer_id in request.producer_id_filters)
            and (not request.state_filters or transaction.state in request.state_filters)
            and (request.duration_filter < 0 or now - transaction.started > request.duration_filter)
            and (pattern is None or pattern.fits(transaction.id))
            and context.may("describe", "transactional-id", transaction.id)
        ],
    )
