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
from kcli.sandbox.cluster.topics import MOST_PARTITIONS
from kcli.sandbox.wire.request_context import RequestContext


async def answer(context: RequestContext, request: CreatePartitionsRequest) -> CreatePartitionsResponse:
    refused = codes.REQUEST_TIMED_OUT if request.timeout_ms <= 0 else _excessive(context, request)
    if refused is not None:
        rows = [CreatePartitionsTopicResult(name=topic.name, error_code=refused.number) for topic in request.topics]
        return CreatePartitionsResponse(results=rows)
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


def _excessive(context: RequestContext, request: CreatePartitionsRequest) -> codes.ErrorCode | None:
    """What is wrong with a request for too many partitions, which is refused as a whole."""
    by_name = context.cluster.topics.by_name
    known = [(each.count, len(by_name[each.name].partitions)) for each in request.topics if each.name in by_name]
    more = sum(count - have for count, have in known if count > have)
    if more <= MOST_PARTITIONS:
        return None
    return codes.UNKNOWN_SERVER_ERROR if context.cluster.settings.kafka_version == "4.3" else codes.POLICY_VIOLATION


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
