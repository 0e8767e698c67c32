"""DeleteRecords 0-2. The log start moves to any offset; whole segments before it are freed."""

from __future__ import annotations

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)
from kcli.sandbox.answers.partitions import led_here
from kcli.sandbox.cluster.topics import INTERNAL
from kcli.sandbox.wire.request_context import RequestContext


async def answer(context: RequestContext, request: DeleteRecordsRequest) -> DeleteRecordsResponse:
    asked: dict[str, dict[int, DeleteRecordsPartition]] = {}
    for topic in request.topics:
        for row in topic.partitions:
            asked.setdefault(topic.name, {})[row.partition_index] = row  # the last one counts
    return DeleteRecordsResponse(
        topics=[
            DeleteRecordsTopicResult(name=name, partitions=[_one(context, name, row) for row in rows.values()])
            for name, rows in asked.items()
        ]
    )


def _one(context: RequestContext, name: str, asked: DeleteRecordsPartition) -> DeleteRecordsPartitionResult:
    try:
        if name in INTERNAL:
            raise BrokerError(codes.INVALID_TOPIC_EXCEPTION)
        partition = led_here(context, 21, name, asked.partition_index)
        if partition.topic.config("cleanup.policy") == "compact":
            raise BrokerError(codes.POLICY_VIOLATION)
        start = context.cluster.topics.delete_records(partition, asked.offset)
    except BrokerError as refused:
        return DeleteRecordsPartitionResult(
            partition_index=asked.partition_index, low_watermark=-1, error_code=refused.code.number
        )
    return DeleteRecordsPartitionResult(partition_index=asked.partition_index, low_watermark=start)
