"""DescribeTopicPartitions 0. Topics in name order, page by page: a cursor is the beginning of the next page."""

from __future__ import annotations

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
)
from kcli.sandbox.access.acls import operations
from kcli.sandbox.answers.metadata import partitions
from kcli.sandbox.wire.request_context import RequestContext

MOST_ROWS = 2000


async def answer(context: RequestContext, request: DescribeTopicPartitionsRequest) -> DescribeTopicPartitionsResponse:
    cursor = request.cursor
    if cursor is not None and not _fits(cursor, request):
        return _refused(request, codes.INVALID_REQUEST)
    if any(not topic.name for topic in request.topics):
        return _refused(request, codes.UNKNOWN_SERVER_ERROR)
    names = sorted({topic.name for topic in request.topics} or set(context.cluster.topics.by_name))
    left = min(max(request.response_partition_limit, 1), MOST_ROWS)
    response = DescribeTopicPartitionsResponse()
    for name in names:
        if cursor is not None and name < cursor.topic_name:
            continue
        first = cursor.partition_index if cursor is not None and name == cursor.topic_name else 0
        topic = context.cluster.topics.by_name.get(name)
        if topic is not None and left <= 0:
            response.next_cursor = Cursor(topic_name=name, partition_index=first)
            break
        row, rows_left = _topic(context, name, first, left)
        response.topics.append(row)
        if topic is not None and first + len(row.partitions) < len(topic.partitions):
            response.next_cursor = Cursor(topic_name=name, partition_index=first + len(row.partitions))
            break
        left = rows_left
    return response


def _fits(cursor: Cursor, request: DescribeTopicPartitionsRequest) -> bool:
    """Whether a page of what is asked for can begin there."""
    named = not request.topics or any(topic.name == cursor.topic_name for topic in request.topics)
    return named and cursor.partition_index >= 0


def _refused(request: DescribeTopicPartitionsRequest, code: codes.ErrorCode) -> DescribeTopicPartitionsResponse:
    rows = [DescribeTopicPartitionsResponseTopic(name=topic.name, error_code=code.number) for topic in request.topics]
    return DescribeTopicPartitionsResponse(topics=rows)


def _missing(context: RequestContext, name: str) -> codes.ErrorCode:
    """What is wrong with a topic that is not there."""
    try:
        context.cluster.topics.check_name(name)
    except BrokerError as illegal:
        return illegal.code
    return codes.UNKNOWN_TOPIC_OR_PARTITION


def _topic(
    context: RequestContext, name: str, first: int, limit: int
) -> tuple[DescribeTopicPartitionsResponseTopic, int]:
    topic = context.cluster.topics.by_name.get(name)
    code = context.refused(75, name)
    if topic is None or code is not None:
        code = code or _missing(context, name)
        row = DescribeTopicPartitionsResponseTopic(
            name=name, error_code=code.number, topic_authorized_operations=operations(context, "topic", name)
        )
        return row, limit
    rows = partitions(context, topic)[first : first + limit]
    row = DescribeTopicPartitionsResponseTopic(
        name=name,
        topic_id=topic.id,
        is_internal=topic.internal,
        topic_authorized_operations=operations(context, "topic", name),
        partitions=[
            DescribeTopicPartitionsResponsePartition(
                error_code=row.error_code,
                partition_index=row.partition_index,
                leader_id=row.leader_id,
                leader_epoch=row.leader_epoch,
                replica_nodes=row.replica_nodes,
                isr_nodes=row.isr_nodes,
                eligible_leader_replicas=[],  # not null: Java's admin client stumbles over that
                last_known_elr=[],
                offline_replicas=row.offline_replicas,
            )
            for row in rows
        ],
    )
    return row, limit - len(rows)
