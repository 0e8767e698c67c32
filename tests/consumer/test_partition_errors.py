"""Errors that stay until the program does something: a failed partition, a topic made anew, a topic that is missing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

import kcli
from kcli import codes
from kcli.errors import TopicRecreated
from kcli.sandbox.sandbox import Sandbox

pytestmark = pytest.mark.usefixtures("leaping_clock")
AT, OTHER = kcli.TopicPartition("t", 0), kcli.TopicPartition("t", 1)


@asynccontextmanager
async def world(**given: Any) -> AsyncIterator[tuple[Sandbox, kcli.Client]]:
    async with Sandbox(topics={"t": 2}, rebalance_delay=0.0) as sandbox, kcli.Client(sandbox.bootstrap) as client:
        yield sandbox, client


async def send(client: kcli.Client, *values: bytes) -> None:
    async with client.producer() as producer:
        for value in values:
            await producer.send_and_wait("t", value, partition=0)


async def polled(consumer: Any, seconds: float) -> tuple[list[tuple[float, str]], list[bytes]]:
    """The errors of these seconds, each with its time, and the values."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    errors, values = [], []
    while (left := began + seconds - loop.time()) > 0:
        for fetched in await consumer.poll(left):
            if fetched.error is not None:
                errors.append((loop.time() - began, str(fetched.error)))
            values += [record.value for batch in fetched.batches for record in batch]
    return errors, values


async def test_the_error_of_a_partition_is_handed_out_again_once_a_second() -> None:
    async with world() as (sandbox, client), client.consumer() as consumer:
        await send(client, b"1", b"2")
        sandbox.faults.error("Fetch", codes.TOPIC_AUTHORIZATION_FAILED, topic="t", partition=0)
        consumer.assign({AT: 0, OTHER: 0})
        errors, values = await polled(consumer, 4.5)
        assert values == []
        assert len(errors) == 5, errors
        assert all("TOPIC_AUTHORIZATION_FAILED" in text for _, text in errors)
        # a busy machine makes this program late to note an error, and the next one is not late for that
        assert [round(at) for at, _ in errors] == [0, 1, 2, 3, 4], errors

        consumer.pause(AT)
        assert (await polled(consumer, 3.0))[0] == []
        consumer.resume(AT)
        assert len((await polled(consumer, 1.5))[0]) == 2

        consumer.seek(AT, 1)
        assert await polled(consumer, 3.0) == ([], [b"2"])


async def test_a_partition_that_is_dropped_is_not_heard_of_again() -> None:
    async with world() as (sandbox, client), client.consumer() as consumer:
        sandbox.faults.error("Fetch", codes.TOPIC_AUTHORIZATION_FAILED, topic="t", partition=0)
        consumer.assign({AT: 0, OTHER: 0})
        assert len((await polled(consumer, 0.5))[0]) == 1
        consumer.assign({OTHER: 0})
        assert (await polled(consumer, 3.0))[0] == []


async def test_a_broken_batch_is_an_error_until_a_seek() -> None:
    async with world() as (sandbox, client), client.consumer() as consumer:
        await send(client, b"1")
        sandbox.faults.logs.corrupt("t", 0, times=99)
        consumer.assign({AT: 0})
        errors, _ = await polled(consumer, 2.5)
        assert len(errors) == 3, errors
        sandbox.faults.clear()
        consumer.seek(AT, 0)
        assert await polled(consumer, 2.5) == ([], [b"1"])


async def test_a_partition_with_an_end_has_ended_with_its_error() -> None:
    async with world() as (sandbox, client), client.consumer() as consumer:
        await send(client, b"1")
        sandbox.faults.error("Fetch", codes.TOPIC_AUTHORIZATION_FAILED, topic="t", partition=0)
        consumer.assign({AT: 0})
        consumer.stop_at({AT: 1})
        async with asyncio.timeout(5):
            errors = [fetched.error async for fetched in consumer]
        assert len(errors) == 1
        await asyncio.sleep(2)
        assert consumer.finished


def test_a_sync_loop_gets_the_error_again(bootstrap: str) -> None:
    with kcli.SyncClient(bootstrap) as kafka, kafka.producer() as producer, kafka.consumer("t") as consumer:
        producer.send_and_wait("t", b"1", partition=0)
        for _ in range(2):
            with pytest.raises(kcli.BrokerError, match="TOPIC_AUTHORIZATION_FAILED"):
                next(consumer)
        consumer.seek(AT, 0)
        assert next(consumer).value == b"1"


@pytest.fixture
def bootstrap() -> Any:
    with kcli.SandboxThread(topics={"t": 1}) as sandbox:
        sandbox.faults.error("Fetch", codes.TOPIC_AUTHORIZATION_FAILED, topic="t", partition=0)
        yield sandbox.bootstrap


@pytest.mark.parametrize("reset", ["earliest", "latest"])
@pytest.mark.parametrize("protocol", ["classic", "consumer"])
async def test_C8_a_member_reads_a_topic_that_was_made_anew(protocol: str, reset: str) -> None:
    async with world() as (sandbox, client):
        await send(client, b"old 0", b"old 1", b"old 2")
        group = kcli.GroupSettings(group="g", protocol=protocol)
        async with client.consumer(settings=kcli.ConsumerSettings(reset="earliest"), group=group) as consumer:
            await consumer.subscribe(["t"])
            assert await polled(consumer, 10.0) == ([], [b"old 0", b"old 1", b"old 2"])
        own = kcli.ConsumerSettings(reset=reset)
        notices: list[str] = []
        async with client.consumer(settings=own, group=group) as consumer:
            consumer.on_notice = notices.append
            await consumer.subscribe(["t"])
            await send(client, b"old 3")
            assert await polled(consumer, 10.0) == ([], [b"old 3"])
            sandbox.faults.logs.recreate("t")
            await client.cluster.refresh(["t"])
            errors, values = await polled(consumer, 10.0)
            assert (errors, values) == ([], [])
            await send(client, b"new 0", b"new 1")
            errors, values = await polled(consumer, 20.0)
            assert (errors, values) == ([], [b"new 0", b"new 1"])
        committed = (await client.admin.committed(["g"]))["g"]
        assert isinstance(committed, dict)
        assert committed[AT].offset == 2  # type: ignore[union-attr]
        if protocol == "classic":
            assert any("deleted and created again" in notice and "continuing at" in notice for notice in notices), (
                notices
            )


@pytest.mark.parametrize("how", ["none", "assigned"])
async def test_C8_a_position_that_the_group_did_not_give_is_an_error(how: str) -> None:
    async with world() as (sandbox, client):
        await send(client, b"old")
        group = kcli.GroupSettings(group="g")
        own = kcli.ConsumerSettings(reset="none" if how == "none" else "earliest")
        async with client.consumer(settings=own, group=group if how == "none" else None) as consumer:
            if how == "none":
                await client.admin.commit("g", {AT: 0, OTHER: 0})
                await consumer.subscribe(["t"])
            else:
                consumer.assign({AT: 0, OTHER: 0})
            assert await polled(consumer, 10.0) == ([], [b"old"])
            sandbox.faults.logs.recreate("t")
            await client.cluster.refresh(["t"])
            async with asyncio.timeout(20):
                while not (got := [one for one in await consumer.poll() if one.error is not None]):
                    pass
            assert isinstance(got[0].error, TopicRecreated)


@pytest.mark.parametrize("protocol", ["classic", "consumer", "share"])
async def test_a_member_names_a_topic_that_does_not_exist_after_five_seconds(protocol: str) -> None:
    async with world() as (_, client):
        group = kcli.GroupSettings(group="g", protocol=protocol) if protocol != "share" else None
        made: Any = client.consumer(group=group)
        if group is None:
            made = client.share_consumer(kcli.ConsumerSettings(), kcli.ShareSettings(group="s"))
        async with made as consumer:
            notices: list[str] = []
            consumer.on_notice = notices.append
            await consumer.subscribe(["orderz", "t"])
            await consumer.poll(4.9)
            assert notices == []
            await consumer.poll(0.5)
            await asyncio.sleep(0.5)
            assert notices == ["topic orderz does not exist yet; this member waits for the topic"]
            await consumer.poll(20.0)
            assert len(notices) == 1
