"""One Produce request: what goes into it, and each batch's part of the answer."""

from __future__ import annotations

from kcli import codes
from kcli.model import Node
from kcli.producer.batches.batch import Answer
from kcli.proto.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from kcli.proto.one_batch import OneBatchRequest, OneBatchResponse
from kcli.proto.schema import NO_ID

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from kcli.model import Cluster
    from kcli.producer.batches.batch import ProducerBatch
    from kcli.proto.messages.produce import PartitionProduceResponse, ProduceResponse
    from kcli.settings import ProducerSettings

BY_NAME = 12
"""The last version that names topics; from 13 on it is ids only (KIP-516)."""


def build(
    batches: Sequence[ProducerBatch], cluster: Cluster, settings: ProducerSettings, most: int | None = None
) -> tuple[ProduceRequest, int | None]:
    """The request and the highest version it may go at: ids only when every topic's is known (C8), and none above
    `most`."""
    if len(batches) == 1:
        topic_id = cluster.topic_id(batches[0].at.topic)
        return of_one(batches[0], topic_id, settings), cap(most, by_id=topic_id != NO_ID)
    request, by_id = _of_several(batches, cluster, settings)
    return request, cap(most, by_id=by_id)


def cap(most: int | None, *, by_id: bool) -> int | None:
    """The highest version of a request; `by_id`: the ids of all its topics are known."""
    if most is not None:
        return min(most, BY_NAME)
    return None if by_id else BY_NAME


def of_one(batch: ProducerBatch, topic_id: bytes, settings: ProducerSettings) -> ProduceRequest:
    """A request of one batch."""
    sealed, timeout_ms = batch.sealed, int(settings.request_timeout * 1000)
    assert sealed is not None
    return OneBatchRequest(batch.at, topic_id, sealed.data, settings.acks, timeout_ms, settings.transactional_id)


def _of_several(
    batches: Sequence[ProducerBatch], cluster: Cluster, settings: ProducerSettings
) -> tuple[ProduceRequest, bool]:
    """The request, and whether the ids of all its topics are known."""
    topics: dict[str, TopicProduceData] = {}
    for batch in batches:
        name, partition = batch.at
        assert batch.sealed is not None
        topic = topics.get(name)
        if topic is None:
            topic = topics[name] = TopicProduceData(name=name, topic_id=cluster.topic_id(name))
        topic.partition_data.append(PartitionProduceData(index=partition, records=batch.sealed.data))
    return _request(list(topics.values()), settings), all(topic.topic_id != NO_ID for topic in topics.values())


def _request(topics: list[TopicProduceData], settings: ProducerSettings) -> ProduceRequest:
    return ProduceRequest(
        transactional_id=settings.transactional_id,
        acks=settings.acks,
        timeout_ms=int(settings.request_timeout * 1000),
        topic_data=topics,
    )


def stored_alone(
    response: ProduceResponse, request: ProduceRequest
) -> OneBatchResponse | PartitionProduceResponse | None:
    """The answer to a request of one batch that is stored, as most are where each record is a batch. None for all
    else: `read` has it."""
    if isinstance(response, OneBatchResponse) and isinstance(request, OneBatchRequest):
        same = response.index == request.at[1] and response.topic_id == request.topic_id != NO_ID
        return response if same else None
    if len(response.responses) != 1 or len(request.topic_data) != 1:
        return None
    topic, asked = response.responses[0], request.topic_data[0]
    if len(topic.partition_responses) != 1 or len(asked.partition_data) != 1:
        return None
    part = topic.partition_responses[0]
    if part.error_code or part.index != asked.partition_data[0].index:
        return None
    same = topic.name == asked.name if topic.name else topic.topic_id == asked.topic_id != NO_ID
    return part if same else None


def read(response: ProduceResponse, request: ProduceRequest) -> dict[tuple[str, int], Answer]:
    """(topic, partition) to the answer. A partition that is named twice counts as not answered, one that was not
    asked about as not named (D33)."""
    nodes = {
        endpoint.node_id: Node(endpoint.node_id, endpoint.host, endpoint.port, endpoint.rack)
        for endpoint in response.node_endpoints
    }
    names = {topic.topic_id: topic.name for topic in request.topic_data if topic.topic_id != NO_ID}
    answers: dict[tuple[str, int], Answer] = {}
    for topic in response.responses:
        name = topic.name or names.get(topic.topic_id, "")
        for part in topic.partition_responses:
            at = (name, part.index)
            answers[at] = Answer(codes.NETWORK_EXCEPTION) if at in answers else _answer(part, nodes)
    return answers


def _answer(part: PartitionProduceResponse, nodes: dict[int, Node]) -> Answer:
    answer = Answer(codes.of(part.error_code))
    answer.base_offset = part.base_offset
    answer.append_time = part.log_append_time_ms
    answer.message = part.error_message
    answer.records = {error.batch_index: error.batch_index_error_message for error in part.record_errors}
    answer.leader_id = part.current_leader.leader_id
    answer.leader_epoch = part.current_leader.leader_epoch
    answer.endpoint = nodes.get(answer.leader_id)
    return answer


def missing() -> Answer:
    """The answer for a batch the broker did not mention: try again (D33)."""
    return Answer(codes.NETWORK_EXCEPTION)
