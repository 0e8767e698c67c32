"""AlterPartitionReassignments 0-1 (KIP-455): each partition for itself; without replicas a move is cancelled."""

from __future__ import annotations

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)
from kcli.sandbox.wire.request_context import RequestContext

KEY = 45


async def answer(
    context: RequestContext, request: AlterPartitionReassignmentsRequest
) -> AlterPartitionReassignmentsResponse:
    response = AlterPartitionReassignmentsResponse(
        error_message=None, allow_replication_factor_change=request.allow_replication_factor_change
    )
    scripted = context.refused(KEY)
    if scripted is not None:
        response.error_code = scripted.number
        return response
    if request.timeout_ms <= 0:
        response.error_code = codes.REQUEST_TIMED_OUT.number
    response.responses = [
        ReassignableTopicResponse(
            name=topic.name,
            partitions=[
                ReassignablePartitionResponse(partition_index=partition.partition_index, error_code=response.error_code)
                if response.error_code
                else _one(context, topic.name, partition, request.allow_replication_factor_change)
                for partition in topic.partitions
            ],
        )
        for topic in request.topics
    ]
    return response


def _one(
    context: RequestContext, topic: str, asked: ReassignablePartition, other_factor: bool
) -> ReassignablePartitionResponse:
    row = ReassignablePartitionResponse(partition_index=asked.partition_index, error_message=None)
    try:
        scripted = context.refused(KEY, topic, asked.partition_index)
        if scripted is not None:
            raise BrokerError(scripted)
        partition = context.cluster.topics.partition(topic, asked.partition_index)
        if topic in context.cluster.topics.by_name and asked.replicas is None:
            context.cluster.moves.cancel(partition)
        elif asked.replicas is not None:
            context.cluster.moves.begin(partition, asked.replicas, other_factor=other_factor)
    except BrokerError as refused:
        row.error_code = refused.code.number
        row.error_message = None if refused.code is codes.UNKNOWN_TOPIC_OR_PARTITION else str(refused)
    return row
