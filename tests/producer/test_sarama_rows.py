"""What sarama's AsyncProducer does, by docs/contributors/rules.md, A5, where no other test shows it."""

from __future__ import annotations

import asyncio
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from kcli import codes
from kcli.errors import KcliError, UsageError
from kcli.producer.batches.batch import BatchOutcome, RecordMetadata
from kcli.producer.engine.sender import Exchange, LeaderSender
from kcli.proto.batch import read_batches
from tests.producer.world import World, balanced, play, producing, send_batches

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from kcli.producer.producer import Producer


def test_A5_06_a_queue_is_drained_by_one_sender_at_a_time_though_its_leader_moves() -> None:
    """Whoever leads drains: what two senders take of one queue never overlaps in time."""
    takers: list[tuple[int, int]] = []

    async def scene() -> None:
        world = World()
        world.hints = True
        original = LeaderSender._write

        def watched(self: LeaderSender, leaving: list[Exchange], enough: int) -> None:
            takers.extend([(self.node_id, world.cached.get(world.log().at, -1))] * len(leaving))
            original(self, leaving, enough)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(LeaderSender, "_write", watched)
            async with producing(world, linger=0.0) as producer:
                for n in range(12):
                    world.move(0, n % 3)
                    await asyncio.gather(*await send_batches(producer, 2, first=2 * n))
        assert world.log().records == [b"%d" % n for n in range(24)]

    play(scene())
    assert len({node for node, _ in takers}) == 3
    assert all(node == leader for node, leader in takers)


def test_A5_08_two_topics_do_not_share_their_stickiness() -> None:
    async def scene() -> None:
        world = World({"a": 20, "b": 20})
        async with producing(world, linger=5.0) as producer:
            placement = producer._records._placement
            for topic in ("a", "b"):
                await producer.send(topic, b"v")
            assert placement.sticky("a") is not placement.sticky("b")
            where = placement.sticky("a").choose(range(20))
            placement.sticky("b").went(0, full=True)
            await producer.send("b", b"v")
            assert placement.sticky("a").choose(range(20)) == where

    play(scene())


def test_A5_09_a_cluster_without_leaders_is_not_asked_more_often_than_the_backoff_allows() -> None:
    async def scene() -> None:
        world = World()
        async with producing(world, delivery_timeout=60.0) as producer:
            await asyncio.gather(*await send_batches(producer, 1))
            world.move(0, -1)
            world.cached[world.log().at] = -1
            before = world.refreshes
            (lost,) = await send_batches(producer, 1, first=1)
            with pytest.raises(KcliError):
                await lost
            assert world.refreshes - before <= 65  # a minute, at most one a second after the first few

    play(scene())


def test_A5_12_a_silent_broker_does_not_stop_appends() -> None:
    async def scene() -> None:
        world = World()
        async with producing(world) as producer:
            await asyncio.gather(*await send_batches(producer, 1))
            world.latency = 5.0
            begin = asyncio.get_running_loop().time()
            sent = [await producer.send("t", b"%d" % n, partition=0) for n in range(1000)]
            assert asyncio.get_running_loop().time() == begin
            await asyncio.gather(*sent)

    play(scene())


def test_A5_13_records_are_numbered_from_nought_within_their_batch() -> None:
    async def scene() -> None:
        world = World()
        async with producing(world, linger=0.05) as producer:
            for n in range(5):
                await producer.send("t", b"%d" % n, partition=0)
        (request,) = world.broker().requests
        (part,) = request.topic_data[0].partition_data
        assert part.records is not None
        (batch,) = read_batches(bytes(part.records))
        assert [record.offset - batch.base_offset for record in batch] == [0, 1, 2, 3, 4]
        assert batch.last_offset - batch.base_offset == 4

    play(scene())


@pytest.mark.parametrize(
    ("limit", "settings", "requests", "batches"),
    [
        ("request bytes", {"max_request_size": 700, "batch_size": 600}, 4, [1, 1, 1, 1]),
        ("batch bytes", {"batch_size": 600}, 1, [1, 1, 1, 1]),
        ("batch records", {"batch_records": 2}, 1, [2, 2, 2, 2]),
    ],
)
def test_A5_17_each_limit_alone_divides_what_is_sent(
    limit: str, settings: dict[str, int], requests: int, batches: list[int]
) -> None:
    async def scene() -> None:
        world = World({"t": 4}, nodes=1)
        outcomes: list[BatchOutcome] = []
        each = 4 if limit == "batch records" else 1
        async with producing(world, outcomes, linger=0.1, max_in_flight=1, **settings) as producer:
            for _ in range(each // 2 or 1):
                for partition in range(4):
                    await producer.send("t", b"x" * 500, partition=partition)
        assert len(world.nodes_by_id[0].requests) == requests, limit
        assert [one.count for one in outcomes] == batches

    play(scene())


def test_A5_19_a_record_that_cannot_be_encoded_spoils_none_of_the_others() -> None:
    async def scene() -> None:
        world = World()
        async with producing(world) as producer:
            rows = [(0, None, None, b"%d" % n, [("h", 5)] if n == 5 else ()) for n in range(10)]
            found = await producer.send_all("t", rows)  # type: ignore[arg-type]
        assert [n for n, one in enumerate(found) if not isinstance(one, RecordMetadata)] == [5]
        assert isinstance(found[5], UsageError)
        assert world.log().records == [b"%d" % n for n in range(10) if n != 5]
        balanced(producer)

    play(scene())


def test_rows_without_promises_cost_no_more_calls_than_rows_with_them() -> None:
    """Counted, not timed: calls of Python functions until all rows are accepted."""

    async def scene() -> None:
        world = World({"t": 3})
        rows: list[Any] = [(None, None, None if n % 2 else b"%d" % n, b"v" * 20, ()) for n in range(3000)]
        calls: dict[str, int] = {}
        async with producing(world) as producer:
            for name, send in (("warm", producer.send_records), ("rows", producer.send_records)):
                calls[name] = await counted(send("t", rows))
            calls["each"] = await counted(sent_each(producer, rows))
            await producer.flush()
        assert calls["rows"] < calls["each"] + 300, calls
        assert sum(len(world.log(n).records) for n in range(3)) == 3 * len(rows)
        balanced(producer)

    play(scene())


async def counted(work: Coroutine[Any, Any, None]) -> int:
    count = 0

    def call(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(call)
    try:
        await work
    finally:
        sys.setprofile(before)
    return count


async def sent_each(producer: Producer, rows: list[Any]) -> None:
    for partition, timestamp, key, value, headers in rows:
        await producer.send("t", value, key, headers, partition, timestamp)


def test_A5_20_with_all_triggers_at_zero_a_record_goes_at_once() -> None:
    async def scene() -> None:
        world = World(latency=0.0)
        async with producing(world, linger=0.0) as producer:
            begin = asyncio.get_running_loop().time()
            await (await producer.send("t", b"v"))
            assert asyncio.get_running_loop().time() - begin < 1e-6

    play(scene())


def test_A5_21_nothing_is_sent_before_the_timer_and_exactly_one_request_when_it_rings() -> None:
    async def scene() -> None:
        world = World()
        async with producing(world, linger=1.0) as producer:
            await asyncio.gather(*await send_batches(producer, 1))
            for _ in range(50):
                await producer.send("t", b"v", partition=0)
                await asyncio.sleep(0.01)
            assert len(world.broker().requests) == 1
            await asyncio.sleep(0.6)
            assert len(world.broker().requests) == 2

    play(scene())


def test_A5_22_the_timer_of_a_batch_that_is_gone_does_not_ring_for_the_next() -> None:
    async def scene() -> None:
        world = World()
        async with producing(world, linger=1.0, batch_size=1000) as producer:
            await producer.send("t", b"a", partition=0)
            await asyncio.sleep(0.9)
            await producer.send("t", b"x" * 990, partition=0)  # the first batch is full, and goes; this opens another
            await asyncio.sleep(0.2)
            assert len(world.log().seen) == 1
            await asyncio.sleep(0.85)
            assert len(world.log().seen) == 2

    play(scene())


def test_A5_23_a_minute_of_outage_at_full_speed_is_bounded_and_all_is_delivered_after_it() -> None:
    async def scene() -> None:
        world = World()
        async with producing(world, buffer_memory=200_000, max_block=120.0, delivery_timeout=300.0) as producer:
            await asyncio.gather(*await send_batches(producer, 1))
            world.log().script += [codes.NOT_ENOUGH_REPLICAS] * 100_000
            most = 0

            async def full_speed() -> None:
                nonlocal most
                for n in range(1, 5001):
                    await producer.send("t", b"%d" % n, partition=0)
                    most = max(most, producer._engine.budget.bytes)

            running = asyncio.create_task(full_speed())
            await asyncio.sleep(60.0)
            assert not running.done()
            world.log().script.clear()
            await running
            await producer.flush()
            assert most <= 200_000
        assert world.log().records == [b"%d" % n for n in range(5001)]
        balanced(producer)

    play(scene())


def test_A5_28_bulk_and_single_records_are_quick_enough() -> None:
    """A floor that a mistake of complexity would fall through, far below what `make bench` measures."""

    async def scene() -> None:
        world = World(latency=0.0)
        async with producing(world, batch_size=1_000_000) as producer:
            lines = b"x" * 99 + b"\n"
            chunk = lines * 10_000
            begin = time.process_time()
            for _ in range(20):
                await producer.send_lines("t", chunk, 0, len(chunk), partition=0)
            bulk = time.process_time() - begin
            begin = time.process_time()
            for _ in range(10_000):
                await producer.send("t", b"v", partition=0)
            single = time.process_time() - begin
            world.log().take = lambda data: world.log().answer(codes.NONE, 0)  # type: ignore[method-assign]
        assert 200_000 / bulk > 100_000
        assert 10_000 / single > 5_000

    play(scene())
