"""TxnOffsetCommit 0-6. 2 adds leader epochs, 3 the member (KIP-447), 4 tells TRANSACTION_ABORTABLE, 5 adds the group
to the transaction by itself (KIP-890), 6 names topics by id (KIP-1319). The positions are visible when the
transaction commits."""

from __future__ import annotations

from kcli import codes
from kcli.codes import ErrorCode
from kcli.errors import BrokerError
from kcli.model import OffsetAndMetadata
from kcli.proto.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)
from kcli.sandbox.answers.fencing import error_for
from kcli.sandbox.answers.partitions import name_of
from kcli.sandbox.wire.request_context import RequestContext

BY_ID = 6  # the first version with topic ids
FENCED_NEVER = 99  # the group coordinator says INVALID_PRODUCER_EPOCH at every version


async def answer(context: RequestContext, request: TxnOffsetCommitRequest) -> TxnOffsetCommitResponse:
    refused: ErrorCode | None = None
    try:
        context.check(28, "transactional-id", request.transactional_id)
        context.check_coordinator(28, request.group_id)
        if not request.group_id:
            raise BrokerError(codes.INVALID_GROUP_ID)
        _verify(context, request)
        context.cluster.groups.may_commit_in_transaction(
            request.group_id, request.member_id, request.group_instance_id, request.generation_id_or_member_epoch
        )
    except BrokerError as wrong:
        refused = error_for(wrong.code, context.version, FENCED_NEVER)
    return TxnOffsetCommitResponse(
        topics=[
            TxnOffsetCommitResponseTopic(
                name=topic.name,
                topic_id=topic.topic_id,
                partitions=[
                    TxnOffsetCommitResponsePartition(
                        partition_index=partition.partition_index,
                        error_code=(refused or _keep(context, request, topic, partition)).number,
                    )
                    for partition in topic.partitions
                ],
            )
            for topic in request.topics
            if topic.partitions
        ]
    )


def _verify(context: RequestContext, request: TxnOffsetCommitRequest) -> None:
    transactions = context.cluster.transactions
    transaction = transactions.writer(request.transactional_id, request.producer_id, request.producer_epoch)
    if context.version >= 5:
        transactions.add(transaction, groups=[request.group_id])
    elif request.group_id not in transaction.groups:
        raise BrokerError(codes.TRANSACTION_ABORTABLE if context.version >= 4 else codes.INVALID_TXN_STATE)


def _keep(
    context: RequestContext,
    request: TxnOffsetCommitRequest,
    topic: TxnOffsetCommitRequestTopic,
    asked: TxnOffsetCommitRequestPartition,
) -> ErrorCode:
    index = asked.partition_index
    committed = OffsetAndMetadata(asked.committed_offset, asked.committed_leader_epoch, asked.committed_metadata or "")
    try:
        name = name_of(context, topic.name, topic.topic_id, by_id=context.version >= BY_ID)
        scripted = context.refused(28, name, index)
        if scripted is not None:
            raise BrokerError(scripted)
        context.cluster.groups.pending.add(request.producer_id, request.group_id, name, index, committed)
    except BrokerError as refused:
        return refused.code
    return codes.NONE
