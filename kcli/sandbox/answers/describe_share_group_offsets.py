"""DescribeShareGroupOffsets 0-1: where the group's window starts. 1 adds the lag. No topics (null) are all."""

from __future__ import annotations

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.messages.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
    DescribeShareGroupOffsetsResponse,
    DescribeShareGroupOffsetsResponseGroup,
    DescribeShareGroupOffsetsResponsePartition,
    DescribeShareGroupOffsetsResponseTopic,
)
from kcli.proto.schema import NO_ID
from kcli.sandbox.answers.sharing import switched_on
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
        switched_on(context)
        context.check(90, "group", asked.group_id)
        if asked.topics is not None and any(
            not topic.partitions or min(topic.partitions) < 0 for topic in asked.topics
        ):
            raise BrokerError(codes.UNKNOWN_SERVER_ERROR, message="a topic without partitions, or with a negative one")
        if not asked.group_id and asked.topics:
            raise BrokerError(codes.UNKNOWN_SERVER_ERROR, message="a group without a name")
        if asked.group_id:
            context.check_coordinator(90, asked.group_id)
    except BrokerError as refused:
        row.error_code, row.error_message = refused.code.number, str(refused)
        return row
    group = context.cluster.groups.shared(asked.group_id)
    known = {(p.partition.topic.name, p.partition.index): p for p in group.partitions.values()} if group else {}
    wanted = sorted(known) if asked.topics is None else [(t.topic_name, n) for t in asked.topics for n in t.partitions]
    topics: dict[str, DescribeShareGroupOffsetsResponseTopic] = {}
    for name, index in dict.fromkeys(wanted):
        topic = context.cluster.topics.by_name.get(name)
        rows = topics.setdefault(
            name,
            DescribeShareGroupOffsetsResponseTopic(topic_name=name, topic_id=NO_ID if topic is None else topic.id),
        )
        share = known.get((name, index))
        rows.partitions.append(
            DescribeShareGroupOffsetsResponsePartition(
                partition_index=index,
                start_offset=-1 if share is None else share.start,
                leader_epoch=0 if share is None else share.partition.leader_epoch,
                lag=-1 if share is None else share.lag,
            )
        )
    row.topics = list(topics.values())
    return row
