"""Builds a Produce request, and finds each batch's part of the response."""

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
"""The last version that names topics; from 13 on the request contains ids only (KIP-516)."""


def build(
    batches: Sequence[ProducerBatch], cluster: Cluster, settings: ProducerSettings, most: int | None = None
) -> tuple[ProduceRequest, int | None]:
    """Return the request and the highest version to send, at most `most`. Ids are used only if all topics' ids are
    known."""
    if len(batches) == 1:
        topic_id = cluster.topic_id(batches[0].at.topic)
        return of_one(batches[0], topic_id, settings), cap(most, by_id=topic_id != NO_ID)
    request, by_id = _of_several(batches, cluster, settings)
    return request, cap(most, by_id=by_id)


def cap(most: int | None, *, by_id: bool) -> int | None:
    """Return the highest version of a request; `by_id`: all topic ids are known."""
    if most is not None:
        return min(most, BY_NAME)
    return None if by_id else BY_NAME


def of_one(batch: ProducerBatch, topic_id: bytes, settings: ProducerSettings) -> ProduceRequest:
    """Build a request with one batch."""
    sealed, timeout_ms = batch.sealed, int(settings.request_timeout * 1000)
    assert sealed is not None
    return OneBatchRequest(batch.at, topic_id, sealed.data, settings.acks, timeout_ms, settings.transactional_id)


def _of_several(
    batches: Sequence[ProducerBatch], cluster: Cluster, settings: ProducerSettings
) -> tuple[ProduceRequest, bool]:
    """Return the request and whether all topic ids are known."""
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
    """Return the response to a request with a single batch if the batch is stored, which is the common case with one
    record per batch. Otherwise None: use `read`."""
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
    """Return the answers by (topic, partition). A partition that is listed twice counts as not answered, and one that
    was not requested is ignored."""
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
    """The answer for a batch that the response does not mention: try again."""
    return Answer(codes.NETWORK_EXCEPTION)
