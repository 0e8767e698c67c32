"""ListOffsets: split by leader, gathered, asked again until it is answered."""

from __future__ import annotations

from typing import Any

import pytest

from kcli import codes
from kcli.asking.leaders import AwaitedLeaders, Leaderless, TopicMissing
from kcli.asking.offsets import EARLIEST, LATEST, MAX_TIMESTAMP, LogOffset, list_offsets
from kcli.errors import AuthError, BrokerError, ConnectError, KcliError
from kcli.model import TopicPartition
from kcli.proto.messages.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from tests.consumer import log as logs
from tests.fakes.fleet import Fleet, Told

A, B = TopicPartition("t", 0), TopicPartition("t", 1)
Fakes: Any = logs  # which has no types


def log() -> Any:
    made = Fakes.Log().fill(100)
    made.start = 20
    return made


async def test_C14_C17_a_request_goes_to_each_leader_and_one_failure_stands_beside_the_good_rows() -> None:
    cluster = Fakes.FakeCluster({A: log(), B: log()}, brokers=2)

    async def refuse(_: Any) -> None:
        raise AuthError("no")

    cluster.brokers[1].hook = refuse
    answers = await list_offsets(cluster, {A: LATEST, B: EARLIEST}, wait_for_leaders=True)
    assert answers[A] == LogOffset(100, -1, 0)
    assert isinstance(answers[B], AuthError)
    assert [len(broker.asked) for broker in cluster.brokers.values()] == [1, 1]


async def test_C14_a_leader_is_looked_up_once_for_all_its_partitions() -> None:
    wanted = {TopicPartition("t", number): LATEST for number in range(500)}
    cluster = Fakes.FakeCluster({at: log() for at in wanted}, brokers=3)
    cluster.forgotten = {A}
    answers = await list_offsets(cluster, wanted, wait_for_leaders=True)
    assert set(answers.values()) == {LogOffset(100, -1, 0)}
    assert [len(broker.asked) for broker in cluster.brokers.values()] == [1, 1, 1]
    assert cluster.lookups == 3 + 1


async def test_C14_partitions_of_a_broker_that_left_are_looked_up_one_by_one() -> None:
    async with Fleet(2) as fleet:
        fleet.topics["t"] = {0: Told(2), 1: Told(2), 2: Told(1)}
        cluster = fleet.cluster()
        await cluster.refresh(["t"])
        del cluster.topology.nodes[2]
        fleet.topics["t"] = {0: Told(1, 1), 1: Told(1, 1), 2: Told(1, 1)}
        places, lost = await AwaitedLeaders(cluster).locate([TopicPartition("t", number) for number in range(3)])
        assert [(broker.node_id, sorted(at.partition for at in some)) for broker, some in places] == [(1, [0, 1, 2])]
        assert not lost


@pytest.mark.parametrize("code", [78, 6, 74, 75, 5])
async def test_E23_errors_that_pass_are_asked_again(code: int) -> None:
    one = log()
    one.overrides = [code, code]
    answers = await list_offsets(Fakes.FakeCluster({A: one}), {A: EARLIEST}, wait_for_leaders=True)
    assert answers[A] == LogOffset(20, -1, 0)


async def test_E23_a_broken_connection_is_asked_again_and_the_leader_looked_up() -> None:
    cluster = Fakes.FakeCluster({A: log()})
    broken = [ConnectError("cut")]

    async def hook(_: Any) -> None:
        if broken:
            raise broken.pop()

    cluster.brokers[0].hook = hook
    assert (await list_offsets(cluster, {A: LATEST}, wait_for_leaders=True))[A] == LogOffset(100, -1, 0)
    assert cluster.lookups == 2


async def test_E23_a_final_error_is_the_answer() -> None:
    one = log()
    one.overrides = [29]
    answer = (await list_offsets(Fakes.FakeCluster({A: one}), {A: LATEST}, wait_for_leaders=True))[A]
    assert isinstance(answer, BrokerError)
    assert answer.code.name == "TOPIC_AUTHORIZATION_FAILED"


# -- what stands in the answer, and where a leader is missing ----------------------------------------------------------


def answering(offset: int | None) -> Any:
    """A broker that answers this offset, or leaves the partition out."""

    async def hook(_: ListOffsetsRequest) -> ListOffsetsResponse:
        rows = [] if offset is None else [ListOffsetsPartitionResponse(partition_index=0, offset=offset)]
        return ListOffsetsResponse(topics=[ListOffsetsTopicResponse(name="t", partitions=rows)])

    cluster = Fakes.FakeCluster({A: log()})
    cluster.brokers[0].hook = hook
    return cluster


@pytest.mark.parametrize(("timestamp", "fits"), [(EARLIEST, False), (LATEST, False), (MAX_TIMESTAMP, True), (5, True)])
async def test_E22_only_a_time_may_have_no_offset(timestamp: int, fits: bool) -> None:
    answer = (await list_offsets(answering(-1), {A: timestamp}, wait_for_leaders=True))[A]
    assert answer == LogOffset() if fits else "answered offset -1" in str(answer)


async def test_what_an_answer_leaves_out_is_an_error() -> None:
    answer = (await list_offsets(answering(None), {A: LATEST}, wait_for_leaders=True))[A]
    assert isinstance(answer, KcliError)
    assert "does not contain this" in str(answer)


async def test_a_leader_that_is_missing_is_final_for_a_question_and_waited_for_by_an_engine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kcli.asking.leaders.LEADERLESS_PATIENCE", 0.0)
    monkeypatch.setattr("kcli.cluster.cluster.GRACE", 0.05)
    wanted = {A: LATEST, TopicPartition("nowhere", 0): LATEST}
    async with Fleet(1) as fleet:
        fleet.topics["t"] = {0: Told(-1)}
        cluster = fleet.cluster(deadline=0.3)
        answers = await list_offsets(cluster, wanted, patience=0.5)
        assert [type(answer) for answer in answers.values()] == [Leaderless, TopicMissing]
        answers = await list_offsets(cluster, wanted, patience=0.5, wait_for_leaders=True)
        assert [answer.code for answer in answers.values() if isinstance(answer, BrokerError)] == [
            codes.LEADER_NOT_AVAILABLE,
            codes.UNKNOWN_TOPIC_OR_PARTITION,
        ]
