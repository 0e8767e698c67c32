"""CreatePartitions 0-3."""

from __future__ import annotations

from collections import Counter

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)
from kcli.sandbox.wire.request_context import RequestContext


async def answer(context: RequestContext, request: CreatePartitionsRequest) -> CreatePartitionsResponse:
    named = Counter(topic.name for topic in request.topics)
    rows = [
        CreatePartitionsTopicResult(
            name=name, error_code=codes.INVALID_REQUEST.number, error_message="Duplicate topic name."
        )
        for name, times in named.items()
        if times > 1
    ]
    once = (topic for topic in request.topics if named[topic.name] == 1)
    return CreatePartitionsResponse(results=rows + [_one(context, topic, request.validate_only) for topic in once])


def _one(context: RequestContext, asked: CreatePartitionsTopic, check_only: bool) -> CreatePartitionsTopicResult:
    try:
        scripted = context.refused(37, asked.name)
        if scripted is not None:
            raise BrokerError(scripted)
        topic = context.cluster.topics.by_name.get(asked.name)
        if topic is None:
            raise BrokerError(codes.UNKNOWN_TOPIC_OR_PARTITION)
        assignments = None if asked.assignments is None else [assignment.broker_ids for assignment in asked.assignments]
        context.cluster.topics.grow(topic, asked.count, assignments, check_only=check_only)
    except BrokerError as refused:
        return CreatePartitionsTopicResult(name=asked.name, error_code=refused.code.number, error_message=str(refused))
    return CreatePartitionsTopicResult(name=asked.name)
