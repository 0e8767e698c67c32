"""`kcli cat -G -e` when a rebalance takes partitions away from a member that has read others to their ends."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

from kcli.cli.commands.cat import group
from kcli.cli.runtime.signals import Stop
from kcli.model import TopicPartition

AT = TopicPartition("t", 0)


class Finished:
    """A consumer all of whose partitions are at their ends: a poll returns at once."""

    finished = True

    def __init__(self, *assignment: TopicPartition) -> None:
        self.assignment = set(assignment)
        self.polls = 0

    async def poll(self, seconds: float) -> list[object]:
        self.polls += 1
        assert self.polls < 1000, "it polls without a pause"
        return []

    def behind(self) -> dict[TopicPartition, int]:
        return {}


class Commits:
    async def in_time(self) -> None: ...


def member_of(consumer: Finished) -> group.Member:
    reading = SimpleNamespace(consumer=consumer, over=False, open=set(), ends={AT: 3})
    return group.Member(cast("Any", None), cast("Any", None), cast("Any", reading))


async def test_a_member_without_partitions_waits_for_the_next_rebalance() -> None:
    """A poll returns at once then: without a pause it took a whole core."""
    consumer, stop = Finished(), Stop()
    reading = asyncio.create_task(group._read(member_of(consumer), cast("Any", Commits()), stop))
    await asyncio.sleep(0.3)
    assert not reading.done()
    assert consumer.polls <= 3
    stop.asked = True
    stop.interrupt()
    await asyncio.wait_for(reading, 2)


async def test_a_member_ends_if_the_one_partition_that_was_not_at_its_end_went_to_another() -> None:
    async with asyncio.timeout(2):
        await group._read(member_of(Finished(AT)), cast("Any", Commits()), Stop())
