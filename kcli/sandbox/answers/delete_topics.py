"""DeleteTopics 1-6. 6 takes ids as well as names."""

from __future__ import annotations

from collections import Counter

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from kcli.proto.schema import NO_ID
from kcli.sandbox.wire.request_context import RequestContext, in_turns


async def answer(context: RequestContext, request: DeleteTopicsRequest) -> DeleteTopicsResponse:
    asked = request.topics if context.version >= 6 else [DeleteTopicState(name=name) for name in request.topic_names]
    if request.timeout_ms <= 0:
        late = codes.REQUEST_TIMED_OUT.number
        rows = [DeletableTopicResult(name=each.name, topic_id=each.topic_id, error_code=late) for each in asked]
        return DeleteTopicsResponse(responses=rows)
    sensible, rows = _sorted_out(context, asked)
    rows += [_one(context, topic) async for topic in in_turns(sensible)]
    return DeleteTopicsResponse(responses=rows)


def _sorted_out(
    context: RequestContext, asked: list[DeleteTopicState]
) -> tuple[list[DeleteTopicState], list[DeletableTopicResult]]:
    """What is to be deleted, and the answers to what makes no sense: a name and an id, neither, the same twice."""
    refused: list[DeletableTopicResult] = []
    times = Counter((topic.name, topic.topic_id) for topic in asked)
    sensible = []
    for topic in asked:
        key = topic.name, topic.topic_id
        if topic.name is None and topic.topic_id == NO_ID:
            refused.append(_refused(topic, "Neither topic name nor id were specified."))
        elif topic.name is not None and topic.topic_id != NO_ID:
            refused.append(_refused(topic, "You may not specify both topic name and topic id."))
        elif times[key] == 1:
            sensible.append(topic)
        elif times[key] > 1:
            times[key] = 0  # said once, however often it is there
            refused.append(_refused(topic, f"Duplicate topic {'name' if topic.topic_id == NO_ID else 'id'}."))
    return _without_pairs(context, sensible, refused), refused


def _without_pairs(
    context: RequestContext, sensible: list[DeleteTopicState], refused: list[DeletableTopicResult]
) -> list[DeleteTopicState]:
    """A topic that one asks for by its name, another by its id, is deleted for neither."""
    ids = {topic.topic_id for topic in sensible}
    kept = []
    pairs = set()
    for asked_topic in sensible:
        topic = context.cluster.topics.by_name.get(asked_topic.name) if asked_topic.name is not None else None
        if topic is not None and topic.id in ids:
            pairs.add(topic.id)
            state = DeleteTopicState(name=asked_topic.name, topic_id=topic.id)
            refused.append(_refused(state, "The provided topic name maps to an ID that was already supplied."))
        else:
            kept.append(asked_topic)
    return [topic for topic in kept if topic.topic_id not in pairs]


def _refused(asked: DeleteTopicState, words: str) -> DeletableTopicResult:
    return DeletableTopicResult(
        name=asked.name, topic_id=asked.topic_id, error_code=codes.INVALID_REQUEST.number, error_message=words
    )


def _one(context: RequestContext, asked: DeleteTopicState) -> DeletableTopicResult:
    topics = context.cluster.topics
    by_id = asked.topic_id != NO_ID
    try:
        topic = topics.by_id.get(asked.topic_id) if by_id else topics.by_name.get(asked.name or "")
        scripted = context.refused(20, topic.name if topic is not None else asked.name)
        if scripted is not None:
            raise BrokerError(scripted)
        if topic is None:
            raise BrokerError(codes.UNKNOWN_TOPIC_ID if by_id else codes.UNKNOWN_TOPIC_OR_PARTITION)
        context.cluster.topics.delete(topic)
    except BrokerError as refused:
        return DeletableTopicResult(
            name=asked.name, topic_id=asked.topic_id, error_code=refused.code.number, error_message=str(refused)
        )
    return DeletableTopicResult(name=topic.name, topic_id=topic.id)
