"""End to end on the sandbox and its faults: what is acknowledged is stored once, in order."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from kcli import codes
from kcli.client import Client
from kcli.errors import BrokerError
from kcli.model import TopicPartition
from kcli.producer.batches.batch import BatchOutcome
from kcli.producer.producer import Producer
from kcli.proto import compression
from kcli.proto.batch import MAX_DECOMPRESSED, read_batches
from kcli.proto.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from kcli.sandbox.sandbox import Sandbox
from kcli.settings import ClientSettings, ProducerSettings, parse_bootstrap
from tests.producer.world import send_batches


@asynccontextmanager
async def running(
    partitions: int = 1, brokers: int = 1, client: dict[str, Any] | None = None, **changes: Any
) -> AsyncIterator[tuple[Sandbox, Client, Producer]]:
    async with Sandbox(brokers=brokers, topics={"t": partitions}) as sandbox:
        quick: dict[str, Any] = {"retry_backoff": 0.01, "retry_backoff_max": 0.1}
        settings = ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap), reconnect_backoff=0.01,
                                  **(quick | (client or {})))  # fmt: skip
        async with Client(settings) as ours, ours.producer(ProducerSettings(**(quick | changes))) as producer:
            yield sandbox, ours, producer


async def stored(client: Client, partition: int = 0, most: int = MAX_DECOMPRESSED) -> list[bytes | None]:
    at = TopicPartition("t", partition)
    found: list[bytes | None] = []
    await client.cluster.refresh(["t"])
    broker = await client.cluster.leader(at)
    while True:
        topic = FetchTopic(topic="t", topic_id=client.cluster.topic_id("t"))
        topic.partitions.append(
            FetchPartition(partition=partition, fetch_offset=len(found), partition_max_bytes=1 << 24)
        )
        answer = await broker.ask(FetchRequest(max_wait_ms=0, min_bytes=0, max_bytes=1 << 24, topics=[topic]))
        records = answer.responses[0].partitions[0].records
        fresh = [record.value for batch in read_batches(records or b"", max_decompressed=most) for record in batch]
        if not fresh:
            return found
        found += fresh


def values(count: int) -> list[bytes]:
    return [b"%d" % number for number in range(count)]


@pytest.mark.parametrize("codec", ["none", "gzip"])
async def test_A1_lines_are_counted_and_every_batch_settles_once(codec: str) -> None:
    chunk = b"".join(b"%099d\n" % number for number in range(20_000))
    outcomes: list[BatchOutcome] = []
    async with running(3, compression=codec) as (_, _, producer):
        producer.on_batch = outcomes.append
        at = 0
        while at < len(chunk):
            at += await producer.send_lines("t", chunk, at, len(chunk))
        assert await producer.flush(10) == 0
        counts = producer.counts
        assert (counts.accepted, counts.acked, counts.failed, counts.unknown) == (20_000, 20_000, 0, 0)
    assert sum(outcome.count for outcome in outcomes) == 20_000
    for partition in range(3):
        expected = 0
        for outcome in outcomes:
            if outcome.partition == partition:
                assert outcome.base_offset == expected
                expected += outcome.count


async def test_D32_a_record_gets_its_own_offset_and_time() -> None:
    async with running() as (_, _, producer):
        sent = [await producer.send("t", b"v", partition=0, timestamp=1000 + n) for n in range(3)]
        told = await asyncio.gather(*sent)
    assert [(one.offset, one.timestamp) for one in told] == [(0, 1000), (1, 1001), (2, 1002)]


async def test_D22_stored_and_the_answer_lost_is_stored_once() -> None:
    async with running() as (sandbox, client, producer):
        await asyncio.gather(*await send_batches(producer, 1))
        sandbox.faults.wire.lose_answer("Produce", times=3)
        told = await asyncio.gather(*await send_batches(producer, 6, first=1))
        assert await stored(client) == values(7)
        assert all(one.offset in (-1, number) for number, one in enumerate(told, 1))


async def test_D25_dropped_connections_keep_the_order() -> None:
    async with running() as (sandbox, client, producer):
        sent = []
        for first in range(0, 40, 8):
            sent += await send_batches(producer, 8, first=first)
            await asyncio.sleep(0.005)
            sandbox.faults.wire.drop_connections()
        await asyncio.gather(*sent)
        assert await stored(client) == values(40)


@pytest.mark.parametrize("hint", [True, False])
async def test_C7_a_leader_that_moves_is_followed(hint: bool) -> None:
    async with running(brokers=3) as (sandbox, client, producer):
        sent = []
        for turn in range(6):
            sent += await send_batches(producer, 5, first=5 * turn)
            await asyncio.sleep(0.002)
            sandbox.faults.cluster.move_leader("t", 0, 1 + turn % 3, hint=hint)
        await asyncio.gather(*sent)
        assert await stored(client) == values(30)


async def test_A4_18_a_broker_that_dies_and_comes_back_loses_nothing() -> None:
    async with running(partitions=3, brokers=3) as (sandbox, client, producer):
        sent = []
        for turn in range(3):
            for partition in range(3):
                sent += await send_batches(producer, 5, partition, first=5 * turn)
            await asyncio.sleep(0.002)
            await sandbox.faults.cluster.stop_broker(1 + turn)
            await asyncio.sleep(0.02)
            await sandbox.faults.cluster.start_broker(1 + turn)
        await asyncio.gather(*sent)
        for partition in range(3):
            assert await stored(client, partition) == values(15)


async def test_D27_a_broker_that_forgets_the_producer_gets_a_new_epoch() -> None:
    async with running() as (sandbox, client, producer):
        await asyncio.gather(*await send_batches(producer, 3))
        sandbox.faults.logs.forget_producers("t", 0)
        await asyncio.gather(*await send_batches(producer, 5, first=3))
        assert await stored(client) == values(8)


async def test_D22_a_connection_that_closes_at_the_request_is_opened_again() -> None:
    async with running() as (sandbox, client, producer):
        await asyncio.gather(*await send_batches(producer, 1))
        sandbox.faults.wire.close_before("Produce", times=2)
        await asyncio.gather(*await send_batches(producer, 3, first=1))
        assert await stored(client) == values(4)


async def test_D31_a_topic_that_takes_small_batches_gets_them() -> None:
    async with running() as (sandbox, client, producer):
        sandbox.faults.error("Produce", codes.MESSAGE_TOO_LARGE, times=3)
        sent = [await producer.send("t", b"%d" % n, partition=0) for n in range(16)]
        await asyncio.gather(*sent)
        assert await stored(client) == values(16)


async def test_C6_metadata_without_the_topic_for_a_round_changes_nothing() -> None:
    async with running(brokers=2) as (sandbox, client, producer):
        await asyncio.gather(*await send_batches(producer, 3))
        sandbox.faults.cluster.absent("t")
        sandbox.faults.cluster.move_leader("t", 0, 2, hint=False)
        sent = await send_batches(producer, 3, first=3)
        await asyncio.gather(*sent)
        assert await stored(client) == values(6)


async def test_B29_a_request_whose_task_is_cancelled_from_outside_is_no_acknowledgement() -> None:
    async with running() as (sandbox, client, producer):
        sandbox.faults.wire.close_before("Produce")
        sandbox.faults.wire.delay("Produce", 0.2)
        await client.cluster.refresh(["t"])
        first = await producer.send("t", b"one", partition=0)  # no connection is open: a task asks
        cancelled = 0
        while not cancelled:
            await asyncio.sleep(0.005)
            for task in asyncio.all_tasks():
                if getattr(task.get_coro(), "__qualname__", "") == "LeaderSender._ask":
                    task.cancel()  # as the end of `asyncio.run` does
                    cancelled += 1
        assert (await asyncio.wait_for(first, 10)).offset == 0
        assert await stored(client) == [b"one"]
        assert producer.counts.acked == 1


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
async def test_what_is_sent_can_be_decompressed_again(codec: str) -> None:
    """A record that consumers would call corrupt is refused; all others are in batches that they read."""
    most = 4000
    changes: dict[str, Any] = {"compression": codec, "max_decompressed": most, "batch_size": 100_000}
    async with running(**changes) as (_, client, producer):
        for size in (*range(0, most - 100, 300), most - 100):
            await producer.send("t", bytes(size))
        if codec != "none":
            with pytest.raises(BrokerError, match=r"more than consumers decompress \(4000, max\.decompressed\.bytes"):
                await producer.send("t", bytes(most + 1))
        lines = b"\n".join([b"y" * size for size in (10, most - 100, most + 100, 10)]) + b"\n"
        assert await producer.send_lines("t", lines, 0, len(lines)) == len(lines)
        await producer.flush()
        assert producer.counts.failed == (codec != "none")
        assert len(await stored(client, most=most)) == producer.counts.acked


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
async def test_what_would_be_taken_for_a_bomb_is_not_compressed(codec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compression, "UNSUSPECTED", 100_000)
    monkeypatch.setattr(compression, "RATIO", 10)
    async with running(compression=codec) as (_, client, producer):
        sent = [bytes(99_000), bytes(101_000), bytes(900_000)]
        for value in sent:
            await producer.send("t", value)
        await producer.flush()
        assert await stored(client) == sent
