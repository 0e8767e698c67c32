"""Flow: memory, deadlines, flush, close, cancellation, requests and their answers."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from kcli import codes
from kcli.errors import (
    AuthError,
    BrokerError,
    BufferFull,
    Closed,
    ConnectError,
    KcliError,
    TlsError,
    UnknownOutcome,
    UsageError,
)
from kcli.producer.batches.batch import BatchOutcome
from kcli.producer.producer import Producer
from kcli.proto.batch import Batch
from kcli.proto.messages.produce import (
    BatchIndexAndErrorMessage,
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)
from kcli.proto.murmur2 import partition_of
from kcli.settings import ProducerSettings
from tests.producer.world import SHORT, Log, World, balanced, now, play, producing, send_batches


async def down(world: World) -> None:
    for broker in world.nodes_by_id.values():
        broker.up = False


# -- requests ---------------------------------------------------------------------------------------------------------


def test_A1_01_a_thousand_records_of_one_tick_are_one_request() -> None:
    async def scene() -> None:
        world = World()
        async with producing(world) as producer:
            for _ in range(1000):
                await producer.send("t", b"v" * 10)
        assert [len(broker.requests) for broker in world.nodes_by_id.values()] == [1, 0, 0]

    play(scene())


def test_D9_one_batch_per_partition_in_a_request_and_others_ride_along() -> None:
    async def scene() -> None:
        world = World({"t": 2}, nodes=1)
        async with producing(world, linger=1.0) as producer:
            sent = await send_batches(producer, 3, 0)
            sent += await send_batches(producer, 3, 1)
            await asyncio.gather(*sent)
        shapes = [[len(topic.partition_data) for topic in r.topic_data] for r in world.broker().requests]
        assert shapes == [[2], [2], [2]]

    play(scene())


def test_A4_23_all_partitions_have_their_turn_when_requests_are_small() -> None:
    async def scene() -> None:
        world = World({"t": 20}, nodes=1)
        async with producing(world, max_request_size=500, batch_size=100, max_in_flight=1) as producer:
            for partition in range(20):
                for _ in range(5):
                    await producer.send("t", b"v" * 60, partition=partition)
            await producer.flush()
        served = [p.index for r in world.broker().requests for topic in r.topic_data for p in topic.partition_data]
        assert sorted(served[:20]) == list(range(20))

    play(scene())


@pytest.mark.parametrize(("known", "cap"), [(True, None), (False, 12)])
def test_C8_without_topic_ids_the_version_stays_below_them(known: bool, cap: int | None) -> None:
    async def scene() -> None:
        world = World()
        world.with_ids = known
        async with producing(world) as producer:
            await (await producer.send("t", b"v"))
        assert world.broker().capped == [cap]

    play(scene())


@pytest.mark.parametrize("acks", [1, -1])
def test_D21_A4_01_acks_and_timeout_are_on_the_wire(acks: int) -> None:
    async def scene() -> None:
        world = World()
        async with producing(world, acks=acks, idempotence=False) as producer:
            await (await producer.send("t", b"v"))
        (request,) = world.broker().requests
        assert (request.acks, request.timeout_ms) == (acks, 5000)
        assert world.log().seen[0].producer_id == -1

    play(scene())


def test_D20_A5_14_acks_0_is_a_success_at_an_unknown_offset_once_written() -> None:
    async def scene() -> None:
        world = World()
        async with producing(world, acks=0, idempotence=False) as producer:
            told = await (await producer.send("t", b"v"))
        assert told.offset == -1
        assert world.log().records == [b"v"]

    play(scene())


def test_D21_too_few_replicas_is_retried_until_it_works() -> None:
    async def scene() -> None:
        world = World()
        world.log().script += [codes.NOT_ENOUGH_REPLICAS] * 3
        async with producing(world) as producer:
            assert (await (await producer.send("t", b"v"))).offset == 0

    play(scene())


def test_D8_a_record_larger_than_a_request_is_refused_before_sending() -> None:
    async def scene() -> None:
        world = World()
        async with producing(world) as producer:
            assert (await (await producer.send("t", bytes(1_048_576 - 100)))).offset == 0
            with pytest.raises(BrokerError, match=r"max\.request\.size"):
                await producer.send("t", bytes(1_048_577))
            line = b"x" * 1_100_000 + b"\nshort\n"
            assert await producer.send_lines("t", line, 0, len(line)) == len(line)
            await producer.flush()
            assert (producer.counts.acked, producer.counts.failed) == (2, 1)
        balanced(producer)

    play(scene())


# -- answers ----------------------------------------------------------------------------------------------------------


def test_D33_a_partition_the_answer_does_not_mention_is_retried() -> None:
    async def scene() -> None:
        world = World({"t": 3}, nodes=1)

        def forget(response: ProduceResponse) -> None:
            world.broker().change = lambda response: None
            del response.responses[0].partition_responses[1]

        world.broker().change = forget
        async with producing(world) as producer:
            sent = [await producer.send("t", b"v", partition=partition) for partition in range(3)]
            await asyncio.gather(*sent)
        assert [log.records for log in world.logs.values()] == [[b"v"]] * 3

    play(scene())


def test_D33_extra_and_duplicate_partitions_break_nothing() -> None:
    async def scene() -> None:
        world = World({"t": 2}, nodes=1)

        def muddle(response: ProduceResponse) -> None:
            world.broker().change = lambda response: None
            told = response.responses[0].partition_responses
            told += [told[0], PartitionProduceResponse(index=77)]
            response.responses.append(TopicProduceResponse(name="never asked"))

        world.broker().change = muddle
        async with producing(world) as producer:
            sent = [await producer.send("t", b"v", partition=partition) for partition in range(2)]
            assert [one.offset for one in await asyncio.gather(*sent)] == [0, 0]
        assert [log.records for log in world.logs.values()] == [[b"v"]] * 2

    play(scene())


@pytest.mark.parametrize(("append_time", "times"), [(-1, [5, 7, 6]), (99, [99, 99, 99])])
def test_D32_A4_13_each_record_keeps_its_own_time_unless_the_broker_set_one(append_time: int, times: list[int]) -> None:
    async def scene() -> None:
        world = World()

        def stamp(response: ProduceResponse) -> None:
            response.responses[0].partition_responses[0].log_append_time_ms = append_time

        world.broker().change = stamp
        async with producing(world) as producer:
            sent = [await producer.send("t", b"v", timestamp=n) for n in (5, 7, 6)]
            told = await asyncio.gather(*sent)
        assert [one.timestamp for one in told] == times
        assert [(one.topic, one.partition, one.offset) for one in told] == [("t", 0, n) for n in range(3)]

    play(scene())


def test_D23_of_a_batch_with_a_bad_record_only_that_one_has_its_own_reason() -> None:
    async def scene() -> None:
        world = World()

        def refuse(log: Log, batch: Batch) -> PartitionProduceResponse:
            answer = log.answer(codes.INVALID_RECORD)
            answer.record_errors = [BatchIndexAndErrorMessage(batch_index=1, batch_index_error_message="no key")]
            return answer

        world.log().script.append(refuse)
        async with producing(world) as producer:
            sent = [await producer.send("t", b"v") for _ in range(3)]
            told: list[Any] = await asyncio.gather(*sent, return_exceptions=True)
        assert ["no key" in str(one) for one in told] == [False, True, False]
        assert "part of a batch" in str(told[0])

    play(scene())


@pytest.mark.parametrize("code", [codes.REQUEST_TIMED_OUT, codes.NOT_ENOUGH_REPLICAS_AFTER_APPEND])
def test_D22_what_may_be_stored_is_counted_as_unknown(code: codes.ErrorCode) -> None:
    async def scene() -> None:
        world = World()
        world.log().script += [code] * 100
        outcomes: list[BatchOutcome] = []
        async with producing(world, outcomes, retries=2) as producer:
            await producer.send("t", b"v")
        counts = producer.counts
        assert (counts.acked, counts.failed, counts.unknown) == (0, 0, 1)
        assert [(one.unknown, one.base_offset) for one in outcomes] == [(True, -1)]
        balanced(producer)

    play(scene())


# -- memory -----------------------------------------------------------------------------------------------------------


def test_A1_09_a_full_buffer_ends_every_linger_at_once() -> None:
    async def scene() -> None:
        world = World()
        async with producing(world, linger=10.0, buffer_records=10) as producer:
            for number in range(11):
                await producer.send("t", b"%d" % number)
            assert now() < 0.1

    play(scene())


def test_D7_A4_17_metadata_and_memory_share_one_max_block() -> None:
    async def scene() -> None:
        world = World()
        async with producing(world, linger=10.0, buffer_records=1, max_block=3.0) as producer:
            await producer.send("t", b"v")
            await down(world)
            producer._records._placement.forget(["t"])
            world.latency = 2.0
            world.cached.clear()
            begin = now()
            with pytest.raises(BufferFull):
                await producer.send("t", b"v")
            assert 2.9 < now() - begin < 3.1
            with pytest.raises(BufferFull):
                await producer.send("t", b"v", block=False)

    play(scene())


def test_A1_07_A1_08_flush_waits_for_blocked_senders_and_not_for_cancelled_ones() -> None:
    async def scene() -> None:
        world = World()
        async with producing(world, linger=10.0, buffer_records=1) as producer:
            await producer.send("t", b"0")
            blocked = [asyncio.create_task(producer.send("t", b"%d" % n)) for n in (1, 2, 3)]
            await asyncio.sleep(0)
            flushing = asyncio.create_task(producer.flush())
            await asyncio.sleep(0)
            blocked[1].cancel()
            assert await flushing == 0
            assert world.log().records == [b"0", b"1", b"3"]
        balanced(producer)

    play(scene())


def test_A1_08_flush_ends_when_the_only_one_it_waits_for_gives_up() -> None:
    async def scene() -> None:
        world = World()
        world.hidden.add("t")
        async with producing(world) as producer:
            world.latency = 5.0
            asking = asyncio.create_task(producer.send("t", b"v"))
            await asyncio.sleep(0.1)
            flushing = asyncio.create_task(producer.flush())
            await asyncio.sleep(0.1)
            asking.cancel()
            assert await flushing == 0
            assert now() < 1

    play(scene())


def test_D6_B29_cancelled_at_every_turn_a_sender_loses_no_room() -> None:
    async def scene() -> None:
        world = World({"t": 2})
        async with producing(world, buffer_records=3, linger=0.05) as producer:
            for turn in range(40):
                senders = [asyncio.create_task(producer.send("t", b"v")) for _ in range(6)]
                for _ in range(turn % 13):
                    await asyncio.sleep(0)
                senders[turn % 6].cancel()
                await asyncio.gather(*senders, return_exceptions=True)
        balanced(producer)

    play(scene())


def test_A1_17_a_small_buffer_does_not_mean_batches_of_one_record() -> None:
    async def scene() -> None:
        world = World()
        async with producing(world, buffer_records=100) as producer:

            async def user() -> None:
                for _ in range(10):
                    await producer.send("t", b"v", partition=0)

            await asyncio.gather(*(user() for _ in range(200)))
        assert len(world.log().records) == 2000
        assert len(world.log().seen) < 100

    play(scene())


def test_D3_while_the_broker_is_slow_batches_grow() -> None:
    async def scene() -> None:
        world = World(latency=1.0)
        async with producing(world, linger=0.0) as producer:
            for number in range(100):
                await producer.send("t", b"%d" % number, partition=0)
                await asyncio.sleep(0.01)
        assert len(world.log().seen) <= 4

    play(scene())


def test_A5_18_a_full_buffer_and_a_pending_answer_make_progress() -> None:
    async def scene() -> None:
        world = World({"t": 3}, latency=0.01)
        async with producing(world, buffer_memory=2000, batch_size=1000) as producer:
            chunk = b"x" * 99 + b"\n"
            data = chunk * 500
            assert await producer.send_lines("t", data, 0, len(data)) == len(data)
            keyed = b"k%d:v\n"
            data = b"".join(keyed % n for n in range(500))
            assert await producer.send_lines("t", data, 0, len(data), key_delimiter=b":") == len(data)
        assert producer.counts.acked == 1000
        balanced(producer)

    play(scene())


# -- time -------------------------------------------------------------------------------------------------------------


def test_D29_with_all_brokers_down_everything_fails_in_order_at_the_delivery_timeout() -> None:
    async def scene() -> None:
        world = World()
        outcomes: list[BatchOutcome] = []
        async with producing(world, outcomes) as producer:
            await (await producer.send("t", b"first"))
            await down(world)
            begin = now()
            sent = await send_batches(producer, 10)
            told = await asyncio.gather(*sent, return_exceptions=True)
            assert all(isinstance(one, BrokerError) for one in told)
            assert 20 <= now() - begin < 21
        assert (producer.counts.failed, producer.counts.unknown) == (10, 0)
        balanced(producer)

    play(scene())


def test_D29_a_batch_that_hangs_on_the_wire_is_unknown_at_the_delivery_timeout() -> None:
    async def scene() -> None:
        world = World(latency=21.0)
        async with producing(world) as producer:
            world.latency = 0.001
            warm = await producer.send("t", b"v")
            await warm
            world.latency = 100.0
            begin = now()
            with pytest.raises(UnknownOutcome, match=r"delivery\.timeout"):
                await (await producer.send("t", b"v"))
            assert 20 <= now() - begin < 20.1
            assert producer.counts.unknown == 1

    play(scene())


def test_D29_the_settings_must_leave_room_for_linger_and_a_request() -> None:
    async def scene() -> None:
        for wrong in (
            {"delivery_timeout": 5.0, "request_timeout": 5.0, "linger": 1.0},
            {"acks": 1},
            {"max_in_flight": 6},
        ):
            with pytest.raises(UsageError):
                Producer(World(), ProducerSettings(**wrong))  # type: ignore[arg-type]

    play(scene())


def test_D43_flush_ends_linger_at_once_and_tells_what_is_left_at_its_deadline() -> None:
    async def scene() -> None:
        world = World()
        settings: dict[str, Any] = {"linger": 3600.0, "delivery_timeout": 4000.0}
        async with producing(world, **settings) as producer:
            await producer.send("t", b"v")
            assert await producer.flush() == 0
            assert now() < 0.1
            await down(world)
            for _ in range(3):
                await producer.send("t", b"v")
            begin = now()
            assert list(await asyncio.gather(producer.flush(1), producer.flush(1))) == [3, 3]
            assert 0.9 < now() - begin < 1.1
            await producer.close(0)
        balanced(producer)
        assert producer.counts.failed + producer.counts.unknown == 3

    play(scene())


@pytest.mark.parametrize("what", ["send", "send_records", "send_lines"])
def test_D43_flush_waits_for_the_only_sender_that_still_looks_up_the_topic(what: str) -> None:
    """Nothing is buffered when flush begins; the record comes later, and does not linger then."""

    async def scene() -> None:
        world = World(latency=1.0)
        async with producing(world, linger=3600.0, delivery_timeout=4000.0) as producer:
            calls = {
                "send": lambda: producer.send("t", b"v"),
                "send_records": lambda: producer.send_records("t", [(None, None, None, b"v", ())]),
                "send_lines": lambda: producer.send_lines("t", b"v\n", 0, 2),
            }
            sending = asyncio.create_task(calls[what]())  # type: ignore[arg-type]
            await asyncio.sleep(0.5)
            assert producer.counts.accepted == 0
            assert await producer.flush() == 0
            assert producer.counts.acked == 1
            assert now() < 10
            await sending

    play(scene())


def test_D44_A4_27_A5_04_close_0_settles_everything_at_once_and_refuses_what_comes_after() -> None:
    async def scene() -> None:
        world = World(latency=1.0)
        producer = producing(world, linger=10.0, buffer_records=5)
        async with producer:
            sent = [await producer.send("t", b"v") for _ in range(5)]
            blocked = asyncio.create_task(producer.send("t", b"v"))
            await asyncio.sleep(0)
            begin = now()
            await producer.close(0)
            assert now() - begin < 0.001
            told = await asyncio.gather(*sent, blocked, return_exceptions=True)
            assert all(isinstance(one, Closed) for one in told)
            with pytest.raises(Closed):
                await producer.send("t", b"v")
        balanced(producer)

    play(scene())


def test_D44_with_all_brokers_down_close_ends_at_its_deadline_and_a_second_close_cuts_it_short() -> None:
    async def scene() -> None:
        for second, limit in ((None, 2.1), (0.0, 0.6)):
            world = World()
            producer = producing(world)
            await producer.start()
            sent = await producer.send("t", b"v")
            await down(world)
            begin = now()
            closing = asyncio.create_task(producer.close(2))
            await asyncio.sleep(0.5)
            if second is not None:
                await producer.close(second)
            await closing
            assert now() - begin < limit
            assert isinstance(sent.exception(), Closed)
            balanced(producer)

    play(scene())


def test_D44_closing_from_on_batch_and_a_callback_that_raises_stop_nothing() -> None:
    async def scene() -> None:
        world, problems = World(), list[Any]()
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: problems.append(context["exception"]))
        producer = producing(world)
        closing: list[asyncio.Task[None]] = []

        def on_batch(outcome: BatchOutcome) -> None:
            closing.append(asyncio.get_running_loop().create_task(producer.close()))
            raise ValueError("mine")

        producer.on_batch = on_batch
        await producer.start()
        assert (await (await producer.send("t", b"v"))).offset == 0
        await asyncio.gather(*closing)
        assert [str(problem) for problem in problems] == ["mine"]

    play(scene())


# -- the end of all things --------------------------------------------------------------------------------------------


def test_B29_A5_27_a_task_that_dies_poisons_the_producer_and_nobody_hangs() -> None:
    async def scene() -> None:
        world = World()

        async def explode() -> None:
            raise ZeroDivisionError("a bug")

        async with producing(world, buffer_records=2) as producer:
            world.broker().before = explode
            sent = [await producer.send("t", b"v") for _ in range(2)]
            blocked = asyncio.create_task(producer.send("t", b"v"))
            told: list[Any] = await asyncio.gather(*sent, blocked, return_exceptions=True)
            assert all("ZeroDivisionError" in str(one) for one in told)
            assert await producer.flush() == 0
            with pytest.raises(KcliError, match="ZeroDivisionError"):
                await producer.send("t", b"v")
        balanced(producer)

    play(scene())


@pytest.mark.parametrize("problem", [codes.CLUSTER_AUTHORIZATION_FAILED, AuthError("no"), TlsError("no")])
def test_D24_an_id_that_is_refused_fails_what_waits_with_the_reason(problem: Any) -> None:
    async def scene() -> None:
        world = World()
        world.id_errors.append(problem)
        async with producing(world) as producer:
            with pytest.raises(KcliError):
                await (await producer.send("t", b"v"))
        assert world.log().seen == []

    play(scene())


def test_D24_trouble_on_the_way_to_an_id_is_waited_out() -> None:
    async def scene() -> None:
        world = World()
        world.id_errors += [codes.COORDINATOR_LOAD_IN_PROGRESS, ConnectError("down")]
        async with producing(world) as producer:
            assert (await (await producer.send("t", b"v"))).offset == 0

    play(scene())


def test_A5_25_without_retries_the_error_is_told_at_once_and_the_next_record_finds_the_leader() -> None:
    async def scene() -> None:
        world = World()
        async with producing(world, retries=0) as producer:
            await (await producer.send("t", b"0"))
            world.move(0, 2)
            with pytest.raises(UnknownOutcome, match="NOT_LEADER"):
                await (await producer.send("t", b"1"))
            await (await producer.send("t", b"2"))
        assert world.log().records == [b"0", b"2"]

    play(scene())


# -- partitions -------------------------------------------------------------------------------------------------------


def test_D11_keys_go_where_java_puts_them_whoever_leads() -> None:
    async def scene() -> None:
        world = World({"t": 6})
        async with producing(world) as producer:
            keys = [b"%d" % n for n in range(100)] + [b""]
            for key in keys:
                await producer.send("t", key, key)
            data = b"".join(b"%b:%b\n" % (key, key) for key in keys)
            await producer.send_lines("t", data, 0, len(data), key_delimiter=b":")
        for log in world.logs.values():
            mine = [key for key in keys if partition_of(key, 6) == log.at.partition]
            assert log.records == mine + mine

    play(scene())


def test_D12_A4_04_lines_spread_evenly_and_leave_out_the_leaderless() -> None:
    async def scene() -> None:
        world = World({"t": 4}, nodes=4)
        async with producing(world, batch_size=2000) as producer:
            await producer.send("t", b"warm", partition=0)
            await producer.flush()
            del world.cached[world.log(3).at]
            data = (b"x" * 99 + b"\n") * 20_000
            for start in range(0, len(data), 100_000):
                await producer.send_lines("t", data, start, start + 100_000)
        counts = [len(log.records) for log in world.logs.values()]
        assert counts[3] == 0
        assert all(abs(count - 20_000 / 3) < 20_000 / 3 * 0.1 for count in counts[:3]), counts

    play(scene())


def test_D13_a_partition_that_does_not_exist_is_looked_up_once_more() -> None:
    async def scene() -> None:
        world = World({"t": 3})
        async with producing(world) as producer:
            await producer.send("t", b"v")
            asked = world.refreshes
            with pytest.raises(UsageError, match="0-2"):
                await producer.send("t", b"v", partition=7)
            assert world.refreshes == asked + 1
            world.add_partitions("t", 8)
            await (await producer.send("t", b"v", partition=7))

    play(scene())


@pytest.mark.parametrize("age", [20.0, 200.0])
def test_D14_new_partitions_are_used_after_the_age_of_the_metadata(age: float) -> None:
    async def scene() -> None:
        world = World({"t": 3})
        async with Producer(world, ProducerSettings(**SHORT), metadata_max_age=age) as producer:  # type: ignore[arg-type]
            await producer.send("t", b"v")
            world.add_partitions("t", 6)
            for seconds, expected in ((age - 5, 3), (6, 6)):
                await asyncio.sleep(seconds)
                await producer.send("t", b"v")
                await asyncio.sleep(1)
                for n in range(100):
                    await producer.send("t", b"v", key=b"%d" % n)
                await producer.flush()
                assert sum(1 for log in world.logs.values() if log.records) == expected

    play(scene())


def test_A4_20_a_partition_nobody_leads_does_not_delay_another_that_moves() -> None:
    async def scene() -> None:
        world = World({"t": 2})
        async with producing(world) as producer:
            for partition in (0, 1):
                await (await producer.send("t", b"v", partition=partition))
            world.log(0).leader = -1
            lost = await producer.send("t", b"v", partition=0)
            await asyncio.sleep(5)
            asked = world.refreshes
            await asyncio.sleep(10)
            assert 5 < world.refreshes - asked < 20  # with backoff (A4.20)
            world.move(1, 2)
            begin = now()
            await (await producer.send("t", b"v", partition=1))
            assert now() - begin < 0.05
            world.move(0, 1)
            await lost

    play(scene())


def test_A4_20_a_search_after_one_that_was_given_up_begins_with_the_shortest_back_off() -> None:
    async def scene() -> None:
        world = World()
        async with producing(world, delivery_timeout=6.0, request_timeout=5.0, retry_backoff_max=1.0) as producer:
            await (await producer.send("t", b"v"))
            world.log(0).leader = -1
            lost = await producer.send("t", b"v")
            await asyncio.wait([lost])
            assert isinstance(lost.exception(), KcliError)  # its time is over, and the pauses were the longest by then
            await asyncio.sleep(20)
            asked, later = world.refreshes, await producer.send("t", b"v")
            await asyncio.sleep(0.5)
            assert world.refreshes - asked >= 3  # after 0.1 s, 0.3 s
            world.move(0, 1)
            await later

    play(scene())


def test_A5_05_there_is_one_task_per_broker_and_none_per_partition() -> None:
    async def scene() -> None:
        world = World({"t": 100}, nodes=2)
        async with producing(world) as producer:
            for partition in range(100):
                await producer.send("t", b"v", partition=partition)
            await producer.flush()
            assert len(asyncio.all_tasks()) <= 2 + 2 * 2

    play(scene())


def test_A1_02_send_returns_before_the_answer() -> None:
    async def scene() -> None:
        world = World(latency=2.0)
        async with producing(world) as producer:
            await producer.send("t", b"v")
            begin, clock = now(), time.monotonic()
            await producer.send("t", b"v")
            assert now() == begin
            assert time.monotonic() - clock < 1

    play(scene())
