"""What Java's producer does, row by row of docs/contributors/rules.md, A4, where no other test shows it already."""

from __future__ import annotations

import ast
import asyncio
from pathlib import Path
from typing import Any

import pytest

import kcli
from kcli import codes
from kcli.errors import BufferFull, Closed, KcliError, UsageError
from kcli.model import TopicPartition
from kcli.producer.batches.accumulator import Accumulator
from kcli.producer.batches.active import Active
from kcli.producer.batches.batch import BatchOutcome
from kcli.proto.messages import api_name
from kcli.settings import ProducerSettings
from tests.producer.world import World, balanced, now, play, producing, send_batches


def test_A4_02_the_knobs_have_kafkas_names_and_defaults() -> None:
    """Those of Kafka 4; where kcli's differ the settings say what they are for: batches are large because a command
    line moves files, and buffer.records has no counterpart in Java."""
    settings = ProducerSettings()
    kafkas = {
        "acks": -1, "idempotence": True, "linger": 0.005, "buffer_memory": 32 * 1024 * 1024, "max_block": 60.0,
        "max_request_size": 1_048_576, "delivery_timeout": 120.0, "request_timeout": 30.0, "retries": 2**31 - 1,
        "retry_backoff": 0.1, "retry_backoff_max": 1.0, "max_in_flight": 5, "compression": "none",
        "transaction_timeout": 60.0, "transactional_id": None, "partitioner_availability_timeout": 0.0,
    }  # fmt: skip
    assert {name: getattr(settings, name) for name in kafkas} == kafkas


@pytest.mark.parametrize(("field", "given"), [("key", ("v", "k")), ("value", ("v", None))])
def test_A4_05_text_is_refused_with_the_name_of_the_field(field: str, given: tuple[str, str | None]) -> None:
    async def scene() -> None:
        async with producing(World()) as producer:
            value, key = given
            with pytest.raises(UsageError, match=f"{field} '[vk]': expected bytes or None"):
                await producer.send("t", b"v" if field == "key" else value, key)
        balanced(producer)

    play(scene())


def test_A4_07_records_of_two_partitions_are_two_queues_each_in_order() -> None:
    async def scene() -> None:
        world = World({"t": 2})
        async with producing(world, linger=1.0) as producer:
            for n in range(100):
                await producer.send("t", b"%d" % n, partition=n % 2)
            assert set(producer._engine.accumulator.queues) == {TopicPartition("t", 0), TopicPartition("t", 1)}
        assert [world.log(p).records for p in (0, 1)] == [[b"%d" % n for n in range(p, 100, 2)] for p in (0, 1)]

    play(scene())


def test_A4_08_a_hundred_first_senders_make_one_queue_and_lose_nothing() -> None:
    async def scene() -> None:
        world = World()
        async with producing(world, linger=1.0) as producer:
            await asyncio.gather(*(producer.send("t", b"%d" % n, partition=0) for n in range(100)))
            (queue,) = producer._engine.accumulator.queues.values()
            assert queue.open is not None
            assert queue.open.builder.count == 100
        assert sorted(world.log().records, key=lambda value: int(value or b"")) == [b"%d" % n for n in range(100)]

    play(scene())


def test_A4_09_only_the_last_batch_is_appended_to() -> None:
    """Big, small, small: the small ones would fit the first batch, and go into the second all the same."""

    async def scene() -> None:
        world = World()
        async with producing(world, linger=1.0, batch_size=1000) as producer:
            for size in (700, 500, 10, 10):
                await producer.send("t", b"x" * size, partition=0)
        assert [batch.count for batch in world.log().seen] == [1, 3]

    play(scene())


def test_A4_10_a_close_that_races_with_a_send_leaves_no_record_in_between() -> None:
    async def race(turns: int) -> None:
        world = World()
        producer = producing(world, linger=0.0)
        async with producer:
            sending = asyncio.create_task(producer.send("t", b"v", partition=0))
            for _ in range(turns):
                await asyncio.sleep(0)
            await producer.close(1.0)
            (told,) = await asyncio.gather(sending, return_exceptions=True)
            if isinstance(told, asyncio.Future):
                assert told.done()
                assert (told.exception() is None) == (world.log().records == [b"v"])
            else:
                assert isinstance(told, Closed)
                assert world.log().records == []
        balanced(producer)

    for turns in range(12):
        play(race(turns))


def test_A4_12_two_who_waited_for_memory_share_a_batch_and_leak_nothing() -> None:
    async def scene() -> None:
        world = World()
        async with producing(world, buffer_records=2, linger=0.5) as producer:
            for _ in range(2):
                await producer.send("t", b"first", partition=0)
            waiting = [asyncio.create_task(producer.send("t", b"%d" % n, partition=0)) for n in range(2)]
            await asyncio.gather(*await asyncio.gather(*waiting))
        assert [batch.count for batch in world.log().seen] == [2, 2]
        balanced(producer)

    play(scene())


def test_A4_11_a_waiter_waits_exactly_max_block() -> None:
    async def scene() -> None:
        world = World()
        async with producing(world, buffer_records=1, max_block=3.0, linger=10.0, delivery_timeout=20.0) as producer:
            await asyncio.gather(*await send_batches(producer, 1))
            world.latency = 15.0
            await producer.send("t", b"held", partition=0)
            begin = now()
            with pytest.raises(BufferFull, match=r"max\.block"):
                await producer.send("t", b"waits", partition=0)
            assert now() - begin == pytest.approx(3.0, abs=1e-6)
            world.latency = 0.001

    play(scene())


def test_A4_14_a_thousand_appends_into_an_open_batch_are_one_wake_up() -> None:
    woken: list[int] = []
    settings, active = ProducerSettings(linger=1.0), Active(lambda at: 0, lambda: 0)
    hushed = (lambda batch: None), (lambda queue, batch: None)
    accumulator = Accumulator(settings, active, lambda queue: woken.append(1), *hushed)
    queue = accumulator.queue("t", 0)
    for _ in range(1000):
        batch = accumulator.open(queue, 0.0)
        batch.builder.append(0, None, b"v")
        accumulator.appended(queue, batch, full=False)
    assert len(woken) == 1
    accumulator.close(queue)
    assert len(woken) == 2


@pytest.mark.parametrize("end", ["success", "failure", "expiry", "split", "close"])
def test_A4_15_nothing_is_incomplete_whatever_the_end(end: str) -> None:
    async def scene() -> None:
        world = World()
        producer = producing(world, linger=0.01)
        async with producer:
            log = world.log()
            if end == "failure":
                log.script += [codes.INVALID_RECORD]
            elif end == "expiry":
                log.script += [codes.NOT_ENOUGH_REPLICAS] * 10_000
            elif end == "split":
                log.script += [codes.MESSAGE_TOO_LARGE]
            for n in range(4):
                await producer.send("t", b"%d" % n, partition=0)
            assert producer._engine.accumulator.incomplete
            if end == "close":
                await producer.close(0)
            else:
                await producer.flush()
            assert producer._engine.accumulator.incomplete == set()
        balanced(producer)

    play(scene())


READY = ["full", "linger over", "memory exhausted", "closed", "flushing", "a newer batch behind it", "backing off"]


@pytest.mark.parametrize("why", READY)
def test_A4_19_each_condition_alone_makes_a_batch_sendable_and_backing_off_does_not(why: str) -> None:
    async def scene() -> None:
        world = World()
        async with producing(world, linger=10.0, batch_size=1000, buffer_records=3, max_block=5.0) as producer:
            seen = world.log().seen
            if why == "backing off":
                world.log().script += [codes.NOT_ENOUGH_REPLICAS]
            await producer.send("t", b"v", partition=0)
            await asyncio.sleep(0.05)
            assert seen == []
            if why == "full":
                await producer.send("t", b"x" * 990, partition=0)
            elif why == "linger over":
                await asyncio.sleep(10.0)
            elif why == "memory exhausted":
                await producer.send("t", b"v", partition=0)
                await producer.send("t", b"v", partition=0)
                waits = asyncio.create_task(producer.send("t", b"v", partition=0))
                await asyncio.sleep(0.02)
                await waits
            elif why == "closed":
                await producer.close(1.0)
            elif why == "flushing":
                await producer.flush()
            elif why == "a newer batch behind it":
                producer._engine.accumulator.close(producer._engine.accumulator.queue("t", 0))
            else:
                producer._engine.accumulator.close_all()
                await asyncio.sleep(0.03)
                assert len(seen) == 1  # it came back, and waits for its backoff
                await asyncio.sleep(0.03)
                assert len(seen) == 1
                await asyncio.sleep(0.1)
            await asyncio.sleep(0.02)
            assert len(seen) == (2 if why == "backing off" else 1)

    play(scene())


def test_A4_21_a_broker_that_is_down_is_not_asked_in_a_tight_loop() -> None:
    async def scene() -> None:
        world = World(nodes=1)
        async with producing(world, delivery_timeout=60.0) as producer:
            await asyncio.gather(*await send_batches(producer, 1))
            world.nodes_by_id[0].up = False
            asked, find = [0], world.known_node

            def counted(node_id: int) -> object:
                asked[0] += 1
                return find(node_id)

            world.known_node = counted  # type: ignore[assignment, method-assign]
            (lost,) = await send_batches(producer, 1, first=1)
            with pytest.raises(KcliError):
                await lost
            assert 40 <= asked[0] <= 80  # a minute with a backoff of a second
            assert world.refreshes <= 80

    play(scene())


def test_A4_24_a_produce_may_take_the_brokers_time_and_other_requests_have_their_own() -> None:
    seen: dict[str, float | None] = {}

    async def scene() -> None:
        world = World(nodes=1)
        broker = world.nodes_by_id[0]
        ask = broker.ask

        async def watched(request: Any, **options: object) -> object:
            seen[api_name(request.api_key)] = options.get("timeout")  # type: ignore[assignment]
            return await ask(request, **options)

        broker.ask = watched  # type: ignore[method-assign]
        async with producing(world, request_timeout=12.0, delivery_timeout=20.0) as producer:
            await (await producer.send("t", b"v"))
        (request,) = broker.requests
        assert request.timeout_ms == 12_000
        assert request.acks == -1

    play(scene())
    assert seen["Produce"] == 12.0 + 5.0  # the broker may take all of it, and still has to answer
    assert seen["InitProducerId"] is None  # the client's own


IN_A_THREAD = {"tokens.py"}
BLOCKING = {("time", "sleep"), ("socket", "create_connection"), ("select", "select"), ("subprocess", "run")}
SOCKETS = {"recv", "sendall", "recv_into", "accept"}
ENGINES = ("broker", "cluster", "producer", "consumer", "security")


def test_A4_26_no_engine_makes_a_blocking_call() -> None:
    """asyncio does the I/O: no engine calls what blocks, but in a thread (where a token comes from)."""
    for package in ENGINES:
        for path in sorted((Path(kcli.__file__).parent / package).rglob("*.py")):
            if path.name in IN_A_THREAD:
                assert "await in_daemon_thread(" in path.read_text()
                continue
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                    owner = node.func.value.id if isinstance(node.func.value, ast.Name) else ""
                    assert (owner, node.func.attr) not in BLOCKING, f"{path.name}:{node.lineno}"
                    assert node.func.attr not in ("recv", "sendall", "recv_into", "accept"), (
                        f"{path.name}:{node.lineno}"
                    )


def test_A4_22_with_one_in_flight_a_partition_is_muted_until_its_batch_is_settled() -> None:
    async def scene() -> None:
        world = World()
        async with producing(world, max_in_flight=1, linger=0.0) as producer:
            await asyncio.gather(*await send_batches(producer, 1))
            world.log().script += [codes.NOT_ENOUGH_REPLICAS]
            sent = await send_batches(producer, 2, first=1)
            await asyncio.gather(*sent)
        values = [[record.value for record in batch] for batch in world.log().seen]
        assert values == [[b"0"], [b"1"], [b"1"], [b"2"]]

    play(scene())


def test_D1_nothing_is_awaited_between_the_choice_of_the_partition_and_the_append() -> None:
    """Senders that interleave at every await fill each batch to the brim: none finds that another came between."""
    outcomes: list[BatchOutcome] = []

    async def scene() -> None:
        world = World({"t": 4})
        async with producing(world, outcomes, linger=0.05, batch_size=2000) as producer:

            async def sender(first: int) -> None:
                for n in range(first, first + 50):
                    await producer.send("t", b"%05d" % n)
                    await asyncio.sleep(0)

            await asyncio.gather(*(sender(1000 * k) for k in range(20)))
            await producer.flush()
        stored = [int(value or b"") for log in world.logs.values() for value in log.records]
        assert sorted(stored) == sorted(1000 * k + n for k in range(20) for n in range(50))
        for log in world.logs.values():
            for k in range(20):
                mine = [int(v or b"") for v in log.records if int(v or b"") // 1000 == k]
                assert mine == sorted(mine)

    play(scene())


def test_A4_18_the_engine_lives_after_every_answer_a_broker_can_give() -> None:
    async def scene() -> None:
        for code in [one for one in vars(codes).values() if isinstance(one, codes.ErrorCode) and one.number]:
            world = World()
            async with producing(world, delivery_timeout=6.0, request_timeout=5.0) as producer:
                world.log().script += [code] * 2
                await asyncio.gather(*await send_batches(producer, 3), return_exceptions=True)
                world.log().script.clear()
                assert producer._engine.poison is None, code
                await (await producer.send("t", b"after", partition=0))
            assert world.log().records[-1] == b"after", code
            balanced(producer)

    play(scene())
