"""Lines in batches of a few records: cut whole, in order with all others, and accounted for like them."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest

from kcli.errors import Closed
from kcli.model import TopicPartition
from kcli.producer.batches.accumulator import Accumulator
from kcli.producer.batches.batch import BatchOutcome
from kcli.proto.batch import Batch
from tests.each import each
from tests.producer.transacting import TransactionWorld, transacting
from tests.producer.world import World, balanced, play, producing


def counts(batches: list[Batch]) -> list[int]:
    return [batch.count for batch in batches]


@each(
    "records, lines, expected",
    [
        (1, 5, [1] * 5),
        (3, 7, [3, 3, 1]),
        (16, 40, [16, 16, 8]),
        (17, 40, [17, 17, 6]),
        (1, 200, [1] * 200),
    ],
)
def test_each_batch_has_as_many_records_as_it_may(records: int, lines: int, expected: list[int]) -> None:
    outcomes: list[BatchOutcome] = []

    async def scene() -> None:
        world = World({"t": 1}, nodes=1)
        async with producing(world, outcomes, batch_records=records, linger=0.0) as producer:
            data = b"".join(b"%d\n" % number for number in range(lines))
            assert await producer.send_lines("t", data, 0, len(data)) == len(data)
        assert world.log().records == [b"%d" % number for number in range(lines)]
        assert counts(world.log().seen) == expected
        assert [outcome.base_offset for outcome in outcomes] == [sum(expected[:n]) for n in range(len(expected))]
        balanced(producer)

    play(scene())


def test_they_are_never_open() -> None:
    async def scene() -> None:
        async with producing(World({"t": 1}, nodes=1), batch_records=1, linger=0.0) as producer:
            with patch.object(Accumulator, "open", side_effect=AssertionError):
                await producer.send_lines("t", b"a\nb\nc\n", 0, 6)
            assert await producer.flush(10) == 0

    play(scene())


def test_they_keep_their_order_among_other_records() -> None:
    async def scene() -> None:
        world = World({"t": 1}, nodes=1)
        async with producing(world, batch_records=3, linger=1.0) as producer:
            for number in range(0, 60, 6):
                await producer.send("t", b"%d" % number)
                data = b"".join(b"%d\n" % n for n in range(number + 1, number + 6))
                await producer.send_lines("t", data, 0, len(data))
        assert world.log().records == [b"%d" % number for number in range(60)]
        balanced(producer)

    play(scene())


def test_a_line_that_is_not_whole_is_left_and_empty_ones_are_null() -> None:
    async def scene() -> None:
        world = World({"t": 1}, nodes=1)
        async with producing(world, batch_records=1, linger=0.0) as producer:
            assert await producer.send_lines("t", b"a\n\nb\nrest", 0, 9, empty_is_null=True) == 5
        assert world.log().records == [b"a", None, b"b"]
        balanced(producer)

    play(scene())


@each("changes", [{"buffer_memory": 400}, {"buffer_records": 2}, {"batch_size": 80}, {"max_in_flight": 1}])
def test_memory_is_waited_for_and_comes_back(changes: Any) -> None:
    changes = changes[0] if isinstance(changes, tuple) else changes

    async def scene() -> None:
        world = World({"t": 1}, nodes=1, latency=0.01)
        async with producing(world, batch_records=1, linger=0.0, **changes) as producer:
            data = b"".join(b"%070d\n" % number for number in range(50))
            assert await producer.send_lines("t", data, 0, len(data)) == len(data)
            assert producer._engine.budget.bytes <= changes.get("buffer_memory", 1 << 30)
            assert producer._engine.budget.records <= changes.get("buffer_records", 1 << 30)
        assert world.log().records == [b"%070d" % number for number in range(50)]
        balanced(producer)

    play(scene())


def test_the_pace_is_that_of_other_batches() -> None:
    async def scene() -> None:
        world = World({"t": 1}, nodes=1, latency=0.01)
        waiting: list[int] = []
        async with producing(world, batch_records=1, linger=0.0) as producer:
            accumulator: Any = producer._engine.accumulator
            queue, add = accumulator.queue("t", 0), accumulator.add_whole

            def adds(*given: Any) -> None:
                add(*given)
                waiting.append(len(queue.waiting))

            accumulator.add_whole = adds
            data = b"x" * 99 + b"\n"
            await producer.send_lines("t", data * 1000, 0, 1000 * len(data))
        assert max(waiting) <= 64
        assert len(waiting) < 200

    play(scene())


def test_a_record_that_no_request_takes_fails_alone() -> None:
    outcomes: list[BatchOutcome] = []

    async def scene() -> None:
        world = World({"t": 1}, nodes=1)
        async with producing(world, outcomes, batch_records=1, linger=0.0, max_request_size=300) as producer:
            data = b"a\n" + b"x" * 400 + b"\n" + b"b\n"
            assert await producer.send_lines("t", data, 0, len(data)) == len(data)
        assert world.log().records == [b"a", b"b"]
        assert (producer.counts.acked, producer.counts.failed) == (2, 1)
        balanced(producer)

    play(scene())


def test_a_topic_of_several_partitions_is_spread_batch_by_batch() -> None:
    async def scene() -> None:
        world = World({"t": 3}, nodes=1)
        async with producing(world, batch_records=1, linger=0.0) as producer:
            await producer.send_lines("t", b"x\n" * 300, 0, 600)
            await producer.send_lines("t", b"y\n" * 10, 0, 20, partition=1)
        assert all(len(log.records) > 20 for log in world.logs.values())
        assert world.logs[TopicPartition("t", 1)].records.count(b"y") == 10
        balanced(producer)

    play(scene())


def test_of_a_producer_that_is_closed_meanwhile_the_rest_is_refused() -> None:
    async def scene() -> None:
        world = World({"t": 1}, nodes=1, latency=1.0)
        producer = producing(world, batch_records=1, linger=0.0, buffer_memory=400)
        async with producer:
            data = b"x" * 99 + b"\n"
            producer._engine.loop.call_later(0.5, lambda: setattr(producer, "_closed", True))
            with pytest.raises(Closed):
                await producer.send_lines("t", data * 100, 0, 100 * len(data))
            producer._closed = False
        balanced(producer)

    play(scene())


def test_those_of_a_transaction_are_marked() -> None:
    async def scene() -> None:
        world = TransactionWorld()
        async with transacting(world, batch_records=1) as producer, producer.transaction():
            await producer.send_lines("t", b"a\nb\n", 0, 4, partition=0)
        assert world.committed() == [b"a", b"b"]
        assert [batch.attributes & 16 for batch in world.log().seen] == [16, 16]

    play(scene())
