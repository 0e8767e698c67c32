"""Promises and hooks: each record's fate is told exactly once, whatever becomes of it."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from kcli import codes
from kcli.errors import BrokerError, Closed, KcliError, UnknownOutcome, UsageError
from kcli.producer.batches.batch import RecordMetadata
from kcli.producer.intake.interceptors import ProducerRecord
from kcli.producer.producer import Producer
from kcli.settings import ProducerSettings
from tests.producer.world import SHORT, World, balanced, play, producing


class Told:
    """What an on_delivery was called with, by value."""

    def __init__(self) -> None:
        self.calls: dict[bytes, list[tuple[RecordMetadata | None, KcliError | None]]] = {}

    def of(self, value: bytes) -> Any:
        self.calls[value] = []
        return lambda metadata, error: self.calls[value].append((metadata, error))


def test_A1_03_each_promise_fires_exactly_once_on_success_error_timeout_cancel_and_close() -> None:
    told = Told()

    async def scene() -> None:
        world = World()
        async with producing(world) as producer:

            async def send(value: bytes) -> asyncio.Future[RecordMetadata]:
                future = await producer.send("t", value, partition=0, on_delivery=told.of(value))
                producer._engine.accumulator.close_all()
                return future

            await (await send(b"success"))
            world.log().script += [codes.INVALID_RECORD]
            with pytest.raises(BrokerError, match="INVALID_RECORD"):
                await (await send(b"error"))
            world.log().script += [codes.NOT_ENOUGH_REPLICAS] * 10_000
            with pytest.raises(BrokerError, match=r"delivery\.timeout"):
                await (await send(b"timeout"))
            world.log().script.clear()
            (await send(b"cancel")).cancel()
            await producer.flush()
            world.latency = 1000.0
            await send(b"close, on the wire")
            await asyncio.sleep(0.1)
            await producer.send("t", b"close, in memory", partition=0, on_delivery=told.of(b"close, in memory"))
            await producer.close(0)
        balanced(producer)

    play(scene())
    assert {value: len(calls) for value, calls in told.calls.items()} == dict.fromkeys(told.calls, 1)
    ends = {value: calls[0] for value, calls in told.calls.items()}
    metadata, error = ends[b"success"]
    assert error is None
    assert metadata is not None
    assert (metadata.topic, metadata.partition, metadata.offset) == ("t", 0, 0)
    assert isinstance(ends[b"error"][1], BrokerError)
    assert isinstance(ends[b"timeout"][1], BrokerError)
    assert ends[b"cancel"] == (None, None)
    assert isinstance(ends[b"close, on the wire"][1], UnknownOutcome)
    assert isinstance(ends[b"close, in memory"][1], Closed)


def test_D22_a_promise_tells_unknown_from_failed_and_why() -> None:
    async def scene() -> None:
        world = World()
        async with producing(world) as producer:
            world.log().script += [codes.NOT_ENOUGH_REPLICAS_AFTER_APPEND] * 10_000
            with pytest.raises(UnknownOutcome, match="may still have been stored") as caught:
                await (await producer.send("t", b"v", partition=0))
            assert isinstance(caught.value.__cause__, BrokerError)
            assert (producer.counts.unknown, producer.counts.failed) == (1, 0)

    play(scene())


class Local:
    """Something large in the frame of a caller."""


async def _awaited(producer: Producer) -> weakref.ref[Local]:
    local = Local()
    kept = weakref.ref(local)
    promise = await producer.send("t", b"v", partition=0)
    producer._engine.accumulator.close_all()
    with pytest.raises(BrokerError):
        await promise
    return kept


async def _gathered(producer: Producer) -> weakref.ref[Local]:
    local = Local()
    kept = weakref.ref(local)
    promises = [await producer.send("t", b"v", partition=0)]
    producer._engine.accumulator.close_all()
    with pytest.raises(BrokerError):
        await asyncio.gather(*promises)
    return kept


@pytest.mark.parametrize("caller", [_awaited, _gathered])
def test_a_promise_that_failed_keeps_nothing_of_a_caller_that_names_it(
    caller: Callable[[Producer], Awaitable[weakref.ref[Local]]],
) -> None:
    """Promise, fate, error, traceback, frame, promise: a cycle that the collector has to see."""

    async def scene() -> None:
        world = World()
        async with producing(world) as producer:
            await (await producer.send("t", b"first", partition=0))
            world.log().script += [codes.INVALID_RECORD] * 3
            kept = [await caller(producer) for _ in range(3)]
            await producer.send("t", b"last", partition=0)  # what failed last is the batch's that is sent last
            await producer.flush()
            gc.collect()
            assert [local() for local in kept] == [None] * 3

    play(scene())


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"topic": None}, "topic None: expected a text"),
        ({"topic": b"t"}, "topic b't': expected a text"),
        ({"topic": ["t"]}, r"topic \('t'\)|topic \['t'\]: expected a text"),
        ({"timestamp": 1.5}, "timestamp 1.5: expected"),
        ({"timestamp": "1"}, "timestamp '1': expected"),
        ({"timestamp": True}, "timestamp True: expected"),
        ({"timestamp": 2**63}, "timestamp 9223372036854775808: expected"),
        ({"timestamp": -(2**64)}, "timestamp -18446744073709551616: expected"),
        ({"value": "v"}, "value 'v': expected bytes or None"),
        ({"value": 5}, "value 5: expected bytes or None"),
        ({"value": ""}, "value '': expected bytes or None"),
        ({"key": "k"}, "key 'k': expected bytes or None"),
        ({"key": 0}, "key 0: expected bytes or None"),
        ({"headers": [("h", "v")]}, "headers: value 'v' of h: expected bytes or None"),
        ({"headers": [("h", 5)]}, "headers: value 5 of h: expected bytes or None"),
        ({"headers": [(b"h", b"v")]}, r"headers: \(b'h', b'v'\): expected a pair of text and bytes"),
        ({"headers": [("h",)]}, "headers: .* expected a pair"),
        ({"headers": ["h"]}, "headers: 'h': expected a pair"),
        ({"headers": [("\ud800", b"v")]}, "cannot be encoded: header names must be text"),
        ({"headers": {"h": b"v"}}, "headers of type dict: expected a list of"),
        ({"headers": iter([("h", b"v")])}, "headers of type list_iterator: expected a list of"),
        ({"headers": 5}, "headers 5: expected a list of"),
        ({"partition": "0"}, "t has no partition 0"),
        ({"partition": [0]}, r"t has no partition \[0\]"),
    ],
)
def test_A4_02_what_no_record_can_have_is_refused_and_the_producer_goes_on(given: dict[str, Any], says: str) -> None:
    async def scene() -> None:
        world = World()
        async with producing(world) as producer:
            await producer.send("t", b"first", partition=0)
            for _ in range(2):
                with pytest.raises(UsageError, match=says):
                    await producer.send(**{"topic": "t", "value": b"v", "partition": 0, **given})
            promise = await producer.send("t", b"last", partition=0)
            await producer.flush()
            assert promise.result().offset == 1
        balanced(producer)

    play(scene())


def test_A1_03_send_all_gathers_results_and_errors_in_their_order() -> None:
    async def scene() -> None:
        world = World({"t": 2})
        world.log(1).script += [codes.INVALID_RECORD]
        async with producing(world) as producer:
            rows = [(n % 2, 1000 + n, None, b"%d" % n, ()) for n in range(6)]
            found = await producer.send_all("t", rows)
        assert [one.offset if isinstance(one, RecordMetadata) else type(one) for one in found] == [
            0, BrokerError, 1, BrokerError, 2, BrokerError,
        ]  # fmt: skip
        assert [one.timestamp for one in found if isinstance(one, RecordMetadata)] == [1000, 1002, 1004]

    play(scene())


def test_A5_01_send_and_wait_is_the_awaited_future_of_send() -> None:
    async def scene() -> None:
        world = World()
        async with producing(world) as producer:
            one = await producer.send_and_wait("t", b"a", b"k")
            other = await (await producer.send("t", b"a", b"k"))
        assert (one.topic, one.partition, one.offset + 1) == (other.topic, other.partition, other.offset)

    play(scene())


def test_A5_02_A5_03_nobody_has_to_read_reports_and_none_are_made_then() -> None:
    async def scene() -> None:
        world = World()
        async with producing(world, buffer_records=10) as producer:
            for n in range(500):
                await producer.send("t", b"%d" % n, partition=0)  # the futures are dropped
        assert producer.counts.acked == 500
        assert producer.on_batch is None

    play(scene())


# -- interceptors -----------------------------------------------------------------------------------------------------


class Hook:
    """Marks records, and keeps what it is told."""

    def __init__(self, name: bytes, log: list[tuple[bytes, object]]) -> None:
        self.name, self.log = name, log

    def on_send(self, record: ProducerRecord) -> ProducerRecord:
        self.log.append((self.name, record.value))
        return record._replace(value=(record.value or b"") + self.name, headers=[*record.headers, ("by", self.name)])

    def on_acknowledgement(self, metadata: RecordMetadata | None, error: KcliError | None) -> None:
        self.log.append((self.name, metadata.offset if metadata is not None else type(error)))


class Broken:
    def on_send(self, record: ProducerRecord) -> ProducerRecord:
        raise ValueError("oops")

    def on_acknowledgement(self, metadata: RecordMetadata | None, error: KcliError | None) -> None:
        raise ValueError("oops")


def hooked(world: World, *hooks: Any) -> Producer:
    return Producer(world, ProducerSettings(**SHORT), hooks)  # type: ignore[arg-type]


def test_A5_07_interceptors_run_in_the_order_of_registration() -> None:
    log: list[tuple[bytes, object]] = []

    async def scene() -> None:
        world = World()
        async with hooked(world, Hook(b"1", log), Hook(b"2", log)) as producer:
            await (await producer.send("t", b"v", partition=0))
        assert world.log().records == [b"v12"]

    play(scene())
    assert log == [(b"1", b"v"), (b"2", b"v1"), (b"1", 0), (b"2", 0)]


def test_A4_06_an_interceptor_that_raises_is_a_warning_and_the_record_is_delivered() -> None:
    said: list[str] = []

    async def scene() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: said.append(context["message"]))
        world = World()
        async with hooked(world, Broken()) as producer:
            await (await producer.send("t", b"v", partition=0))
        assert world.log().records == [b"v"]

    play(scene())
    assert said == [
        "Broken.on_send raised ValueError('oops'); the record is sent as it was",
        "Broken.on_acknowledgement raised ValueError('oops')",
    ]


class Odd(Exception):
    """An error of somebody's own."""


@pytest.mark.parametrize("where", ["on_send", "on_acknowledgement"])
@pytest.mark.parametrize(
    "error",
    [
        KeyError("k"), RuntimeError("r"), AssertionError("a"), StopIteration(), OSError(5, "io"), Odd(), TimeoutError(),
        MemoryError(), KcliError("ours"), BrokerError(codes.NOT_COORDINATOR, "t"), ExceptionGroup("many", [Odd()]),
        asyncio.CancelledError(),
    ],
    ids=lambda error: type(error).__name__,
)  # fmt: skip
def test_A4_06_a_hook_may_raise_anything_and_the_record_is_delivered(error: BaseException, where: str) -> None:
    """Also CancelledError, as of a future's result: a hook does not wait, so it is never the one that is cancelled."""
    said: list[str] = []

    class Raises:
        def on_send(self, record: ProducerRecord) -> ProducerRecord:
            if where == "on_send":
                raise error
            return record

        def on_acknowledgement(self, metadata: RecordMetadata | None, problem: Exception | None) -> None:
            if where == "on_acknowledgement":
                raise error

    async def scene() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: said.append(context["message"]))
        world = World()
        async with hooked(world, Raises()) as producer:
            for _ in range(3):
                await (await producer.send("t", b"v", partition=0))
        assert world.log().records == [b"v"] * 3
        balanced(producer)

    play(scene())
    assert len(said) == 3
    assert all(one.startswith(f"Raises.{where} raised {error!r}") for one in said)


def test_A4_06_an_interceptor_is_told_what_failed() -> None:
    log: list[tuple[bytes, object]] = []

    async def scene() -> None:
        world = World()
        world.log().script += [codes.INVALID_RECORD]
        async with hooked(world, Hook(b"1", log)) as producer:
            with pytest.raises(BrokerError):
                await (await producer.send("t", b"v", partition=0))

    play(scene())
    assert log[1] == (b"1", BrokerError)


def test_A4_06_lines_and_rows_do_not_get_round_an_interceptor() -> None:
    log: list[tuple[bytes, object]] = []

    async def scene() -> None:
        world = World()
        async with hooked(world, Hook(b"!", log)) as producer:
            given = b"a\nb\n\npart"
            assert await producer.send_lines("t", given, 0, len(given), partition=0, empty_is_null=True) == 5
            keyed = b"k\tv\n"
            assert await producer.send_lines("t", keyed, 0, len(keyed), key_delimiter=b"\t", partition=0) == 4
            await producer.send_records("t", [(0, None, None, b"row", ())])
        assert world.log().records == [b"a!", b"b!", b"!", b"v!", b"row!"]
        balanced(producer)

    play(scene())
    assert [value for _, value in log if not isinstance(value, int)] == [b"a", b"b", None, b"v", b"row"]
