"""AddPartitionsToTxn 0-5: clients of protocol v1 use 0-3. 2 tells PRODUCER_FENCED, 4 is for brokers: many transactions
at once, some only to be verified; 5 tells TRANSACTION_ABORTABLE. Either all partitions of a transaction are added or
none."""

from __future__ import annotations

from kcli import codes
from kcli.codes import ErrorCode
from kcli.errors import BrokerError
from kcli.proto.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTopicResult,
    AddPartitionsToTxnTransaction,
)
from kcli.sandbox.answers.fencing import error_for
from kcli.sandbox.cluster.brokers import TRANSACTION
from kcli.sandbox.cluster.topics import INTERNAL
from kcli.sandbox.wire.request_context import RequestContext

Codes = dict[tuple[str, int], ErrorCode]


async def answer(context: RequestContext, request: AddPartitionsToTxnRequest) -> AddPartitionsToTxnResponse:
    if context.version >= 4:  # of an id that is there twice the last entry counts
        rows = {each.transactional_id: _rows(context, each) for each in request.transactions}
        return AddPartitionsToTxnResponse(
            results_by_transaction=[
                AddPartitionsToTxnResult(
                    transactional_id=each.transactional_id, topic_results=rows[each.transactional_id]
                )
                for each in request.transactions
            ]
        )
    only = AddPartitionsToTxnTransaction(
        transactional_id=request.v3_and_below_transactional_id,
        producer_id=request.v3_and_below_producer_id,
        producer_epoch=request.v3_and_below_producer_epoch,
        topics=request.v3_and_below_topics,
    )
    return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=_rows(context, only))


def _rows(context: RequestContext, asked: AddPartitionsToTxnTransaction) -> list[AddPartitionsToTxnTopicResult]:
    try:
        context.check_coordinator(24, asked.transactional_id, TRANSACTION)
        codes = _verified(context, asked) if asked.verify_only else _added(context, asked)
    except BrokerError as refused:
        codes = dict.fromkeys(_keys(asked.topics), error_for(refused.code, context.version, 2))
    return [
        AddPartitionsToTxnTopicResult(
            name=topic.name,
            results_by_partition=[
                AddPartitionsToTxnPartitionResult(
                    partition_index=index, partition_error_code=codes[(topic.name, index)].number
                )
                for index in topic.partitions
            ],
        )
        for topic in asked.topics
    ]


def _keys(topics: list[AddPartitionsToTxnTopic]) -> list[tuple[str, int]]:
    return [(topic.name, index) for topic in topics for index in topic.partitions]


def _added(context: RequestContext, asked: AddPartitionsToTxnTransaction) -> Codes:
    keys = _keys(asked.topics)
    wrong: Codes = {}
    for name, index in keys:
        scripted = context.refused(24, name, index)
        try:
            context.cluster.topics.partition(name, index)
        except BrokerError as unknown:
            scripted = scripted or unknown.code
        if name in INTERNAL:
            scripted = codes.TOPIC_AUTHORIZATION_FAILED
        if scripted is not None:
            wrong[(name, index)] = scripted
    if wrong:
        return {key: wrong.get(key, codes.OPERATION_NOT_ATTEMPTED) for key in keys}
    transaction = context.cluster.transactions.writer(asked.transactional_id, asked.producer_id, asked.producer_epoch)
    context.cluster.transactions.add(transaction, keys)
    return dict.fromkeys(keys, codes.NONE)


def _verified(context: RequestContext, asked: AddPartitionsToTxnTransaction) -> Codes:
    transaction = context.cluster.transactions.writer(asked.transactional_id, asked.producer_id, asked.producer_epoch)
    missing = codes.TRANSACTION_ABORTABLE  # in version 4, too, which only brokers use
    return {key: codes.NONE if key in transaction.partitions else missing for key in _keys(asked.topics)}
