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
    sensible, rows = _sorted_out(context, asked)
    rows += [_one(context, one) async for one in in_turns(sensible)]
    return DeleteTopicsResponse(responses=rows)


def _sorted_out(
    context: RequestContext, asked: list[DeleteTopicState]
) -> tuple[list[DeleteTopicState], list[DeletableTopicResult]]:
    """What is to be deleted, and the answers to what makes no sense: a name and an id, neither, the same twice."""
    refused: list[DeletableTopicResult] = []
    times = Counter((one.name, one.topic_id) for one in asked)
    sensible = []
    for one in asked:
        key = one.name, one.topic_id
        if one.name is None and one.topic_id == NO_ID:
            refused.append(_refused(one, "Neither topic name nor id were specified."))
        elif one.name is not None and one.topic_id != NO_ID:
            refused.append(_refused(one, "You may not specify both topic name and topic id."))
        elif times[key] == 1:
            sensible.append(one)
        elif times[key] > 1:
            times[key] = 0  # said once, however often it is there
            refused.append(_refused(one, f"Duplicate topic {'name' if one.topic_id == NO_ID else 'id'}."))
    return _without_pairs(context, sensible, refused), refused


def _without_pairs(
    context: RequestContext, sensible: list[DeleteTopicState], refused: list[DeletableTopicResult]
) -> list[DeleteTopicState]:
    """A topic that one asks for by its name, another by its id, is deleted for neither."""
    ids = {one.topic_id for one in sensible}
    kept = []
    pairs = set()
    for one in sensible:
        found = context.cluster.topics.by_name.get(one.name) if one.name is not None else None
        if found is not None and found.id in ids:
            pairs.add(found.id)
            state = DeleteTopicState(name=one.name, topic_id=found.id)
            refused.append(_refused(state, "The provided topic name maps to an ID that was already supplied."))
        else:
            kept.append(one)
    return [one for one in kept if one.topic_id not in pairs]


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
