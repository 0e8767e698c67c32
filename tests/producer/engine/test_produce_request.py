"""A request of one batch and its response take a short way, which says what the general one says."""

from __future__ import annotations

from collections.abc import Callable

from kcli import codes
from kcli.model import TopicPartition
from kcli.producer.batches.batch import ProducerBatch
from kcli.producer.engine.produce_request import build, read, stored_alone
from kcli.proto.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from kcli.settings import ProducerSettings
from tests.each import each

ID, OTHER, NO_ID = b"i" * 16, b"o" * 16, bytes(16)


class Ids:
    """A cluster that knows the ids of topics, and nothing else."""

    def __init__(self, **ids: bytes) -> None:
        self._ids = ids

    def topic_id(self, topic: str) -> bytes:
        return self._ids.get(topic, NO_ID)


def sealed(topic: str, partition: int) -> ProducerBatch:
    batch = ProducerBatch(TopicPartition(topic, partition), 0.0, (1,))
    batch.builder.append(0, None, b"value", ())
    batch.end()
    batch.close(ProducerSettings())
    return batch


@each(
    ("batches", "most"),
    [([("t", 3)], None), ([("t", 3)], 20), ([("t", 3)], 7), ([("new", 0)], None), ([("t", 3), ("t", 4)], None),
     ([("t", 3), ("new", 0)], None)],
)  # fmt: skip
def test_a_request_has_each_batch_under_its_topic(batches: list[tuple[str, int]], most: int | None) -> None:
    made = [sealed(*at) for at in batches]
    settings = ProducerSettings(acks=1, idempotence=False, request_timeout=2.5)
    request, cap = build(made, Ids(t=ID), settings, most)  # type: ignore[arg-type]
    parts = [(topic.name, part.index, part.records) for topic in request.topic_data for part in topic.partition_data]
    assert parts == [(*batch.at, batch.sealed and batch.sealed.data) for batch in made]
    assert [topic.topic_id for topic in request.topic_data] == [Ids(t=ID).topic_id(t) for t in dict(batches)]
    assert (request.acks, request.timeout_ms, request.transactional_id) == (1, 2500, None)
    by_id = "new" not in dict(batches)
    assert cap == (min(most, 12) if most is not None else None if by_id else 12)


def asked(*partitions: int, name: str = "t", topic_id: bytes = ID) -> ProduceRequest:
    data = [PartitionProduceData(index=partition, records=b"") for partition in partitions]
    return ProduceRequest(topic_data=[TopicProduceData(name=name, topic_id=topic_id, partition_data=data)])


def part(index: int = 3, code: int = 0, offset: int = 7) -> PartitionProduceResponse:
    return PartitionProduceResponse(index=index, error_code=code, base_offset=offset, log_append_time_ms=11)


def told(*parts: PartitionProduceResponse, name: str = "", topic_id: bytes = ID) -> TopicProduceResponse:
    return TopicProduceResponse(name=name, topic_id=topic_id, partition_responses=list(parts))


@each(
    ("request_", "topics", "alone"),
    [
        (asked(3), lambda: [told(part())], True),
        (asked(3), lambda: [told(part(), name="t", topic_id=NO_ID)], True),
        (asked(3, topic_id=NO_ID), lambda: [told(part(), name="t", topic_id=NO_ID)], True),
        (asked(3), lambda: [told(part(code=6))], False),
        (asked(3), lambda: [told(part(4))], False),
        (asked(3), lambda: [told(part(), topic_id=OTHER)], False),
        (asked(3), lambda: [told(part(), name="u")], False),
        (asked(3, topic_id=NO_ID), lambda: [told(part(), topic_id=NO_ID)], False),
        (asked(3), lambda: [told(part(), part())], False),
        (asked(3), lambda: [told(part()), told(part())], False),
        (asked(3), lambda: [told()], False),
        (asked(3), list, False),
        (asked(3, 4), lambda: [told(part())], False),
    ],
)
def test_the_short_way_says_what_the_general_one_says(
    request_: ProduceRequest, topics: Callable[[], list[TopicProduceResponse]], alone: bool
) -> None:
    response = ProduceResponse(responses=topics())
    found = stored_alone(response, request_)
    assert (found is not None) == alone
    answer = read(response, request_).get(("t", 3))
    if found is not None:
        assert answer is not None
        assert answer.code is codes.NONE
        assert (answer.base_offset, answer.append_time) == (found.base_offset, found.log_append_time_ms)
