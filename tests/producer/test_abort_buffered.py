"""abort_buffered drops what is not sent; what is on the wire is settled by its response (D48)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kcli import codes
from kcli.errors import Aborted, UnknownOutcome
from tests.producer.world import World, balanced, now, play, producing, send_batches


def outcome(future: asyncio.Future[Any]) -> str:
    problem = future.exception()
    return "stored" if problem is None else type(problem).__name__


async def on_the_wire(world: World) -> None:
    """Until a request is under way."""
    while not world.broker().in_flight:  # noqa: ASYNC110 - that a request is under way sets no event
        await asyncio.sleep(0.1)


def test_D48_buffered_records_fail_at_once_and_the_producer_is_as_new() -> None:
    async def scene() -> None:
        world = World()
        async with producing(world, linger=5.0) as producer:
            sent = [await producer.send("t", b"%d" % number) for number in range(100)]
            assert await producer.abort_buffered() == 100
            assert now() < 0.1
            assert {outcome(future) for future in sent} == {"Aborted"}
            assert (producer.counts.failed, producer.counts.unknown) == (100, 0)
            later = await producer.send("t", b"later")
            await producer.flush()
            assert later.result().offset == 0
        assert world.log().records == [b"later"]
        balanced(producer)

    play(scene())


def test_D48_a_batch_on_the_wire_is_waited_for_and_acknowledged() -> None:
    async def scene() -> None:
        world = World(latency=1.0)
        async with producing(world, max_in_flight=1) as producer:
            sent = await send_batches(producer, 3)
            await on_the_wire(world)
            assert await producer.abort_buffered() == 2
            assert [outcome(future) for future in sent] == ["stored", "Aborted", "Aborted"]
        assert world.log().records == [b"0"]
        balanced(producer)

    play(scene())


def test_D48_a_batch_that_comes_back_is_not_sent_again() -> None:
    async def scene() -> None:
        world = World(latency=1.0)
        world.log().script.extend([codes.NOT_ENOUGH_REPLICAS] * 100)
        async with producing(world) as producer:
            sent = await send_batches(producer, 1)
            await on_the_wire(world)
            requests = len(world.broker().requests)
            assert await producer.abort_buffered() == 1
            assert now() < 5.0, "it does not wait for the delivery timeout"
            assert len(world.broker().requests) == requests
            assert [outcome(future) for future in sent] == ["Aborted"]
        balanced(producer)

    play(scene())


def test_D48_D22_a_batch_without_an_answer_is_unknown() -> None:
    async def scene() -> None:
        from kcli.errors import ConnectError

        async def lose() -> None:
            raise ConnectError("the connection broke", sent=True)

        world = World()
        world.broker().then = lose
        async with producing(world, retry_backoff=5.0, retry_backoff_max=5.0) as producer:
            sent = await send_batches(producer, 1)
            await asyncio.sleep(1.0)
            assert await producer.abort_buffered() == 1
            assert isinstance(sent[0].exception(), UnknownOutcome)
            assert producer.counts.unknown == 1
        balanced(producer)

    play(scene())


def test_D48_callers_that_wait_for_room_get_the_error_and_their_room_back() -> None:
    async def scene() -> None:
        world = World(latency=0.0)
        world.broker().before = lambda: asyncio.sleep(10.0)  # the buffer stays full
        async with producing(world, buffer_records=5, linger=5.0) as producer:
            for number in range(5):
                await producer.send("t", b"%d" % number)
            blocked = [asyncio.create_task(producer.send("t", b"blocked")) for _ in range(3)]
            await asyncio.sleep(1.0)
            assert not any(task.done() for task in blocked)
            assert await producer.abort_buffered() == 0, "they were on the wire: acknowledged after ten seconds"
            for task in blocked:
                with pytest.raises(Aborted):
                    await task
        balanced(producer)

    play(scene())


def test_D48_records_accepted_during_the_wait_are_kept() -> None:
    async def scene() -> None:
        world = World(latency=1.0)
        async with producing(world) as producer:
            await send_batches(producer, 1)
            await on_the_wire(world)
            aborting = asyncio.create_task(producer.abort_buffered())
            await asyncio.sleep(0)
            later = await producer.send("t", b"later")
            assert await aborting == 0
            await producer.flush()
            assert later.result().offset == 1
        balanced(producer)

    play(scene())
