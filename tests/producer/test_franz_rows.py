"""What franz-go's producer does, row by row of docs/contributors/rules.md, A1, where no other test shows it already."""

from __future__ import annotations

import asyncio

import pytest

from kcli import codes
from kcli.errors import Closed, ConnectError, KcliError
from kcli.producer.batches.batch import BatchOutcome
from tests.producer.world import World, balanced, play, producing, send_batches


@pytest.mark.parametrize(("leaders", "requests"), [((0, 0), [1, 0]), ((0, 1), [1, 1])])
def test_A1_11_a_request_holds_the_partitions_of_one_leader(leaders: tuple[int, int], requests: list[int]) -> None:
    async def scene() -> None:
        world = World({"t": 2}, nodes=2)
        for partition, leader in enumerate(leaders):
            world.log(partition).leader = leader
        async with producing(world, linger=0.05) as producer:
            for partition in range(2):
                await producer.send("t", b"v", partition=partition)
        assert [len(world.nodes_by_id[n].requests) for n in range(2)] == requests

    play(scene())


def test_A1_12_A1_14_completions_come_in_the_order_of_sending_though_a_later_answer_was_ready_first() -> None:
    """Partition 0's request is held up on the way to the node, partition 1's behind it is answered at once."""
    log: list[str] = []

    async def scene() -> None:
        world = World({"t": 2}, nodes=1)
        async with producing(world, [], linger=0.0) as producer:
            await asyncio.gather(*await send_batches(producer, 1, 0), *await send_batches(producer, 1, 1))
            producer.on_batch = lambda outcome: log.append(f"completed {outcome.partition}")
            find, first = world.node, [True]

            async def slow_for_the_first(node_id: int) -> object:
                if first.pop() if first else False:
                    await asyncio.sleep(1.0)
                return await find(node_id)

            world.node = slow_for_the_first  # type: ignore[assignment, method-assign]
            world.known_node = lambda _: None  # type: ignore[assignment, method-assign, return-value]
            log.append("sent 0")
            one = await send_batches(producer, 1, 0, first=1)
            await asyncio.sleep(0.01)
            log.append("sent 1")
            two = await send_batches(producer, 1, 1, first=1)
            await asyncio.gather(*one, *two)

    play(scene())
    assert log == ["sent 0", "sent 1", "completed 0", "completed 1"]


def test_A1_15_five_are_in_flight_and_end_in_order_though_the_third_fails_before_it_is_written() -> None:
    outcomes: list[BatchOutcome] = []

    async def scene() -> None:
        world = World({"t": 5}, nodes=1, latency=0.5)
        async with producing(world, outcomes, linger=0.0, retries=0, idempotence=False, acks=1) as producer:
            find, count = world.node, [0]

            async def refuse_the_third(node_id: int) -> object:
                count[0] += 1
                if count[0] == 3:
                    raise ConnectError("connection refused")
                return await find(node_id)

            world.node = refuse_the_third  # type: ignore[assignment, method-assign]
            world.known_node = lambda _: None  # type: ignore[assignment, method-assign, return-value]
            sent = []
            for partition in range(5):
                sent += await send_batches(producer, 1, partition)
                await asyncio.sleep(0.01)
            assert world.nodes_by_id[0].in_flight == 4
            await asyncio.gather(*sent, return_exceptions=True)
        balanced(producer)

    play(scene())
    assert [one.partition for one in outcomes] == [0, 1, 2, 3, 4]
    assert [one.error is not None for one in outcomes] == [False, False, True, False, False]


def test_A1_16_closing_with_five_queued_breaks_all_five_promises() -> None:
    async def scene() -> None:
        world = World()
        producer = producing(world)
        async with producer:
            await asyncio.gather(*await send_batches(producer, 1))
            world.latency = 100.0
            sent = await send_batches(producer, 5, first=1)
            await producer.close(0)
            told = await asyncio.gather(*sent, return_exceptions=True)
        assert len(told) == 5
        assert all(isinstance(one, KcliError) for one in told)
        assert producer.counts.acked == 1
        balanced(producer)

    play(scene())


def test_A1_18_a_batch_that_lingers_rides_along_with_a_full_one_to_the_same_leader() -> None:
    async def scene() -> None:
        world = World({"t": 3}, nodes=2)  # partitions 0 and 2 have one leader, 1 another
        async with producing(world, linger=10.0, batch_size=1000) as producer:
            await producer.send("t", b"lingers", partition=2)
            await producer.send("t", b"elsewhere", partition=1)
            await producer.send("t", b"x" * 1000, partition=0)
            await asyncio.sleep(0.1)
            (request,) = world.nodes_by_id[0].requests
            assert [part.index for topic in request.topic_data for part in topic.partition_data] == [0, 2]
            assert world.nodes_by_id[1].requests == []
            await producer.flush()

    play(scene())


def test_A1_18_what_does_not_fit_goes_on_lingering() -> None:
    async def scene() -> None:
        world = World({"t": 2}, nodes=1)
        async with producing(world, linger=10.0, batch_size=1000, max_request_size=1500) as producer:
            await producer.send("t", b"x" * 800, partition=1)
            await producer.send("t", b"x" * 1000, partition=0)
            await asyncio.sleep(0.1)
            assert world.log(1).seen == []
            await producer.flush()
        assert len(world.log(1).seen) == 1

    play(scene())


def test_A1_19_ten_thousand_keyless_records_over_fifty_partitions_make_full_batches() -> None:
    outcomes: list[BatchOutcome] = []

    async def scene() -> None:
        world = World({"t": 50})
        async with producing(world, outcomes, linger=1.0, batch_size=16_384) as producer:
            for _ in range(10_000):
                await producer.send("t", b"v" * 100)
            await producer.flush()
        assert producer.counts.acked == 10_000

    play(scene())
    per_batch = 16_384 // 107
    assert len(outcomes) < 1.3 * 10_000 / per_batch
    assert sum(one.count > per_batch / 2 for one in outcomes) > 0.8 * len(outcomes)


def test_A1_13_a_leader_costs_one_task_however_much_is_pushed() -> None:
    """franz-go starts a worker with the first push. Here a sender is a task that drains, and answers settle in its
    callbacks; what is pushed adds none, whatever it is."""

    async def scene() -> None:
        world = World({"t": 3}, nodes=3, latency=5.0)
        before = len(asyncio.all_tasks())
        async with producing(world, linger=0.0) as producer:
            await asyncio.sleep(0.1)
            assert len(asyncio.all_tasks()) - before == 1  # the supervisor: no leader is in use yet
            for n in range(500):
                await producer.send("t", b"%d" % n, partition=0)
            await asyncio.sleep(0.1)
            running = len(asyncio.all_tasks()) - before
            assert running <= 1 + 1 + 5  # supervisor, one sender, five requests in flight at most
            world.latency = 0.001
            await producer.flush()

    play(scene())


def test_A1_16_a_push_after_the_end_is_refused() -> None:
    async def scene() -> None:
        world = World()
        world.log().script += [codes.NONE]
        producer = producing(world)
        async with producer:
            pass
        with pytest.raises(Closed):
            await producer.send("t", b"v")
        with pytest.raises(Closed):
            await producer.send_lines("t", b"v\n", 0, 2)

    play(scene())
