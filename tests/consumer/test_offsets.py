"""Offsets out of the log: every kind of bound, at the leaders."""

from __future__ import annotations

import pytest

from kcli.consumer.offsets import resolve
from kcli.grammar.bound import Bound
from kcli.model import TopicPartition
from tests.consumer.log import FakeCluster, Log, batch

A = TopicPartition("t", 0)


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
