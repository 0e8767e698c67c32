"""Our producer and consumer against every fault that can be ordered: every record once, in order, and no hang."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from kcli import codes
from kcli.client import Client
from kcli.consumer.fetch.chunk import CorruptRecords
from kcli.errors import KcliError
from kcli.grammar.bound import Bound
from kcli.model import TopicPartition
from kcli.sandbox import Sandbox
from kcli.sandbox.faults.faults import Faults
from kcli.settings import ClientSettings, ConsumerSettings, ProducerSettings, parse_bootstrap
from tests.sandbox.client import batch

pytestmark = pytest.mark.usefixtures("leaping_clock")

AT = TopicPartition("t", 0)
COUNT = 60
READING = ConsumerSettings(fetch_max_wait=0.02, request_timeout=1.0, retry_backoff=0.01, partition_max_bytes=400)
WRITING = ProducerSettings(linger=0.0, batch_size=200, request_timeout=1.0, delivery_timeout=10.0, retry_backoff=0.01)


def client_of(sandbox: Sandbox, bootstrap: str = "") -> Client:
    return Client(
        ClientSettings(
            bootstrap=parse_bootstrap(bootstrap or sandbox.bootstrap), request_timeout=1.0, reconnect_backoff=0.01,
            reconnect_backoff_max=0.05, retry_backoff=0.01, retry_backoff_max=0.05,
        )
    )  # fmt: skip


async def write(client: Client, count: int = COUNT, first: int = 0) -> None:
    async with client.producer(WRITING) as producer:
        for n in range(first, first + count):
            await producer.send("t", b"%d" % n, partition=0)
        assert await producer.flush(10) == 0
        assert producer.counts.acked == count


async def read(client: Client, end: int, start: int = 0, **changes: Any) -> tuple[list[int], list[KcliError]]:
    """The offsets delivered up to `end`, and the errors; an error ends it. The position is always the next offset."""
    offsets: list[int] = []
    errors: list[KcliError] = []
    async with client.consumer(settings=READING.replace(**changes)) as consumer, asyncio.timeout(10):
        consumer.assign({AT: Bound("offset", start)})
        consumer.stop_at({AT: end})
        while not consumer.finished and not errors:
            for fetched in await consumer.poll(1):
                offsets += [record.offset for one in fetched.batches for record in one]
                errors += [fetched.error] if fetched.error is not None else []
        if not errors:
            assert consumer.position(AT) == end
    return offsets, errors


EVERY = ("ApiVersions", "Metadata", "InitProducerId", "Produce", "Fetch")
LATER = ("InitProducerId", "Produce", "Fetch")  # a seed that speaks no Kafka at the first question is told at once (B1)


def on(apis: tuple[str, ...], name: str, *options: Any, times: int = 2) -> Callable[[Faults], None]:
    def order(faults: Faults) -> None:
        for api in apis:
            getattr(faults.wire, name)(api, *options, times=times)

    return order


CONNECTIONS = {
    "B1_one_byte_at_a_time": on(EVERY, "byte_by_byte"),
    "B1_two_frames_in_one_write": on(EVERY, "two_at_once", times=5),
    "B1_half_a_frame": on(LATER, "cut_answer", 3),
    "B3_wrong_correlation_id": on(LATER, "wrong_correlation_id", times=1),
    "B5_stops_reading": on(EVERY, "stop_reading", 0.05),
    "B13_unknown_tags": on(EVERY, "unknown_tags", times=50),
    "B14_negative_size": on(LATER, "answer_size", -1, times=1),
    "B14_two_gibibytes": on(LATER, "answer_size", 0x7FFFFFFF, times=1),
    "B1_http_in_the_middle": on(LATER, "answer_http", times=1),
    "B1_tls_alert_in_the_middle": on(LATER, "answer_tls_alert", times=1),
    "B21_accept_then_close": lambda faults: faults.wire.refuse(times=2),
    "B24_closed_when_idle": lambda faults: faults.wire.close_idle(0.05),
    "B25_throttled": on(EVERY, "throttle", 20),
    "D22_append_then_drop": lambda faults: faults.wire.lose_answer("Produce", times=3),
    "D33_answer_without_the_partition": lambda faults: faults.wire.alter(
        "Produce", lambda answer: answer.responses.clear()
    ),
}


@pytest.mark.parametrize("fault", CONNECTIONS.values(), ids=CONNECTIONS)
async def test_faults_of_connections_lose_and_repeat_nothing(fault: Callable[[Faults], None]) -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, client_of(sandbox) as client:
        fault(sandbox.faults)
        await write(client)
        await asyncio.sleep(0.1)  # what is closed when idle is idle now
        fault(sandbox.faults)
        assert await read(client, COUNT) == (list(range(COUNT)), [])
        assert sandbox.topics.partition("t", 0).log.end == COUNT


@pytest.mark.parametrize("highest", [0, 1, 2, 3])
async def test_B9_B10_an_older_broker_is_spoken_to_in_its_own_versions(highest: int) -> None:
    async with Sandbox(brokers=2, topics={"t": 2}) as sandbox, client_of(sandbox) as client:
        sandbox.faults.wire.speak_only("ApiVersions", 0, highest, broker=1)
        for api, low, high in (("Produce", 3, 9), ("Fetch", 4, 11), ("Metadata", 0, 8), ("ListOffsets", 1, 5)):
            sandbox.faults.wire.speak_only(api, low, high, broker=1)
        await write(client)
        assert await read(client, COUNT) == (list(range(COUNT)), [])


async def test_C5_a_broker_with_old_metadata_does_not_stop_anybody() -> None:
    async with Sandbox(brokers=2, topics={"t": 1}) as sandbox:
        stale = f"127.0.0.1:{sandbox.brokers[0].port}"
        async with client_of(sandbox, stale) as client:
            await write(client)
            sandbox.faults.cluster.stale_metadata(1)
            sandbox.faults.cluster.move_leader("t", 0, 2, hint=False)

            async def heal() -> None:
                await asyncio.sleep(0.1)
                sandbox.faults.clear()

            healing = asyncio.create_task(heal())
            await write(client, COUNT, COUNT)
            assert await read(client, 2 * COUNT) == (list(range(2 * COUNT)), [])
            await healing


async def test_C12_C13_out_of_range_from_a_follower_sends_us_back_to_the_leader() -> None:
    async with Sandbox(brokers=2, topics={"t": 1}) as sandbox, client_of(sandbox) as client:
        await write(client)
        sandbox.faults.cluster.prefer_replica("t", 0, 2)
        sandbox.faults.error("Fetch", codes.OFFSET_OUT_OF_RANGE, topic="t", broker=2)
        assert await read(client, COUNT, reset="none") == (list(range(COUNT)), [])
        assert sandbox.faults.pending == 0, "the follower was asked, and was wrong"


async def test_C10_diverging_histories_are_asked_about_and_nothing_comes_twice() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, client_of(sandbox) as client:
        await write(client)
        sandbox.faults.logs.diverge("t", 0, 0, 5, times=1)
        assert await read(client, COUNT, reset="none") == (list(range(COUNT)), [])
        assert sandbox.faults.pending == 0


async def test_E3_E4_E18_gaps_empty_batches_and_markers_are_read_over() -> None:
    for stay in (True, False):
        async with Sandbox(topics={"t": 1}) as sandbox, client_of(sandbox) as client:
            for first in range(0, COUNT, 6):
                await write(client, 6, first)
            sandbox.faults.logs.compact("t", 0, lambda offset: offset % 7 == 1 and offset < 30, emptied_stay=stay)
            sandbox.faults.logs.empty_batch("t", 0, 3)
            end = sandbox.faults.logs.end_with_marker("t", 0) + 1
            assert end == COUNT + 4
            assert await read(client, end) == ([1, 8, 15, 22, 29], [])
            assert await read(client, end, 16) == ([22, 29], [])


@pytest.mark.parametrize("codec", ["gzip", "zstd"])
async def test_E6_a_bomb_is_an_error_that_names_the_place(codec: str) -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, client_of(sandbox) as client:
        await write(client, 3)
        sandbox.faults.logs.bomb("t", 0, 1 << 30, codec)
        async with client.consumer(settings=READING.replace(max_decompressed=1 << 20)) as consumer, asyncio.timeout(10):
            consumer.assign({AT: Bound("offset", 0)})
            said: list[str] = []
            seen: list[int] = []
            while not said:
                for fetched in await consumer.poll(1):
                    try:
                        seen += [record.offset for one in fetched.batches for record in one]
                    except KcliError as bomb:
                        said.append(str(bomb))
            assert seen == [0, 1, 2]
            assert "more than 1048576 bytes when decompressed" in said[0]
            assert "offset 3" in said[0]


async def test_E15_aborted_transactions_out_of_order_hide_what_they_must() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, client_of(sandbox) as client:
        faults = sandbox.faults

        def written(producer: int) -> int:
            return faults.logs.append("t", 0, batch(2, producer=producer, epoch=0, sequence=0, attributes=0x10))

        for producer in (1, 2, 3):
            written(producer)
        faults.logs.end_with_marker("t", 0, commit=False, producer_id=3)
        faults.logs.end_with_marker("t", 0, commit=True, producer_id=2)
        faults.logs.end_with_marker("t", 0, commit=False, producer_id=1)
        again = written(1)
        end = faults.logs.end_with_marker("t", 0, commit=True, producer_id=1) + 1
        faults.logs.unordered_aborted()
        assert await read(client, end, isolation="read_committed", partition_max_bytes=1 << 20) == (
            [2, 3, again, again + 1], [],
        )  # fmt: skip


async def test_E5_a_corrupt_batch_is_told_with_its_place() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, client_of(sandbox) as client:
        await write(client)
        sandbox.faults.logs.corrupt("t", 0)
        offsets, (error,) = await read(client, COUNT)
        assert (offsets, type(error)) == ([], CorruptRecords)
        assert "t[0]: the batch at offset 0" in str(error)
