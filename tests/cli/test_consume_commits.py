"""A commit of `kcli consume -g` that meets a rebalance (E40): nothing that was written is forgotten."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from kcli import codes
from kcli.cli import consume
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


def reading(consumer: Consumer) -> Any:
    made = object.__new__(consume.Reading)
    made.plan = SimpleNamespace(group=object())  # type: ignore[assignment]
    made.consumer = consumer  # type: ignore[assignment]
    made._ending, made._gone = False, {}
    made._uncommitted, made._settled, made._committed_at = {A: OffsetAndEpoch(7)}, set(), -1e9
    return made


async def test_E40_a_commit_on_the_way_that_meets_a_rebalance_is_made_later() -> None:
    consumer = Consumer(codes.REBALANCE_IN_PROGRESS)
    one = reading(consumer)
    await one._commit_in_time()
    await one.last_commit()
    assert consumer.commits == [{A: OffsetAndEpoch(7)}]


async def test_E40_any_other_refusal_ends_the_run_and_nothing_is_committed_while_leaving() -> None:
    consumer = Consumer(codes.GROUP_AUTHORIZATION_FAILED)
    one = reading(consumer)
    with pytest.raises(BrokerError):
        await one.last_commit()
    await one.commit({A})
    assert consumer.commits == []
