"""Offsets out of the log: every kind of bound, split by leader, tried again."""

from __future__ import annotations

import pytest

from kcli.consumer.bounds import EARLIEST, LATEST, Bound, OffsetAnswer
from kcli.consumer.offsets import list_offsets, resolve
from kcli.errors import AuthError, BrokerError, ConnectError
from kcli.model import TopicPartition
from tests.consumer.log import FakeCluster, Log, batch

A, B = TopicPartition("t", 0), TopicPartition("t", 1)


def log():
    made = Log().fill(100)
    made.start = 20
    return made


@pytest.mark.parametrize(
    ("bound", "expected"),
    [
        (Bound("earliest"), 20),
        (Bound("latest"), 100),
        (Bound("stored"), 20),
        (Bound("offset", 7), 7),
        (Bound("relative", 10), 90),
        (Bound("relative", -10), 90),
        (Bound("relative", 1000), 20),
        (Bound("from_start", 5), 25),
        (Bound("from_start", 1000), 100),
        (Bound("time", 1050), 50),
        (Bound("time", 99_999), 100),
    ],
)
async def test_E22_every_bound_has_an_offset(bound, expected):
    (answer,) = (await resolve(FakeCluster({A: log()}), {A: bound})).values()
    assert answer.offset == expected


async def test_E17_the_end_of_a_committed_reader_is_the_last_stable_offset():
    open_transaction = log().add(batch(100, [b"x"] * 5, pid=1, transactional=True))
    open_transaction.lso = 100
    cluster = FakeCluster({A: open_transaction})
    assert (await resolve(cluster, {A: Bound("latest")}, "read_committed"))[A].offset == 100
    assert (await resolve(cluster, {A: Bound("latest")}))[A].offset == 105


async def test_C14_C17_a_request_goes_to_each_leader_and_one_failure_stands_beside_the_good_rows():
    cluster = FakeCluster({A: log(), B: log()}, brokers=2)

    async def refuse(_request):
        raise AuthError("no")

    cluster.brokers[1].hook = refuse
    answers = await list_offsets(cluster, {A: LATEST, B: LATEST})
    assert answers[A] == OffsetAnswer(100, -1, 0)
    assert isinstance(answers[B], AuthError)
    assert [len(broker.asked) for broker in cluster.brokers.values()] == [1, 1]


@pytest.mark.parametrize("code", [78, 6, 74, 75, 5])
async def test_E23_errors_that_pass_are_asked_again(code):
    one = log()
    one.overrides = [code, code]
    answers = await list_offsets(FakeCluster({A: one}), {A: EARLIEST}, backoff=0.001)
    assert answers[A].offset == 20


async def test_E23_a_broken_connection_is_asked_again_and_the_leader_looked_up():
    cluster = FakeCluster({A: log()})
    broken = [ConnectError("cut")]

    async def hook(_request):
        if broken:
            raise broken.pop()

    cluster.brokers[0].hook = hook
    assert (await list_offsets(cluster, {A: LATEST}, backoff=0.001))[A].offset == 100
    assert cluster.lookups == 2


async def test_E23_a_final_error_is_the_answer():
    one = log()
    one.overrides = [29]
    answer = (await list_offsets(FakeCluster({A: one}), {A: LATEST}))[A]
    assert isinstance(answer, BrokerError)
    assert answer.code.name == "TOPIC_AUTHORIZATION_FAILED"
