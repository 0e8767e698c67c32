"""A client that is closed before its producers and consumers: nothing stays pending, and each error says why."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

import kcli
from kcli.model import TopicPartition
from kcli.sandbox.sandbox import Sandbox

AT = TopicPartition("t", 0)
LINGERING = kcli.ProducerSettings(linger=60.0, delivery_timeout=300.0)


@asynccontextmanager
async def open_client() -> AsyncIterator[tuple[Sandbox, kcli.Client]]:
    """A client that the test closes itself; a second closing changes nothing."""
    async with Sandbox(topics={"t": 1}) as sandbox, kcli.Client(sandbox.bootstrap) as client:
        yield sandbox, client


async def close(client: kcli.Client) -> None:
    async with asyncio.timeout(20):
        await client.__aexit__(None, None, None)


async def test_a_record_that_was_not_sent_fails_at_once_and_is_not_stored() -> None:
    async with open_client() as (_, client), client.producer(LINGERING) as producer:
        promise = await producer.send("t", b"1")
        await close(client)
        assert promise.done(), "it does not wait for the delivery timeout"
        with pytest.raises(kcli.Closed, match="the client was closed before the record was stored"):
            promise.result()
        assert (producer.counts.failed, producer.counts.unknown) == (1, 0)


async def test_a_record_on_the_wire_fails_at_once_and_is_unknown() -> None:
    async with open_client() as (sandbox, client), client.producer(kcli.ProducerSettings(linger=0.0)) as producer:
        await producer.send_and_wait("t", b"0")
        sandbox.faults.wire.never_answer("Produce")
        promise = await producer.send("t", b"1")
        while not producer.unanswered:  # noqa: ASYNC110 - that a request is under way sets no event
            await asyncio.sleep(0)
        await close(client)
        with pytest.raises(kcli.UnknownOutcome, match=r"the client was closed before .* may still have been stored"):
            promise.result()
        assert (producer.counts.failed, producer.counts.unknown) == (0, 1)


async def test_a_caller_that_waits_for_room_or_a_topic_gets_the_error() -> None:
    async with open_client() as (_, client):
        async with client.producer(LINGERING.replace(buffer_memory=20_000, max_block=100.0)) as producer:
            await producer.send("t", bytes(15_000))
            full = asyncio.create_task(producer.send("t", bytes(15_000)))
            unknown = asyncio.create_task(producer.send("no-such", b"1"))
            await asyncio.sleep(0)
            await close(client)
            async with asyncio.timeout(20):
                problems = await asyncio.gather(full, unknown, return_exceptions=True)
        assert isinstance(problems[0], kcli.Closed)
        assert isinstance(problems[1], kcli.Closed | kcli.BrokerError), "the topic may be known as missing"


async def test_a_producer_of_a_closed_client_takes_no_record() -> None:
    async with open_client() as (_, client), client.producer(LINGERING) as producer:
        await producer.send("t", b"1")
        await close(client)
        with pytest.raises(kcli.Closed, match="the client was closed"):
            await producer.send("t", b"2")
        assert await producer.flush() == 0
        with pytest.raises(kcli.Closed, match="the client was closed"):
            client.producer()
        with pytest.raises(kcli.Closed, match="the client was closed"):
            client.consumer()


async def test_a_transaction_of_a_closed_client_ends() -> None:
    settings = LINGERING.replace(transactional_id="tx")
    async with open_client() as (_, client), client.producer(settings) as producer:
        await producer.begin()
        promise = await producer.send("t", b"1")
        await close(client)
        with pytest.raises(kcli.Closed):
            promise.result()
        async with asyncio.timeout(20):
            with pytest.raises(kcli.KcliError):
                await producer.commit()


async def test_a_poll_of_a_closed_client_raises() -> None:
    async with open_client() as (_, client), client.consumer() as consumer:
        consumer.assign({AT: 0})
        poll = asyncio.create_task(consumer.poll())
        await asyncio.sleep(0)
        await close(client)
        async with asyncio.timeout(20):
            with pytest.raises(kcli.Closed, match="the client was closed"):
                await poll
            with pytest.raises(kcli.Closed, match="the client was closed"):
                async for _ in consumer:
                    pass


async def test_a_member_of_a_closed_client_leaves_without_committing_its_last_poll() -> None:
    async with open_client() as (sandbox, client):
        async with client.producer() as producer:
            await producer.send_and_wait("t", b"1")
        group = kcli.GroupSettings(group="g")
        async with client.consumer(settings=kcli.ConsumerSettings(reset="earliest"), group=group) as consumer:
            await consumer.subscribe(["t"])
            assert await consumer.poll(20)
            await close(client)
            with pytest.raises(kcli.Closed, match="the client was closed"):
                await consumer.poll()
        async with kcli.Client(sandbox.bootstrap) as other, other.consumer(group=group) as reader:
            assert await reader.committed([AT]) == {AT: None}
            (described,) = (await other.admin.describe_groups(["g"])).values()
            assert not described.members  # type: ignore[union-attr]


def test_a_sync_client_that_is_closed_first_fails_what_is_left() -> None:
    with kcli.SandboxThread(topics={"t": 1}) as sandbox:
        client = kcli.SyncClient(sandbox.bootstrap)
        with client, client.producer(LINGERING) as producer, client.consumer("t") as consumer:
            future = producer.send("t", b"1")
            client.__exit__(None, None, None)
            with pytest.raises(kcli.Closed, match="the client was closed before the record was stored"):
                future.result(0)
            with pytest.raises(kcli.Closed, match="the client was closed"):
                producer.send("t", b"2")
            with pytest.raises(kcli.Closed, match="the client was closed"):
                consumer.poll(1)
