"""Produce of one partition has a short way in version 13: it says the same as the general one, whatever the bytes."""

from __future__ import annotations

import random
from typing import Any

import pytest

from kcli.errors import DecodeError, EncodeError
from kcli.proto.messages.produce import (
    ONE_PARTITION,
    LeaderIdAndEpoch,
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from kcli.proto.schema import Message

ID = bytes(range(16))


def general(data: bytes) -> ProduceResponse | str:
    """What the general decoder makes of it."""
    try:
        return Message.decode.__func__(ProduceResponse, ONE_PARTITION, data)  # type: ignore[attr-defined, no-any-return]
    except DecodeError as error:
        return str(error)


def short(data: bytes) -> ProduceResponse | str:
    try:
        return ProduceResponse.decode(ONE_PARTITION, data)
    except DecodeError as error:
        return str(error)


def response(**fields: int) -> ProduceResponse:
    part = PartitionProduceResponse(index=3, base_offset=1 << 40, log_append_time_ms=-1, log_start_offset=7)
    for name, value in fields.items():
        setattr(part, name, value)
    return ProduceResponse(responses=[TopicProduceResponse(topic_id=ID, partition_responses=[part])])


@pytest.mark.parametrize("size", [0, 1, 126, 127, 16382, 16383, 1 << 21])
def test_B2_a_request_of_one_partition_has_the_bytes_of_the_general_encoder(size: int) -> None:
    part = PartitionProduceData(index=9, records=bytes(size))
    topic = TopicProduceData(name="t", topic_id=ID, partition_data=[part])
    request = ProduceRequest(acks=-1, timeout_ms=30_000, topic_data=[topic])
    parts = request.encode(ONE_PARTITION)
    assert len(parts) == 3
    assert b"".join(parts) == b"".join(Message.encode(request, ONE_PARTITION))


@pytest.mark.parametrize("change", [{"acks": 1 << 15}, {"timeout_ms": 1 << 31}])
def test_B2_a_value_that_does_not_fit_gets_the_error_of_the_general_encoder(change: dict[str, Any]) -> None:
    topic = TopicProduceData(topic_id=ID, partition_data=[PartitionProduceData(records=b"r")])
    request = ProduceRequest(topic_data=[topic], **change)
    with pytest.raises(EncodeError):
        request.encode(ONE_PARTITION)


def test_B2_other_requests_go_the_general_way() -> None:
    part = PartitionProduceData(index=9, records=b"r")
    topic = TopicProduceData(topic_id=ID, partition_data=[part])
    for request in (
        ProduceRequest(transactional_id="x", topic_data=[topic]),
        ProduceRequest(topic_data=[topic, topic]),
        ProduceRequest(topic_data=[TopicProduceData(topic_id=ID, partition_data=[part, part])]),
        ProduceRequest(topic_data=[TopicProduceData(topic_id=ID, partition_data=[PartitionProduceData()])]),
    ):
        assert b"".join(request.encode(ONE_PARTITION)) == b"".join(Message.encode(request, ONE_PARTITION))


@pytest.mark.parametrize(
    "told",
    [
        response(),
        response(error_code=87),
        response(base_offset=-1),
        ProduceResponse(throttle_time_ms=9, responses=response().responses),
        ProduceResponse(responses=response().responses * 2),
        response(current_leader=LeaderIdAndEpoch(leader_id=1, leader_epoch=2)),  # type: ignore[arg-type]
        ProduceResponse(),
    ],
)
def test_B14_a_response_is_the_same_either_way(told: ProduceResponse) -> None:
    data = b"".join(told.encode(ONE_PARTITION))
    assert short(data) == general(data) == told


def test_B14_changed_bytes_mean_the_same_either_way() -> None:
    data = b"".join(response().encode(ONE_PARTITION))
    rng = random.Random(1)
    for at in range(len(data)):
        for value in {0, 1, 2, 3, 127, 128, 255, rng.randrange(256)}:
            changed = data[:at] + bytes((value,)) + data[at + 1 :]
            assert short(changed) == general(changed), (at, value)
    for cut in range(len(data)):
        assert short(data[:cut]) == general(data[:cut])
