"""Order, sequences and epochs: what is acknowledged is in the log once, in the order of sending."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from itertools import pairwise
from typing import Any

import pytest

from kcli import codes
from kcli.codes import ErrorCode
from kcli.errors import BrokerError, ConnectError, KcliError, UnknownOutcome
from kcli.producer.batches.batch import BatchOutcome
from kcli.proto.batch import Batch
from kcli.proto.messages.produce import PartitionProduceResponse
from tests.producer.world import Log, World, balanced, now, play, producing, send_batches


def values(count: int) -> list[bytes]:
    return [b"%d" % number for number in range(count)]


def test_D25_five_in_flight_and_the_first_fails_yet_the_log_is_in_order() -> None:
    async def scene() -> None:
        world = World()
        async with producing(world) as producer:
            await asyncio.gather(*await send_batches(producer, 1))
            world.log().script.append(codes.NOT_LEADER_OR_FOLLOWER)
            told = await asyncio.gather(*await send_batches(producer, 8, first=1))
        assert world.log().records == values(9)
        assert [one.offset for one in told] == list(range(1, 9))
        balanced(producer)

    play(scene())


def test_A5_10_A5_26_three_retries_of_the_first_batch_keep_the_order() -> None:
    async def scene() -> None:
        world = World()
        outcomes: list[BatchOutcome] = []
        async with producing(world, outcomes) as producer:
            await asyncio.gather(*await send_batches(producer, 1))
            world.log().script += [codes.NOT_ENOUGH_REPLICAS]
            world.log().script += [codes.OUT_OF_ORDER_SEQUENCE_NUMBER] * 4 + [codes.NOT_ENOUGH_REPLICAS] * 2
            await send_batches(producer, 5, first=1)
            assert await producer.flush() == 0
        assert world.log().records == values(6)
        assert [one.base_offset for one in outcomes] == list(range(6))

    play(scene())


def test_D25_A5_24_only_the_retried_batch_travels_while_a_retry_is_pending() -> None:
    async def scene() -> None:
        world = World()
        async with producing(world) as producer:
            await asyncio.gather(*await send_batches(producer, 1))
            world.log().script += [codes.NOT_ENOUGH_REPLICAS]
            await send_batches(producer, 5, first=1)
            await producer.flush()
        sequences = [batch.base_sequence for batch in world.log().seen]
        assert sequences == [0, 1, 2, 3, 4, 5, 1, 2, 3, 4, 5]


def test_D25_of_an_unknown_producer_a_leader_takes_any_sequence_so_the_first_batch_goes_alone() -> None:
    async def scene() -> None:
        world = World()
        world.log().script += [codes.NOT_ENOUGH_REPLICAS]
        async with producing(world) as producer:
            await send_batches(producer, 5)
            await producer.flush()
        assert world.log().records == values(5)
        assert [batch.base_sequence for batch in world.log().seen] == [0, 0, 1, 2, 3, 4]

    play(scene())


def test_A4_22_with_one_in_flight_the_second_batch_waits_for_the_first() -> None:
    async def scene() -> None:
        world = World()
        world.log().script += [codes.NOT_ENOUGH_REPLICAS] * 2
        async with producing(world, max_in_flight=1) as producer:
            await send_batches(producer, 3)
            await producer.flush()
        assert [batch.base_sequence for batch in world.log().seen] == [0, 0, 0, 1, 2]

    play(scene())


def test_D26_out_of_order_answers_to_later_batches_are_retried_without_a_new_epoch() -> None:
    async def scene() -> None:
        world = World()
        async with producing(world) as producer:
            await asyncio.gather(*await send_batches(producer, 1))
            world.log().script += [codes.CORRUPT_MESSAGE]
            await send_batches(producer, 3, first=1)
            await producer.flush()
        assert world.log().records == values(4)
        assert {batch.producer_epoch for batch in world.log().seen} == {0}

    play(scene())


def test_D26_a_duplicate_is_a_success_at_an_unknown_offset() -> None:
    async def scene() -> None:
        world = World()
        world.log().script.append(codes.DUPLICATE_SEQUENCE_NUMBER)
        async with producing(world) as producer:
            sent = [await producer.send("t", b"a", partition=0, timestamp=n) for n in (5, 6)]
            told = await asyncio.gather(*sent)
        assert [(one.offset, one.timestamp) for one in told] == [(-1, 5), (-1, 6)]
        assert producer.counts.acked == 2

    play(scene())


@pytest.mark.parametrize("code", [codes.OUT_OF_ORDER_SEQUENCE_NUMBER, codes.UNKNOWN_PRODUCER_ID])
def test_D27_a_lost_sequence_of_the_next_in_line_begins_a_new_epoch(code: ErrorCode) -> None:
    async def scene() -> None:
        world = World()
        async with producing(world) as producer:
            await asyncio.gather(*await send_batches(producer, 2))
            world.log().script.append(code)
            await asyncio.gather(*await send_batches(producer, 3, first=2))
        assert world.log().records == values(5)
        assert [(b.producer_epoch, b.base_sequence) for b in world.log().seen[-3:]] == [(1, 0), (1, 1), (1, 2)]
        balanced(producer)

    play(scene())


def test_D27_a_batch_that_is_refused_uses_up_its_sequence_and_the_rest_goes_on_in_a_new_epoch() -> None:
    async def scene() -> None:
        world = World()
        world.log().script.append(codes.INVALID_RECORD)
        async with producing(world) as producer:
            sent = await send_batches(producer, 4)
            told = await asyncio.gather(*sent, return_exceptions=True)
        assert isinstance(told[0], BrokerError)
        assert world.log().records == values(4)[1:]
        assert (producer.counts.acked, producer.counts.failed) == (3, 1)

    play(scene())


def test_D27_after_the_last_epoch_comes_a_new_id() -> None:
    async def scene() -> None:
        world = World()
        world.epoch_given = 32767
        async with producing(world) as producer:
            await asyncio.gather(*await send_batches(producer, 1))
            world.epoch_given = 0
            world.log().script.append(codes.UNKNOWN_PRODUCER_ID)
            await asyncio.gather(*await send_batches(producer, 2, first=1))
        assert world.log().records == values(3)
        assert world.asked_ids == 2

    play(scene())


def test_D27_a_new_epoch_of_one_partition_does_not_disturb_another() -> None:
    async def scene() -> None:
        world = World({"t": 2})
        async with producing(world) as producer:
            for partition in (0, 1):
                await asyncio.gather(*await send_batches(producer, 2, partition))
            world.log(0).script.append(codes.UNKNOWN_PRODUCER_ID)
            for partition in (0, 1):
                await asyncio.gather(*await send_batches(producer, 2, partition, first=2))
        assert world.log(0).records == world.log(1).records == values(4)

    play(scene())


async def silent() -> None:
    await asyncio.get_running_loop().create_future()


def test_D28_after_an_expired_batch_nothing_new_goes_before_the_epoch_is_renewed() -> None:
    async def scene() -> None:
        world = World()
        async with producing(world) as producer:
            await asyncio.gather(*await send_batches(producer, 1))
            world.log().script += [codes.REQUEST_TIMED_OUT] * 1000
            (first,) = await send_batches(producer, 1, first=1)
            with pytest.raises(UnknownOutcome, match="delivery"):
                await first
            world.log().script.clear()
            await asyncio.gather(*await send_batches(producer, 2, first=2))
        assert [(b.producer_epoch, b.base_sequence) for b in world.log().seen[-2:]] == [(1, 0), (1, 1)]
        assert (producer.counts.unknown, producer.counts.failed, producer.counts.acked) == (1, 0, 3)

    play(scene())


def test_D22_D27_a_batch_that_may_be_stored_is_asked_about_under_its_old_sequence_first() -> None:
    """The first batch is refused, the second was stored but its answer lost: a new sequence would store it twice."""

    async def scene() -> None:
        world = World()

        def lose(log: Log, batch: Batch) -> PartitionProduceResponse:
            log.append(batch)
            return log.answer(codes.REQUEST_TIMED_OUT)

        def store_and_refuse(log: Log, batch: Batch) -> PartitionProduceResponse:
            log.append(batch)
            return log.answer(codes.INVALID_RECORD)

        async with producing(world) as producer:
            await asyncio.gather(*await send_batches(producer, 1))  # from now on several are on the wire at once
            world.log().script += [store_and_refuse, lose]
            told = await asyncio.gather(*await send_batches(producer, 3, first=1), return_exceptions=True)
            await asyncio.gather(*await send_batches(producer, 1, first=4))
        assert [isinstance(one, BrokerError) for one in told] == [True, False, False]
        assert world.log().records == values(5)
        stamps = [(b.producer_epoch, b.base_sequence) for b in world.log().seen]
        assert stamps.count((0, 2)) == 2, "the second was asked about as it had been sent"
        assert stamps[-1] == (1, 0), "and the epoch was renewed after that"

    play(scene())


@pytest.mark.parametrize("idempotence", [True, False])
def test_D22_stored_and_then_lost_is_one_copy_only_with_idempotence(idempotence: bool) -> None:
    async def scene() -> None:
        world = World()

        async def drop() -> None:
            world.broker().then = None
            raise ConnectError("the connection broke", sent=True)

        world.broker().then = drop
        async with producing(world, idempotence=idempotence) as producer:
            (told,) = await asyncio.gather(*await send_batches(producer, 1))
        assert world.log().records == [b"0"] * (1 if idempotence else 2)
        assert told.offset == (0 if idempotence else 1)

    play(scene())


def test_D24_sequences_go_on_per_partition_and_count_records() -> None:
    async def scene() -> None:
        world = World({"t": 2})
        async with producing(world) as producer:
            for size in (3, 4):
                for partition in (0, 1):
                    for _ in range(size):
                        await producer.send("t", b"v", partition=partition)
                await producer.flush()
        for partition in (0, 1):
            assert [batch.base_sequence for batch in world.log(partition).seen] == [0, 3]
            assert {batch.producer_id for batch in world.log(partition).seen} == {101}

    play(scene())


def test_D24_the_sequence_wraps_to_zero_on_the_wire() -> None:
    async def scene() -> None:
        world = World()
        async with producing(world) as producer:
            await asyncio.gather(*await send_batches(producer, 1))
            queue = producer._engine.accumulator.queue("t", 0)
            queue.next_sequence = 2**31 - 3
            epoch, _, recent = world.log().producers[101]
            world.log().producers[101] = (epoch, 2**31 - 3, recent)
            for _ in range(5):
                await producer.send("t", b"v", partition=0)
            await producer.flush()
            await asyncio.gather(*await send_batches(producer, 1))
        assert [batch.base_sequence for batch in world.log().seen[-2:]] == [2**31 - 3, 2]

    play(scene())


def test_D31_a_batch_that_is_too_large_is_split_until_it_fits_and_stays_in_order() -> None:
    async def scene() -> None:
        world = World()
        world.log().limit = 300
        async with producing(world, retries=0) as producer:
            sent = [await producer.send("t", b"%050d" % n, partition=0, timestamp=n) for n in range(40)]
            told = await asyncio.gather(*sent)
        assert world.log().records == [b"%050d" % n for n in range(40)]
        assert [(one.offset, one.timestamp) for one in told] == [(n, n) for n in range(40)]
        balanced(producer)

    play(scene())


def test_D31_a_split_uses_no_retry() -> None:
    """One retry is allowed, and both halves need it."""

    async def scene() -> None:
        world = World()
        async with producing(world, retries=1) as producer:
            sent = [await producer.send("t", b"%d" % n, partition=0) for n in range(4)]
            again = codes.NOT_ENOUGH_REPLICAS
            world.log().script += [codes.MESSAGE_TOO_LARGE, again, Log.append, again]
            await asyncio.gather(*sent)
        assert world.log().records == values(4)
        assert [batch.count for batch in world.log().seen] == [4, 2, 2, 2, 2]

    play(scene())


def test_D31_a_record_the_topic_does_not_take_fails_alone_and_says_why() -> None:
    async def scene() -> None:
        world = World()
        world.log().limit = 500
        async with producing(world) as producer:
            sent = [await producer.send("t", b"x" * size, partition=0) for size in (10, 1000, 20)]
            told: list[Any] = await asyncio.gather(*sent, return_exceptions=True)
        assert isinstance(told[1], KcliError)
        assert "max.message.bytes" in str(told[1])
        assert [len(value or b"") for value in world.log().records] == [10, 20]
        assert (producer.counts.acked, producer.counts.failed) == (2, 1)

    play(scene())


def test_D31_flush_waits_for_the_parts_of_a_split_batch() -> None:
    async def scene() -> None:
        world = World()
        world.log().limit = 300
        async with producing(world) as producer:
            for n in range(20):
                await producer.send("t", b"%050d" % n, partition=0)
            assert await producer.flush(5) == 0
            assert producer.counts.acked == 20

    play(scene())


def test_C6_metadata_that_misses_the_topic_once_loses_no_sequence() -> None:
    async def scene() -> None:
        world = World()
        async with producing(world) as producer:
            await asyncio.gather(*await send_batches(producer, 2))
            world.hidden.add("t")
            world.cached.clear()
            sent = await send_batches(producer, 2, first=2)
            await asyncio.sleep(1)
            world.hidden.clear()
            await asyncio.gather(*sent)
        assert world.log().records == values(4)
        assert [batch.base_sequence for batch in world.log().seen] == [0, 1, 2, 3]

    play(scene())


@pytest.mark.parametrize("hints", [True, False])
def test_C7_D30_A1_10_a_moved_leader_is_followed_at_once_with_a_hint(hints: bool) -> None:
    async def scene() -> None:
        world = World()
        world.hints = hints
        async with producing(world, linger=0.0) as producer:
            await asyncio.gather(*await send_batches(producer, 1))
            world.move(0, 1)
            asked, begin = world.refreshes, now()
            await asyncio.gather(*await send_batches(producer, 3, first=1))
            assert now() - begin < 0.02
            assert world.refreshes - asked == (0 if hints else 1)
        assert world.log().records == values(4)

    play(scene())


@pytest.mark.parametrize("hints", [True, False])
@pytest.mark.parametrize("idempotence", [True, False])
def test_batches_in_flight_when_the_leader_changes_come_first_at_the_new_one(hints: bool, idempotence: bool) -> None:
    """Five batches are with the old leader and four wait behind them; the new leader gets all nine as they were sent,
    and refuses none."""

    async def scene() -> None:
        world = World()
        world.hints = hints
        async with producing(world, idempotence=idempotence) as producer:
            await asyncio.gather(*await send_batches(producer, 1))
            world.nodes_by_id[0].before = moved(world)
            told = await asyncio.gather(*await send_batches(producer, 9, first=1))
        assert world.log().leader == 1
        assert world.log().records == values(10)
        assert [one.offset for one in told] == list(range(1, 10))
        assert [record.value for batch in world.log().seen for record in batch] == values(10)
        balanced(producer)

    play(scene())


@pytest.mark.parametrize("idempotence", [True, False])
def test_a_batch_that_comes_new_waits_while_a_retried_one_is_on_its_way(idempotence: bool) -> None:
    """The first batch fails at two leaders in a row. A second one that went along would be stored before it."""

    async def scene() -> None:
        world = World(latency=0.1)
        log = world.log()
        async with producing(world, idempotence=idempotence, linger=0.0) as producer:
            await asyncio.gather(*await send_batches(producer, 1))
            log.script += [codes.NOT_ENOUGH_REPLICAS, codes.NOT_ENOUGH_REPLICAS]
            first = await send_batches(producer, 1, first=1)
            while len(log.seen) < 2:  # noqa: ASYNC110 - what is waited for has no event
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.15)  # the first retry is on its way
            await asyncio.gather(*first, *await send_batches(producer, 1, first=2))
        assert log.records == values(3)
        assert [record.value for batch in log.seen for record in batch] == [b"0", b"1", b"1", b"1", b"2"]
        balanced(producer)

    play(scene())


def moved(world: World) -> Callable[[], Coroutine[Any, Any, None]]:
    """The partition has another leader, in a new leader epoch, before node 0 looks at the next request."""

    async def move() -> None:
        if world.log().leader == 0:
            world.move(0, 1)

    return move


def test_D30_the_waits_between_attempts_double_up_to_a_second() -> None:
    async def scene() -> None:
        world = World(latency=0.0)
        times: list[float] = []

        def note(log: Log, batch: Batch) -> PartitionProduceResponse:
            times.append(now())
            return log.answer(codes.NOT_ENOUGH_REPLICAS)

        orders: list[Callable[[Log, Batch], PartitionProduceResponse]] = [note] * 7
        world.log().script += orders
        async with producing(world) as producer:
            await asyncio.gather(*await send_batches(producer, 1))
        waits = [after - before for before, after in pairwise(times)]
        for wait, expected in zip(waits, [0.1, 0.2, 0.4, 0.8, 1.0, 1.0]):
            assert 0.79 * expected < wait < 1.21 * expected

    play(scene())
