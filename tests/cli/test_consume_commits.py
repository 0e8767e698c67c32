"""A commit of `kcli consume -g` that meets a rebalance (E40): nothing that was written is forgotten."""

from __future__ import annotations

import pytest

from kcli import codes
from kcli.cli.consume.commits import Commits, LastCommitFailed
from kcli.consumer.bounds import OffsetAndEpoch
from kcli.errors import BrokerError
from kcli.model import TopicPartition

A = TopicPartition("t", 0)


class Consumer:
    def __init__(self, *errors: codes.ErrorCode) -> None:
        self.assignment = {A}
        self.errors = list(errors)
        self.commits: list[dict[TopicPartition, OffsetAndEpoch]] = []

    async def commit(self, offsets: dict[TopicPartition, OffsetAndEpoch]) -> None:
        if self.errors:
            raise BrokerError(self.errors.pop(), "g")
        self.commits.append(offsets)


def commits(consumer: Consumer) -> Commits:
    made = Commits(consumer)  # type: ignore[arg-type]
    made.written(A, OffsetAndEpoch(7))
    made._at = -1e9
    return made


async def test_E40_a_commit_on_the_way_that_meets_a_rebalance_is_made_later() -> None:
    consumer = Consumer(codes.REBALANCE_IN_PROGRESS)
    one = commits(consumer)
    await one.in_time()
    await one.last()
    assert consumer.commits == [{A: OffsetAndEpoch(7)}]


async def test_E40_any_other_refusal_ends_the_run_and_nothing_is_committed_while_leaving() -> None:
    consumer = Consumer(codes.GROUP_AUTHORIZATION_FAILED)
    one = commits(consumer)
    with pytest.raises(LastCommitFailed, match="GROUP_AUTHORIZATION_FAILED"):
        await one.last()
    await one.now({A})
    assert consumer.commits == []
