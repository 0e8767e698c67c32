"""ListOffsets 1-11. 4 adds leader epochs, 7 max timestamp (-3), 8 earliest local (-4), 9 latest tiered (-5). Without
transactions the last stable offset is the end, so the isolation level changes nothing."""

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

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.sandbox.broker import Call


async def answer(call: Call, request: ListOffsetsRequest) -> ListOffsetsResponse:
    return ListOffsetsResponse(
        topics=[
            ListOffsetsTopicResponse(name=topic.name, partitions=[_one(call, topic.name, p) for p in topic.partitions])
            for topic in request.topics
        ]
    )


def _one(call: Call, name: str, asked: ListOffsetsPartition) -> ListOffsetsPartitionResponse:
    try:
        partition = led_here(call, 2, name, asked.partition_index, asked.current_leader_epoch)
        offset, timestamp, epoch = partition.log.lookup(asked.timestamp)
    except BrokerError as refused:
        return ListOffsetsPartitionResponse(partition_index=asked.partition_index, error_code=refused.code.number)
    return ListOffsetsPartitionResponse(
        partition_index=asked.partition_index,
        offset=offset,
        timestamp=timestamp,
        leader_epoch=epoch if call.version >= 4 else -1,
    )
