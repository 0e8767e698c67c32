"""OffsetForLeaderEpoch 2-4. Where an epoch ended in this log; (-1, -1) for one it does not know (KIP-320)."""

from __future__ import annotations

from kcli.errors import BrokerError
from kcli.proto.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopicResult,
)
from kcli.sandbox.answers.partitions import led_here
from kcli.sandbox.wire.request_context import RequestContext


async def answer(context: RequestContext, request: OffsetForLeaderEpochRequest) -> OffsetForLeaderEpochResponse:
    return OffsetForLeaderEpochResponse(
        topics=[
            OffsetForLeaderTopicResult(
                topic=topic.topic, partitions=[_one(context, topic.topic, partition) for partition in topic.partitions]
            )
            for topic in request.topics
        ]
    )


def _one(context: RequestContext, name: str, asked: OffsetForLeaderPartition) -> EpochEndOffset:
    try:
        partition = led_here(context, 23, name, asked.partition, asked.current_leader_epoch)
    except BrokerError as refused:
        return EpochEndOffset(partition=asked.partition, error_code=refused.code.number)
    epoch, end = partition.log.epoch_end(asked.leader_epoch, partition.leader_epoch)
    return EpochEndOffset(partition=asked.partition, leader_epoch=epoch, end_offset=end)
