"""DescribeTransactions 0 (KIP-664). A group's positions are shown as Kafka shows them: as a partition of the topic
__consumer_offsets, which does not exist here."""

from __future__ import annotations

from binascii import crc32

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TopicData,
    TransactionState,
)
from kcli.sandbox.cluster.brokers import TRANSACTION
from kcli.sandbox.transactions import Transaction
from kcli.sandbox.wire.request_context import RequestContext

OFFSETS_TOPIC, OFFSETS_PARTITIONS = "__consumer_offsets", 50


async def answer(context: RequestContext, request: DescribeTransactionsRequest) -> DescribeTransactionsResponse:
    return DescribeTransactionsResponse(transaction_states=[_one(context, name) for name in request.transactional_ids])


def _one(context: RequestContext, name: str) -> TransactionState:
    try:
        context.check_coordinator(65, name, TRANSACTION)
        transaction = context.cluster.transactions.by_id.get(name)
        if transaction is None:
            raise BrokerError(codes.TRANSACTIONAL_ID_NOT_FOUND)
    except BrokerError as refused:
        return TransactionState(transactional_id=name, error_code=refused.code.number)
    return TransactionState(
        transactional_id=name,
        transaction_state=transaction.state,
        transaction_timeout_ms=transaction.timeout_ms,
        transaction_start_time_ms=transaction.started,
        producer_id=transaction.producer_id,
        producer_epoch=transaction.epoch,
        topics=_topics(transaction),
    )


def _topics(transaction: Transaction) -> list[TopicData]:
    rows: dict[str, set[int]] = {}
    for topic, index in transaction.partitions:
        rows.setdefault(topic, set()).add(index)
    for group in transaction.groups:
        rows.setdefault(OFFSETS_TOPIC, set()).add(crc32(group.encode()) % OFFSETS_PARTITIONS)
    return [TopicData(topic=topic, partitions=sorted(indexes)) for topic, indexes in rows.items()]
