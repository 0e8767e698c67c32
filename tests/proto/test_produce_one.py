"""Produce of one batch has a short way in version 13: it says the same as the general one, whatever the bytes."""

from __future__ import annotations

import random
from types import ModuleType
from typing import Any

import pytest

from kcli.errors import DecodeError, EncodeError
from kcli.model import TopicPartition
from kcli.proto.messages.produce import (
    LeaderIdAndEpoch,
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from kcli.proto.one_batch import COPIED, VERSION, OneBatchRequest, OneBatchResponse
from kcli.proto.session import ClientSession

from .record_cores import CORES

ID = bytes(range(16))
AT = TopicPartition("t", 9)


def asked(records: bytes = b"r", **change: Any) -> OneBatchRequest:
    given = {"topic_id": ID, "acks": -1, "timeout_ms": 30_000, "transactional_id": None, **change}
    return OneBatchRequest(
        AT, given["topic_id"], records, given["acks"], given["timeout_ms"], given["transactional_id"]
    )


def general(request: ProduceRequest) -> ProduceRequest:
    return ProduceRequest(**{field.name: getattr(request, field.name) for field in ProduceRequest.__fields__})


def frame(request: ProduceRequest, version: int) -> bytes:
    return b"".join(ClientSession("client").send(request, version))


@pytest.mark.parametrize("size", [0, 1, 126, 127, 16382, 16383, COPIED - 1, COPIED, 1 << 21])
@pytest.mark.parametrize("version", [3, 8, 9, 12, 13])
def test_B2_a_request_of_one_batch_has_the_bytes_of_the_general_encoder(size: int, version: int) -> None:
    request = asked(bytes(size))
    assert (request.frame(version, 1, b"h") is not None) == (version == VERSION and size < COPIED)
    assert frame(request, version) == frame(general(request), version)


@pytest.mark.parametrize("core", CORES)
def test_B2_both_cores_write_the_same_frame(core: ModuleType) -> None:
    rng = random.Random(3)
    for _ in range(200):
        numbers = rng.randrange(1 << 31), rng.choice([-1, 0, 1]), rng.randrange(1 << 31), rng.randrange(1 << 31)
        number, acks, timeout, index = numbers
        header, records = rng.randbytes(rng.randrange(20)), rng.randbytes(rng.choice([0, 5, 126, 127, 20_000]))
        mine = CORES[0].produce_frame(number, header, acks, timeout, ID, index, records)
        assert core.produce_frame(number, header, acks, timeout, ID, index, memoryview(records)) == mine
        assert int.from_bytes(mine[:4], "big") == len(mine) - 4


@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("at", [0, 2, 3, 5])
def test_B2_a_number_that_does_not_fit_is_refused_by_both_cores(core: ModuleType, at: int) -> None:
    for value in (1 << 31, -(1 << 31) - 1):
        given: list[Any] = [1, b"h", 1, 1, ID, 1, b""]
        given[at] = value
        with pytest.raises(ValueError, match=r"number|format|range|argument"):
            core.produce_frame(*given)
    with pytest.raises(ValueError, match="16 bytes"):
        core.produce_frame(1, b"h", 1, 1, ID[1:], 1, b"")


@pytest.mark.parametrize("change", [{"acks": 1 << 15}, {"timeout_ms": 1 << 31}])
def test_B2_a_value_that_does_not_fit_gets_the_error_of_the_general_encoder(change: dict[str, Any]) -> None:
    session = ClientSession("client")
    with pytest.raises(EncodeError):
        session.send(asked(**change), VERSION)
    assert not session.asked


def test_B2_a_request_of_a_transaction_goes_the_general_way() -> None:
    request = asked(transactional_id="x")
    assert request.frame(VERSION, 1, b"h") is None
    assert frame(request, VERSION) == frame(general(request), VERSION)


def test_the_parts_of_a_request_are_there_for_who_looks_at_them() -> None:
    part = PartitionProduceData(index=9, records=b"r")
    assert asked().topic_data == [TopicProduceData(name="t", topic_id=ID, partition_data=[part])]
    assert asked().api_key == 0


def response(**fields: int) -> ProduceResponse:
    part = PartitionProduceResponse(index=3, base_offset=1 << 40, log_append_time_ms=-1, log_start_offset=7)
    for name, value in fields.items():
        setattr(part, name, value)
    return ProduceResponse(responses=[TopicProduceResponse(topic_id=ID, partition_responses=[part])])


def read(kind: type[ProduceResponse], data: bytes) -> ProduceResponse | str:
    """The response, with all its parts made."""
    try:
        told = kind.decode(VERSION, data)
    except DecodeError as error:
        return str(error)
    quiet, responses, endpoints = told.throttle_time_ms, told.responses, told.node_endpoints
    return ProduceResponse(throttle_time_ms=quiet, responses=responses, node_endpoints=endpoints)


@pytest.mark.parametrize(
    ("told", "short"),
    [
        (response(), True),
        (response(error_code=87), False),
        (response(base_offset=-1), True),
        (ProduceResponse(throttle_time_ms=9, responses=response().responses), True),
        (ProduceResponse(responses=response().responses * 2), False),
        (response(current_leader=LeaderIdAndEpoch(leader_id=1, leader_epoch=2)), False),  # type: ignore[arg-type]
        (ProduceResponse(), False),
    ],
)
def test_B14_a_response_is_the_same_either_way(told: ProduceResponse, short: bool) -> None:
    data = b"".join(told.encode(VERSION))
    assert read(OneBatchResponse, data) == read(ProduceResponse, data) == told
    assert isinstance(OneBatchResponse.decode(VERSION, data), OneBatchResponse) == short


def test_B14_changed_bytes_mean_the_same_either_way() -> None:
    data = b"".join(response().encode(VERSION))
    rng = random.Random(1)
    for at in range(len(data)):
        for value in {0, 1, 2, 3, 127, 128, 255, rng.randrange(256)}:
            changed = data[:at] + bytes((value,)) + data[at + 1 :]
            assert read(OneBatchResponse, changed) == read(ProduceResponse, changed), (at, value)
    for cut in range(len(data)):
        assert read(OneBatchResponse, data[:cut]) == read(ProduceResponse, data[:cut])
