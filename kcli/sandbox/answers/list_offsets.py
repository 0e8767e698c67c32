"""ListOffsets 1-11. 2 adds the isolation level: for read_committed the log ends at the last stable offset. 4 adds
leader epochs, 7 max timestamp (-3), 8 earliest local (-4), 9 latest tiered (-5)."""

from __future__ import annotations

from collections import Counter

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from kcli.sandbox.answers.partitions import led_here
from kcli.sandbox.log.log import (
    EARLIEST,
    EARLIEST_LOCAL,
    EARLIEST_PENDING,
    LATEST_TIERED,
    MAX_TIMESTAMP,
    offset_at,
)
from kcli.sandbox.wire.request_context import RequestContext

COMMITTED = 1  # isolation level
NEVER = 1 << 15
SINCE = {MAX_TIMESTAMP: 7, EARLIEST_LOCAL: 8, LATEST_TIERED: 9, EARLIEST_PENDING: 11}
"""The first version with a special value."""


async def answer(context: RequestContext, request: ListOffsetsRequest) -> ListOffsetsResponse:
    named = Counter((topic.name, row.partition_index) for topic in request.topics for row in topic.partitions)
    topics: dict[str, ListOffsetsTopicResponse] = {}
    for topic in request.topics:
        rows = topics.setdefault(topic.name, ListOffsetsTopicResponse(name=topic.name)).partitions
        for asked in topic.partitions:
            times = named.pop((topic.name, asked.partition_index), 0)
            if request.isolation_level not in (0, COMMITTED):
                rows.append(_refused(asked, codes.UNKNOWN_SERVER_ERROR))
            elif times == 1:
                rows.append(_one(context, topic.name, asked, request.isolation_level == COMMITTED))
            elif times:
                rows.append(_refused(asked, codes.INVALID_REQUEST))
    return ListOffsetsResponse(topics=list(topics.values()))


def _refused(asked: ListOffsetsPartition, code: codes.ErrorCode) -> ListOffsetsPartitionResponse:
    return ListOffsetsPartitionResponse(partition_index=asked.partition_index, error_code=code.number)


def _one(
    context: RequestContext, name: str, asked: ListOffsetsPartition, committed: bool
) -> ListOffsetsPartitionResponse:
    if asked.timestamp < EARLIEST and context.version < SINCE.get(asked.timestamp, NEVER):
        return _refused(asked, codes.UNSUPPORTED_VERSION)
    try:
        partition = led_here(context, 2, name, asked.partition_index, asked.current_leader_epoch)
        offset, timestamp, epoch = offset_at(partition, asked.timestamp, committed=committed)
    except BrokerError as refused:
        return _refused(asked, refused.code)
    return ListOffsetsPartitionResponse(
        partition_index=asked.partition_index,
        offset=offset,
        timestamp=timestamp,
        leader_epoch=epoch if context.version >= 4 else -1,
    )
