"""DescribeShareGroupOffsets 0-1: where the group's window starts. 1 adds the lag. No topics (null) are all."""

from __future__ import annotations

from kcli.errors import BrokerError
from kcli.proto.messages.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
    DescribeShareGroupOffsetsResponse,
    DescribeShareGroupOffsetsResponseGroup,
    DescribeShareGroupOffsetsResponsePartition,
    DescribeShareGroupOffsetsResponseTopic,
)
from kcli.sandbox.answers.sharing import existing
from kcli.sandbox.wire.request_context import RequestContext


async def answer(
    context: RequestContext, request: DescribeShareGroupOffsetsRequest
) -> DescribeShareGroupOffsetsResponse:
    return DescribeShareGroupOffsetsResponse(groups=[_one(context, group) for group in request.groups])


def _one(
    context: RequestContext, asked: DescribeShareGroupOffsetsRequestGroup
) -> DescribeShareGroupOffsetsResponseGroup:
    row = DescribeShareGroupOffsetsResponseGroup(group_id=asked.group_id)
    try:
        group = existing(context, 90, asked.group_id)
    except BrokerError as refused:
        row.error_code, row.error_message = refused.code.number, str(refused)
        return row
    wanted = (
        None if asked.topics is None else {(topic.topic_name, n) for topic in asked.topics for n in topic.partitions}
    )
    topics: dict[bytes, DescribeShareGroupOffsetsResponseTopic] = {}
    for (topic_id, index), share in sorted(group.partitions.items()):
        topic = share.partition.topic
        if wanted is not None and (topic.name, index) not in wanted:
            continue
        rows = topics.setdefault(
            topic_id, DescribeShareGroupOffsetsResponseTopic(topic_name=topic.name, topic_id=topic_id)
        )
        rows.partitions.append(
            DescribeShareGroupOffsetsResponsePartition(
                partition_index=index,
                start_offset=share.start,
                leader_epoch=share.partition.leader_epoch,
                lag=share.lag,
            )
        )
    row.topics = list(topics.values())
    return row
