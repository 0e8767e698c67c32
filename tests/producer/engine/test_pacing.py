"""Bulk input lets the loop send after some batches, and waits where too many of a partition wait."""

from __future__ import annotations

import asyncio

import pytest

from kcli.model import TopicPartition
from kcli.producer.batches.batch import ProducerBatch
from kcli.producer.batches.queue import PartitionQueue
from kcli.producer.engine.draining import AHEAD, AHEAD_SMALL, PATIENCE, Pacing
from kcli.settings import ProducerSettings
from tests.producer.world import World, now, play, producing

AT = TopicPartition("t", 0)


def waiting(count: int, size: int) -> PartitionQueue:
    """A queue in which as many sealed batches wait, each with a value of `size` bytes."""
    queue = PartitionQueue(AT)
    for number in range(count):
        batch = ProducerBatch(AT, 0.0, (number,))
        batch.builder.append(0, None, bytes(size), ())
        batch.end()
        batch.close(ProducerSettings())
        queue.waiting.append(batch)
    return queue


@pytest.mark.parametrize(
    ("compresses", "size", "calls"), [(False, 100_000, 1), (False, 10, AHEAD_SMALL), (True, 10, 1)]
)
def test_small_batches_are_handed_over_some_at_a_time(compresses: bool, size: int, calls: int) -> None:
    pacing, queue = Pacing(compresses=compresses), waiting(1, size)
    assert [pacing.runs_ahead(queue) for _ in range(calls)] == [False] * (calls - 1) + [True]


def test_a_pause_ends_when_enough_of_them_have_left() -> None:
    async def scene() -> None:
        pacing, queue = Pacing(compresses=False), waiting(AHEAD_SMALL, 10)
        assert pacing.runs_ahead(queue)
        pause = asyncio.create_task(pacing.pause(queue))
        await asyncio.sleep(0)
        while len(queue.waiting) > AHEAD_SMALL // 2:
            queue.waiting.popleft()
            pacing.end_pauses()
            assert len(pacing.paused) == 1
            await asyncio.sleep(0)
            assert pause.done() == (len(queue.waiting) < AHEAD_SMALL // 2)
        queue.waiting.popleft()
        pacing.end_pauses()
        pacing.end_pauses()  # twice before the caller continues
        await pause
        assert (pacing.paused, now() < PATIENCE) == ([], True)

    play(scene())


def test_a_caller_that_pauses_goes_on_as_soon_as_batches_have_left() -> None:
    async def scene() -> None:
        async with producing(World({"t": 1}, nodes=1, latency=0.0001), batch_records=1, linger=0.0) as producer:
            lines = b"x\n" * 10 * AHEAD_SMALL
            await producer.send_and_wait("t", b"opens the connection")
            begin = now()
            await producer.send_lines("t", lines, 0, len(lines))
            await producer.flush()
            assert now() - begin < 4 * PATIENCE, "each pause ends with its time only"

    play(scene())


def test_a_pause_lasts_a_moment_where_nothing_leaves() -> None:
    async def scene() -> None:
        pacing, stuck = Pacing(compresses=False), waiting(AHEAD, 100_000)
        await pacing.pause(stuck)
        assert now() == pytest.approx(PATIENCE, abs=1e-3)
        assert pacing.paused == []
        await pacing.pause(waiting(AHEAD - 1, 100_000))  # it lets the loop run, and no more
        assert now() == pytest.approx(PATIENCE, abs=1e-3)

    play(scene())


def test_a_pause_that_is_cancelled_leaves_nothing() -> None:
    async def scene() -> None:
        pacing, stuck = Pacing(compresses=False), waiting(AHEAD, 100_000)
        pause = asyncio.create_task(pacing.pause(stuck))
        await asyncio.sleep(0)
        pause.cancel()
        await asyncio.gather(pause, return_exceptions=True)
        assert pacing.paused == []
        pacing.end_pauses()

    play(scene())
