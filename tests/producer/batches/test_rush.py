"""Bulk input over many partitions: batches are as large as memory and the brokers allow, and nothing lingers for longer
than it may. Counts of batches and of questions stand for the time that they cost."""

from __future__ import annotations

import asyncio
import random

import pytest

from kcli.model import TopicPartition
from kcli.producer.batches.accumulator import FAST, SMALL, Accumulator, Rush
from kcli.producer.batches.active import Active
from kcli.producer.batches.batch import BatchOutcome
from kcli.producer.batches.queue import PartitionQueue
from kcli.producer.producer import Producer
from kcli.settings import ProducerSettings
from tests.producer.world import World, balanced, now, play, producing

PARTITIONS = 200
LINE = 100


def keyed(count: int) -> bytes:
    rng = random.Random(1)
    return b"".join(b"%08x\t%s\n" % (rng.getrandbits(32), b"x" * (LINE - 10)) for _ in range(count))


async def send(producer: Producer, text: bytes, step: int = 1 << 18) -> None:
    """As the command line does: a block after the other, with a turn of the loop between them."""
    at = 0
    while at < len(text):
        at = await producer.send_lines("t", text, at, min(at + step, len(text)), key_delimiter=b"\t")
        await asyncio.sleep(0)


def test_D3_bulk_input_to_many_partitions_makes_few_batches() -> None:
    """Each linger once sealed a batch of a few records for every partition."""
    outcomes: list[BatchOutcome] = []
    text = keyed(100_000)

    async def scene() -> None:
        world = World({"t": PARTITIONS}, nodes=3, latency=0.0)
        async with producing(world, outcomes) as producer:
            producer._engine.accumulator.rush._linger = 1e-9  # the clock of this world stands still while lines are cut
            await send(producer, text)
        assert producer.counts.acked == 100_000
        balanced(producer)

    play(scene())
    assert len(outcomes) < 6 * PARTITIONS
    assert all(one.error is None for one in outcomes)


def test_D3_D6_while_memory_is_short_only_what_travels_is_closed() -> None:
    """A send that waits for memory once closed every open batch: at each answer a thousand of a few records."""
    outcomes: list[BatchOutcome] = []
    text, memory = keyed(60_000), 2_000_000

    async def scene() -> None:
        world = World({"t": PARTITIONS}, nodes=1, latency=0.05)
        settings = {"buffer_memory": memory, "max_request_size": 100_000, "delivery_timeout": 600.0}
        async with producing(world, outcomes, **settings) as producer:
            await send(producer, text, 1 << 17)
        assert producer.counts.acked == 60_000
        balanced(producer)

    play(scene())
    share = memory / 2 / PARTITIONS / LINE  # records of a partition in half of the memory
    assert len(outcomes) < 60_000 / share * 2


def test_D3_a_leader_with_a_full_pipe_lets_open_batches_fill() -> None:
    async def scene() -> None:
        world = World({"t": 10}, nodes=1, latency=0.1)
        async with producing(world, linger=0.001) as producer:
            for partition in range(10):
                await (await producer.send("t", b"first", partition=partition))
            for number in range(500):
                await producer.send("t", b"%d" % number, partition=number % 10)
                await asyncio.sleep(0.0002)
            queues = producer._engine.accumulator.active.values()
            assert sum(len(queue.in_flight) for queue in queues) <= 5 * 10
            assert not any(queue.waiting for queue in queues)  # nothing is closed that cannot travel
            await producer.flush()
        assert len(world.log(3).seen) <= 1 + 5 + 1

    play(scene())


def test_D2_lines_that_come_a_few_at_a_time_linger_no_longer_than_they_may() -> None:
    outcomes: list[float] = []

    async def scene() -> None:
        world = World({"t": PARTITIONS}, nodes=1, latency=0.0)
        async with producing(world, linger=0.01) as producer:
            producer.on_batch = lambda outcome: outcomes.append(now())
            await producer.send("t", b"first", partition=0)
            await producer.flush()
            for _ in range(20):
                begin, outcomes[:] = now(), []
                await send(producer, keyed(3))
                await asyncio.sleep(0.03)
                assert outcomes
                assert all(at - begin < 0.011 for at in outcomes)

    play(scene())


def test_D2_when_a_rush_pauses_its_last_records_leave_after_two_lingers() -> None:
    """One to see that the rush is over, one that the newest record lingers anyway."""

    async def scene() -> None:
        world = World({"t": PARTITIONS}, nodes=1, latency=0.0)
        async with producing(world, linger=0.01) as producer:
            await send(producer, keyed(10_000))
            paused = now()
            await asyncio.sleep(0.025)
            assert now() - paused < 0.026
            assert producer.counts.acked == 10_000

    play(scene())


def opened() -> tuple[Accumulator, PartitionQueue]:
    """A queue with a record since 0.0, amid a rush that has begun."""
    settings, active = ProducerSettings(linger=0.005), Active(lambda at: 0, lambda: 0)
    found = Accumulator(settings, active, lambda queue: None, lambda batch: None, lambda queue, batch: None)
    queue = found.queue("t", 0)
    batch = found.open(queue, 0.0)
    batch.builder.append(0, None, b"v")
    found.appended(queue, batch, full=False)
    assert found.rush.begin(FAST)
    return found, queue


def test_D2_a_rush_without_end_holds_no_record_for_longer_than_a_second() -> None:
    found, queue = opened()
    found.mature(0.5)
    assert not found.ripe(queue, 0.999)
    assert found.next_linger(0.999) == pytest.approx(1.004)  # somebody looks again
    assert found.any_ripe(1.004)
    assert found.ripe(queue, 1.0)


@pytest.mark.parametrize("why", ["large", "memory is short", "a send waits", "the rush is over"])
def test_D2_each_condition_alone_ends_what_a_rush_holds(why: str) -> None:
    found, queue = opened()
    found.mature(0.01)
    assert not found.any_ripe(0.01)
    if why == "large":
        assert queue.open is not None
        queue.open.builder.append(0, None, bytes(SMALL))
    elif why == "memory is short":
        found.pressed = True
    elif why == "a send waits":
        found.hurried = found.pressed = True
    else:
        found.rush.end(0.01)
        assert found.next_linger(0.012) == pytest.approx(0.015)
        assert not found.any_ripe(0.0149)
    assert found.any_ripe(0.016)
    assert found.ripe(queue, 0.016)


def test_D2_without_linger_nothing_is_held() -> None:
    rush = Rush(0.0)
    assert rush.begin(FAST)
    assert rush.longest == 0.0
    assert not rush.begin(FAST - 1)


def test_A4_19_a_leader_is_asked_for_again_only_when_one_may_have_changed() -> None:
    asked: list[TopicPartition] = []
    leaders, version = {0: 1, 1: 2, 2: -1}, [0]

    def leader_id(at: TopicPartition) -> int:
        asked.append(at)
        return leaders[at.partition]

    active = Active(leader_id, lambda: version[0])
    queues = [PartitionQueue(TopicPartition("t", partition)) for partition in range(3)]
    for queue in queues:
        active.add(queue)
    for _ in range(100):
        assert active.led_by(1) == [queues[0]]
        assert active.led_by(-1) == [queues[2]]
        assert sorted(active.leaders()) == [-1, 1, 2]
    assert len(asked) == 3
    leaders[2], version[0] = 1, 1
    assert active.led_by(1) == [queues[0], queues[2]]
    active.served(queues[0])
    assert active.led_by(1) == [queues[2], queues[0]]
    active.discard(queues[2])
    assert active.led_by(1) == [queues[0]]
    assert active.led_by(-1) == []
    assert len(active) == 2
