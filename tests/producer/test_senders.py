"""Senders come and go with their work: one per leader while there is something to do, none when idle."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Callable
from typing import Any

import pytest

from kcli import codes
from kcli.errors import Closed, ConnectError, KcliError, UnknownOutcome
from kcli.model import TopicPartition
from kcli.producer.producer import Producer
from tests.producer.test_sandbox import running, stored, values
from tests.producer.world import World, balanced, now, play, producing, send_batches


def tasks() -> list[str]:
    return sorted(task.get_name() for task in asyncio.all_tasks() if task.get_name().startswith("producer"))


def senders(producer: Producer) -> list[int]:
    """The nodes that have one."""
    return sorted(producer._engine._senders)


def test_A1_13_no_sender_exists_when_idle_and_one_however_many_pushes() -> None:
    async def scene() -> None:
        world = World()
        async with producing(world) as producer:
            assert tasks() == ["producer"]
            for _ in range(3):
                sent = await send_batches(producer, 30)
                await asyncio.sleep(0)
                await asyncio.sleep(0.0005)
                assert (tasks(), senders(producer)) == (["producer"], [0])
                await asyncio.gather(*sent)
                await asyncio.sleep(0)
                await asyncio.sleep(0)
                assert (tasks(), senders(producer)) == (["producer"], [])
        assert tasks() == []

    play(scene())


def test_A1_13_what_is_pushed_while_the_sender_ends_is_sent_all_the_same() -> None:
    """A push at every turn of the loop around the end of the sender before."""

    async def scene() -> None:
        world = World(latency=0.0)
        async with producing(world, linger=0.0) as producer:
            for turns in range(40):
                sent = await send_batches(producer, 1, first=2 * turns)
                for _ in range(turns):
                    await asyncio.sleep(0)
                sent += await send_batches(producer, 1, first=2 * turns + 1)
                begin = now()
                await asyncio.gather(*sent)
                assert now() - begin < 0.001
        assert world.log().records == [b"%d" % number for number in range(80)]

    play(scene())


def test_A1_13_a_leader_that_has_something_again_gets_the_sender_that_rested() -> None:
    async def scene() -> None:
        world = World()
        async with producing(world, linger=0.0) as producer:
            await asyncio.gather(*await send_batches(producer, 1))
            (rested,) = producer._engine._resting.values()
            sent = await send_batches(producer, 2, first=1)
            assert list(producer._engine._senders.values()) == [rested]
            await asyncio.gather(*sent)
            balanced(producer)
        assert world.log().records == [b"0", b"1", b"2"]

    play(scene())


def test_A5_11_a_sender_ends_when_its_leader_leads_nothing_any_more() -> None:
    async def scene() -> None:
        world = World()
        world.hints = True
        async with producing(world) as producer:
            await asyncio.gather(*await send_batches(producer, 1))
            world.move(0, 1)
            world.latency = 2.0
            sent = await send_batches(producer, 3, first=1)
            await asyncio.sleep(7)
            assert senders(producer) == [1]
            await asyncio.gather(*sent)
            assert producer._engine._senders.keys() <= {1}
        balanced(producer)

    play(scene())


async def test_A5_11_when_a_leader_moves_away_its_task_and_its_socket_are_gone_after_idle() -> None:
    async with running(brokers=3, client={"idle_timeout": 0.1}) as (sandbox, client, producer):
        await asyncio.gather(*await send_batches(producer, 1))
        old = await client.cluster.node(client.cluster.leader_id(producer_at()))
        new = old.node_id % 3 + 1
        sandbox.faults.cluster.move_leader("t", 0, new)
        end = time.monotonic() + 5
        number = 1
        while old.connected:  # type: ignore[attr-defined]
            await asyncio.gather(*await send_batches(producer, 1, first=number))
            number += 1
            await asyncio.sleep(0.02)
            assert time.monotonic() < end
        assert (await client.cluster.node(new)).connected  # type: ignore[attr-defined]
        assert old.node_id not in senders(producer)
        assert await stored(client) == values(number)


def producer_at() -> TopicPartition:
    return TopicPartition("t", 0)


def test_A1_16_A5_27_a_sender_that_breaks_fails_what_is_queued_behind_it() -> None:
    """Five on the wire, three waiting: the first answer breaks the sender itself."""

    async def scene() -> None:
        world = World(latency=1.0)
        async with producing(world) as producer:
            await asyncio.gather(*await send_batches(producer, 1))
            sent = await send_batches(producer, 8, first=1)

            def broken(*_: object) -> None:
                raise ZeroDivisionError("a bug")

            producer._engine._returns.stored = broken  # type: ignore[assignment,method-assign]
            told = await asyncio.gather(*sent, return_exceptions=True)
            assert all("ZeroDivisionError" in str(one) for one in told)
            assert [type(one) for one in told] == [UnknownOutcome] * 5 + [KcliError] * 3
            assert (producer.counts.unknown, producer.counts.failed) == (5, 3)
            assert tasks() == []
        balanced(producer)

    play(scene())


def test_A1_16_closed_with_five_on_the_wire_and_more_behind_loses_no_promise() -> None:
    async def scene() -> None:
        world = World(latency=1.0)
        async with producing(world) as producer:
            await asyncio.gather(*await send_batches(producer, 1))
            sent = await send_batches(producer, 9, first=1)
            await asyncio.sleep(0.5)
            begin = now()
            await producer.close(0)
            assert now() - begin < 0.001
            told = await asyncio.gather(*sent, return_exceptions=True)
            assert [type(one) for one in told] == [UnknownOutcome] * 5 + [Closed] * 4
            assert tasks() == []
        balanced(producer)

    play(scene())


def test_A1_10_a_moved_queue_wakes_the_new_leaders_sender_though_that_one_is_at_work() -> None:
    """Partition 0 backs off at node 0 when it moves, unseen by us, to node 1, whose sender waits for an answer."""

    async def scene() -> None:
        world = World({"t": 2}, nodes=2)
        async with producing(world) as producer:
            for partition in (0, 1):
                await asyncio.gather(*await send_batches(producer, 1, partition))

            async def slow() -> None:
                await asyncio.sleep(8)

            world.nodes_by_id[1].before = slow
            held = await send_batches(producer, 1, 1, first=1)
            world.log(0).script.append(codes.NOT_ENOUGH_REPLICAS)
            sent = await send_batches(producer, 1, 0, first=1)
            await asyncio.sleep(0.05)
            world.move(0, 1)
            world.cached[producer_at()] = 1  # somebody else's metadata, so nobody wakes us
            world.nodes_by_id[1].before = None
            begin = now()
            await asyncio.sleep(1)
            assert len(world.nodes_by_id[1].requests) == 3, "it was not sent to the new leader"
            await asyncio.gather(*sent, *held)
            assert now() - begin < 10

    play(scene())


@pytest.mark.parametrize("nodes", [1, 3])
def test_A4_18_A4_21_while_brokers_are_down_nobody_spins_and_the_tasks_live(nodes: int) -> None:
    async def scene() -> None:
        world = World({"t": 3}, nodes=nodes)
        async with producing(world, delivery_timeout=60.0) as producer:
            for partition in range(3):
                await asyncio.gather(*await send_batches(producer, 1, partition))
            for broker in world.nodes_by_id.values():
                broker.up = False
            asked, clock = world.refreshes, time.process_time()
            sent = [one for partition in range(3) for one in await send_batches(producer, 2, partition, first=1)]
            await asyncio.sleep(30)
            assert world.refreshes - asked <= 3 * 36, "more often than once a second for a partition"
            assert time.process_time() - clock < 0.3, "30 s of outage cost 1 % of a processor"
            for broker in world.nodes_by_id.values():
                broker.up = True
            begin = now()
            await asyncio.gather(*sent)
            assert now() - begin < 2.5, "the longest wait between two attempts is a second"
        balanced(producer)

    play(scene())


def test_A5_23_a_minute_of_outage_is_bounded_by_the_buffer_and_everything_arrives_after() -> None:
    async def scene() -> None:
        world = World({"t": 2}, nodes=2)
        done = 0

        async def pour() -> None:
            nonlocal done
            for done in range(4000):
                await producer.send("t", b"%0100d" % done, partition=done % 2)

        async with producing(
            world, buffer_memory=20_000, batch_size=1000, max_block=90.0, delivery_timeout=100.0
        ) as producer:
            for partition in (0, 1):
                await asyncio.gather(*await send_batches(producer, 1, partition))
            for broker in world.nodes_by_id.values():
                broker.up = False
            pouring = asyncio.create_task(pour())
            for _ in range(60):
                await asyncio.sleep(1)
                assert producer._engine.budget.bytes <= 20_000
            assert done < 300
            for broker in world.nodes_by_id.values():
                broker.up = True
            await pouring
            assert await producer.flush() == 0
        for partition in (0, 1):
            assert world.log(partition).records[1:] == [b"%0100d" % n for n in range(partition, 4000, 2)]
        balanced(producer)

    play(scene())


def test_A5_12_while_a_broker_is_silent_records_are_accepted() -> None:
    async def scene() -> None:
        world = World()

        async def silent() -> None:
            world.broker().before = None
            await asyncio.sleep(5)

        async with producing(world) as producer:
            await asyncio.gather(*await send_batches(producer, 1))
            world.broker().before = silent
            begin = now()
            sent = await send_batches(producer, 100, first=1)
            assert now() - begin < 0.001
            assert producer.counts.accepted == 101
            await asyncio.gather(*sent)

    play(scene())


def test_A5_09_A4_20_with_a_dead_cluster_leaders_are_looked_up_no_more_often_than_the_backoff() -> None:
    async def scene() -> None:
        world = World()
        async with producing(world, delivery_timeout=60.0) as producer:
            await asyncio.gather(*await send_batches(producer, 1))
            world.hidden.add("t")
            world.cached.clear()
            asked = world.refreshes
            sent = await send_batches(producer, 3, first=1)
            await asyncio.sleep(30)
            assert 20 <= world.refreshes - asked <= 36
            world.hidden.clear()
            await asyncio.gather(*sent)
        assert world.log().records == values(4)

    play(scene())


@pytest.mark.parametrize("problem", [None, ConnectError("the connection broke", sent=True)])
def test_A5_15_an_exchange_ends_with_an_answer_or_an_error_and_never_both(problem: ConnectError | None) -> None:
    async def scene() -> None:
        world = World()
        calls: list[str] = []

        async def end() -> None:
            if problem is not None:
                raise problem

        async with producing(world, retries=0) as producer:
            world.broker().then = end
            returns = producer._engine._returns

            def counted(what: str, settle: Callable[..., None]) -> Callable[..., None]:
                def counting(*given: Any) -> None:
                    calls.append(what)
                    settle(*given)

                return counting

            returns.answered = counted("answered", returns.answered)  # type: ignore[method-assign]
            returns.stored = counted("answered", returns.stored)  # type: ignore[method-assign]
            returns.lost = counted("lost", returns.lost)  # type: ignore[method-assign]
            await asyncio.gather(*await send_batches(producer, 1), return_exceptions=True)
        assert calls == (["answered"] if problem is None else ["lost"])

    play(scene())


def test_a_sender_that_rests_is_woken_for_what_another_one_had() -> None:
    """Node 1 backs off for one partition. A second one comes to it while the sender of node 0 has a turn ordered."""

    async def scene() -> None:
        world = World({"t": 2}, nodes=2)
        async with producing(world, linger=0.0, retry_backoff=3.0, retry_backoff_max=3.0) as producer:
            for partition in (0, 1):
                await asyncio.gather(*await send_batches(producer, 1, partition))
            world.log(1).script.append(codes.NOT_ENOUGH_REPLICAS)
            refused = await send_batches(producer, 1, 1, first=1)
            await asyncio.sleep(0.1)
            assert senders(producer) == [1]
            moved = await send_batches(producer, 1, 0, first=1)
            assert senders(producer) == [0, 1]
            world.move(0, 1)
            world.cached[TopicPartition("t", 0)] = 1
            begin = now()
            await asyncio.gather(*moved)
            assert now() - begin < 1.0
            await asyncio.gather(*refused)
        assert [world.log(partition).records for partition in (0, 1)] == [[b"0", b"1"]] * 2

    play(scene())


def test_a_batch_that_lingers_for_a_healthy_node_does_not_wait_for_one_that_hangs() -> None:
    """Its linger begins while the sender of the other node has a turn ordered, after a batch that lingers there."""

    async def scene() -> None:
        world = World({"t": 4}, nodes=2)
        async with producing(world, linger=0.02) as producer:
            for partition in range(4):
                await (await producer.send("t", b"warm", partition=partition))
            await asyncio.sleep(1.0)
            asked = itertools.count(1)

            async def hang() -> None:
                await asyncio.sleep(5.0 if next(asked) == 2 else 0.0)

            world.nodes_by_id[0].before = hang
            world.latency = 0.05
            answered = await producer.send("t", b"answered", partition=0)
            await asyncio.sleep(0.03)  # its request is on the way
            hanging = await producer.send("t", b"hanging", partition=2)
            producer._engine.accumulator.close_all()
            await answered
            begin = now()
            rest = [await producer.send("t", b"behind", partition=0)]
            await (await producer.send("t", b"healthy", partition=3))
            assert now() - begin < 1.0
            await asyncio.gather(hanging, *rest)

    play(scene())
