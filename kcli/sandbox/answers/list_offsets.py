"""ListOffsets 1-11. 2 adds the isolation level: for read_committed the log ends at the last stable offset (E17). 4 adds
leader epochs, 7 max timestamp (-3), 8 earliest local (-4), 9 latest tiered (-5)."""

from __future__ import annotations

from kcli.errors import BrokerError
from kcli.proto.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from kcli.sandbox.answers.partitions import led_here
from kcli.sandbox.log.times import offset_at
from kcli.sandbox.wire.request_context import RequestContext

COMMITTED = 1  # isolation level


async def answer(context: RequestContext, request: ListOffsetsRequest) -> ListOffsetsResponse:
    return ListOffsetsResponse(
        topics=[
            ListOffsetsTopicResponse(
                name=topic.name,
                partitions=[
                    _one(context, topic.name, partition, request.isolation_level == COMMITTED)
                    for partition in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )


def _one(
    context: RequestContext, name: str, asked: ListOffsetsPartition, committed: bool
) -> ListOffsetsPartitionResponse:
    try:
        partition = led_here(context, 2, name, asked.partition_index, asked.current_leader_epoch)
        offset, timestamp, epoch = offset_at(partition, asked.timestamp, committed=committed)
    except BrokerError as refused:
        return ListOffsetsPartitionResponse(partition_index=asked.partition_index, error_code=refused.code.number)
    return ListOffsetsPartitionResponse(
        partition_index=asked.partition_index,
        offset=offset,
        timestamp=timestamp,
        leader_epoch=epoch if context.version >= 4 else -1,
    )
