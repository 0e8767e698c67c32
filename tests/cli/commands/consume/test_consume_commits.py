"""A commit of `kcli consume -g` that meets a rebalance (E40): nothing that was written is forgotten."""

from __future__ import annotations

import asyncio

import pytest

from kcli import codes
from kcli.cli.commands.consume.commits import Commits, LastCommitFailed
from kcli.cli.commands.consume.reading import Reading
from kcli.cli.runtime.signals import Stop
from kcli.errors import BrokerError
from kcli.model import OffsetAndMetadata, TopicPartition
from kcli.sandbox.thread import SandboxThread
from tests.cli.conftest import Shell

A = TopicPartition("t", 0)


class Consumer:
    def __init__(self, *errors: codes.ErrorCode) -> None:
        self.assignment = {A}
        self.errors = list(errors)
        self.commits: list[dict[TopicPartition, OffsetAndMetadata]] = []

    async def commit(self, offsets: dict[TopicPartition, OffsetAndMetadata]) -> None:
        if self.errors:
            raise BrokerError(self.errors.pop(), "g")
        self.commits.append(offsets)


def commits(consumer: Consumer) -> Commits:
    made = Commits(consumer)  # type: ignore[arg-type]
    made.written(A, OffsetAndMetadata(7))
    made._at = -1e9
    return made


async def test_E40_a_commit_on_the_way_that_meets_a_rebalance_is_made_later() -> None:
    consumer = Consumer(codes.REBALANCE_IN_PROGRESS)
    one = commits(consumer)
    await one.in_time()
    await one.last()
    assert consumer.commits == [{A: OffsetAndMetadata(7)}]


async def test_E40_any_other_refusal_ends_the_run_and_nothing_is_committed_while_leaving() -> None:
    consumer = Consumer(codes.GROUP_AUTHORIZATION_FAILED)
    one = commits(consumer)
    with pytest.raises(LastCommitFailed, match="GROUP_AUTHORIZATION_FAILED"):
        await one.last()
    await one.now({A})
    assert consumer.commits == []


class Silent(Consumer):
    """Its coordinator is gone."""

    async def commit(self, offsets: dict[TopicPartition, OffsetAndMetadata]) -> None:
        await asyncio.Event().wait()


async def test_D45_a_coordinator_that_is_gone_does_not_hold_up_ctrl_c() -> None:
    one = commits(Silent())
    with pytest.raises(
        LastCommitFailed, match=r"no response within 0.05 s: t\[0\] before offset 7: .* may be read"
    ) as told:
        await asyncio.wait_for(one.last(0.05), 10)
    assert told.value.exit_code == 4
    assert one._open == {}  # nothing is committed while the group is left


async def test_D45_a_commit_on_the_way_is_given_up_at_ctrl_c_and_made_at_the_end() -> None:
    consumer = Silent()
    one, stop = commits(consumer), Stop()
    reading = Reading.__new__(Reading)
    reading.commits, reading._arrivals = one, None
    asyncio.get_running_loop().call_later(0.01, stop.interrupt)
    await asyncio.wait_for(reading._now_and_then(stop), 10)
    assert one._open == {A: OffsetAndMetadata(7)}


def test_a_property_against_commits_is_said_to_have_no_effect() -> None:
    with SandboxThread(topics={"t": 1}, rebalance_delay=0) as sandbox:
        kcli = Shell(sandbox.bootstrap)
        kcli("produce", "t", stdin=b"x\n")
        done = kcli("consume", "t", "-g", "g", "-e", "--from-beginning", "-X", "enable.auto.commit=false")
    assert (done.returncode, done.stdout) == (0, b"x\n")
    assert b"enable.auto.commit=false has no effect: -g commits printed records" in done.stderr
