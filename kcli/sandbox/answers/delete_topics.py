"""DeleteTopics 1-6. 6 takes ids as well as names."""

from __future__ import annotations

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from kcli.proto.schema import NO_ID

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.sandbox.broker import Call


async def answer(call: Call, request: DeleteTopicsRequest) -> DeleteTopicsResponse:
    asked = request.topics if call.version >= 6 else [DeleteTopicState(name=name) for name in request.topic_names]
    return DeleteTopicsResponse(responses=[_one(call, one) for one in asked])


def _one(call: Call, asked: DeleteTopicState) -> DeletableTopicResult:
    topics = call.sandbox.topics
    by_id = asked.topic_id != NO_ID
    try:
        topic = topics.by_id.get(asked.topic_id) if by_id else topics.by_name.get(asked.name or "")
        scripted = call.refused(20, topic.name if topic is not None else asked.name)
        if scripted is not None:
            raise BrokerError(scripted)
        if topic is None:
            raise BrokerError(codes.UNKNOWN_TOPIC_ID if by_id else codes.UNKNOWN_TOPIC_OR_PARTITION)
        call.sandbox.delete_topic(topic)
    except BrokerError as refused:
        return DeletableTopicResult(
            name=asked.name, topic_id=asked.topic_id, error_code=refused.code.number, error_message=str(refused)
        )
    return DeletableTopicResult(name=topic.name, topic_id=topic.id)
