"""InitProducerId 0-5. Without a transactional id a new producer id each time; with one the next epoch of its id. 3
carries the id and epoch of a producer, which continues instead of fencing itself (KIP-360); 4 adds PRODUCER_FENCED."""

from __future__ import annotations

from kcli import codes
from kcli.acls import CLUSTER
from kcli.errors import BrokerError
from kcli.proto.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from kcli.sandbox.answers.fencing import error_for
from kcli.sandbox.cluster.brokers import TRANSACTION
from kcli.sandbox.wire.request_context import RequestContext


async def answer(context: RequestContext, request: InitProducerIdRequest) -> InitProducerIdResponse:
    name = request.transactional_id
    try:
        if name is None:
            code = context.refused(22)
            if code is not None:
                raise BrokerError(code)
            if not context.may_any("write", "topic"):
                context.must("idempotent-write", "cluster", CLUSTER)
            return InitProducerIdResponse(producer_id=context.cluster.producer_ids.next(), producer_epoch=0)
        context.check_coordinator(22, name, TRANSACTION)
        was = (request.producer_id, request.producer_epoch)
        if (was[0] == -1) != (was[1] == -1):
            raise BrokerError(codes.INVALID_REQUEST)
        transaction = context.cluster.transactions.init(
            name, request.transaction_timeout_ms, was if was[0] != -1 else None
        )
    except BrokerError as refused:
        code = error_for(refused.code, context.version, 4)
        return InitProducerIdResponse(error_code=code.number, producer_id=-1, producer_epoch=-1)
    return InitProducerIdResponse(producer_id=transaction.producer_id, producer_epoch=transaction.epoch)
