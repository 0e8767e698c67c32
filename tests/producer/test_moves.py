"""Leaders that move, topics that are made anew and grow, on the sandbox's wire (C5-C8, D14, KIP-951, KIP-516)."""

from __future__ import annotations

import asyncio
import time

import pytest

from kcli import codes
from kcli.errors import BrokerError
from kcli.model import TopicPartition
from kcli.proto.messages.produce import ProduceResponse
from tests.producer.test_sandbox import running, stored, values
from tests.producer.world import Log, World, balanced, now, play, producing, send_batches

AT = TopicPartition("t", 0)


async def test_C7_a_hint_with_its_endpoint_is_followed_without_asking_for_metadata() -> None:
    async with running(brokers=3, client={"retry_backoff": 5.0}, retry_backoff=5.0) as (sandbox, client, producer):
        await asyncio.gather(*await send_batches(producer, 1))
        sandbox.faults.cluster.move_leader("t", 0, client.cluster.leader_id(AT) % 3 + 1, hint=True)
        begin = time.monotonic()
        await asyncio.gather(*await send_batches(producer, 3, first=1))
        assert time.monotonic() - begin < 2.0, "a back-off or a question came first"
        assert await stored(client) == values(4)


async def test_C7_a_hint_of_an_older_epoch_is_not_followed() -> None:
    """The old leader's answer names a leader of long ago: metadata decides."""
    async with running(brokers=3) as (sandbox, client, producer):
        await asyncio.gather(*await send_batches(producer, 1))
        old = client.cluster.leader_id(AT)
        new = old % 3 + 1
        sandbox.faults.cluster.move_leader("t", 0, new, hint=True)

        def of_long_ago(response: ProduceResponse) -> None:
            for topic in response.responses:
                for part in topic.partition_responses:
                    if part.current_leader.leader_id >= 0:
                        part.current_leader.leader_epoch = -1
                        part.current_leader.leader_id = old

        sandbox.faults.wire.alter("Produce", of_long_ago)
        await asyncio.gather(*await send_batches(producer, 3, first=1))
        assert client.cluster.leader_id(AT) == new
        assert await stored(client) == values(4)


async def test_C5_a_broker_with_stale_metadata_does_not_send_the_producer_back() -> None:
    async with running(brokers=3) as (sandbox, client, producer):
        await asyncio.gather(*await send_batches(producer, 1))
        old = client.cluster.leader_id(AT)
        sandbox.faults.cluster.stale_metadata(old)
        sandbox.faults.cluster.move_leader("t", 0, old % 3 + 1, hint=True)
        await asyncio.gather(*await send_batches(producer, 3, first=1))
        for _ in range(4):
            await client.cluster.refresh(["t"])
        assert client.cluster.leader_id(AT) == old % 3 + 1
        await asyncio.gather(*await send_batches(producer, 3, first=4))
        sandbox.faults.clear()
        assert await stored(client) == values(7)


async def test_C8_a_topic_made_anew_goes_on_under_its_new_id() -> None:
    async with running() as (sandbox, client, producer):
        await asyncio.gather(*await send_batches(producer, 3))
        before = client.cluster.topic_id("t")
        sandbox.faults.logs.recreate("t")
        told = await asyncio.gather(*await send_batches(producer, 5, first=3))
        assert client.cluster.topic_id("t") != before
        assert [one.offset for one in told] == [0, 1, 2, 3, 4]
        assert await stored(client) == values(8)[3:]


@pytest.mark.parametrize("code", [codes.UNKNOWN_TOPIC_ID, codes.INCONSISTENT_TOPIC_ID])
async def test_C8_an_id_that_is_wrong_is_looked_up_and_tried_again(code: codes.ErrorCode) -> None:
    async with running() as (sandbox, client, producer):
        await asyncio.gather(*await send_batches(producer, 1))
        sandbox.faults.error("Produce", code, times=2)
        await asyncio.gather(*await send_batches(producer, 3, first=1))
        assert await stored(client) == values(4)


async def test_C8_an_older_broker_gets_names_and_no_ids() -> None:
    async with running() as (sandbox, client, producer):
        sandbox.faults.wire.speak_only("Produce", 3, 12)
        await asyncio.gather(*await send_batches(producer, 3))
        sandbox.faults.logs.recreate("t")
        await asyncio.gather(*await send_batches(producer, 2, first=3))
        assert await stored(client) == values(5)[3:]


async def test_D14_a_partition_that_is_added_while_running_is_used() -> None:
    async with running(partitions=2) as (sandbox, client, producer):
        await asyncio.gather(*await send_batches(producer, 2))
        await asyncio.gather(*await send_batches(producer, 1, 1))
        sandbox.topics.grow(sandbox.topics.by_name["t"], 3, None, check_only=False)
        await asyncio.gather(*await send_batches(producer, 2, 2))
        assert await stored(client, 2) == values(2)
        assert await stored(client, 0) == values(2)


async def test_D14_metadata_max_age_of_the_client_is_that_of_its_producers() -> None:
    async with running(partitions=1, client={"metadata_max_age": 0.2}) as (sandbox, _, producer):
        await asyncio.gather(*await send_batches(producer, 2))
        sandbox.topics.grow(sandbox.topics.by_name["t"], 2, None, check_only=False)
        async with asyncio.timeout(10):
            partition, key = 0, 0
            while partition == 0:
                key += 1
                partition = (await producer.send_and_wait("t", b"v", key=b"%d" % key)).partition


def test_C8_D25_after_a_topic_was_made_anew_the_first_batch_goes_alone() -> None:
    """The new log takes any sequence of a producer it does not know: the second batch must not overtake the first."""

    async def scene() -> None:
        world = World()
        async with producing(world) as producer:
            await asyncio.gather(*await send_batches(producer, 3))
            world.recreate()
            world.log().script.append(codes.NOT_ENOUGH_REPLICAS)
            await asyncio.gather(*await send_batches(producer, 5, first=3))
        assert world.log().records == [b"3", b"4", b"5", b"6", b"7"]
        balanced(producer)

    play(scene())


def test_C5_C7_news_from_before_a_move_does_not_undo_it() -> None:
    """Three requests were under way to the old leader, and each says that it is not: one piece of news."""

    async def scene() -> None:
        world = World({"t": 1}, nodes=3, latency=0.01)
        world.hints = True
        async with producing(world) as producer:
            await asyncio.gather(*await send_batches(producer, 1))
            world.move(0, 1)
            asked, begin = world.refreshes, now()
            await asyncio.gather(*await send_batches(producer, 5, first=1))
            assert now() - begin < 0.2
            assert world.refreshes == asked
        assert world.log().records == values(6)

    play(scene())


@pytest.mark.parametrize("code", [codes.NOT_ENOUGH_REPLICAS, codes.REQUEST_TIMED_OUT, codes.CORRUPT_MESSAGE])
def test_D19_D24_A5_26_a_retried_batch_is_the_same_bytes_under_the_same_sequence(code: codes.ErrorCode) -> None:
    async def scene() -> None:
        world = World()
        sent: list[bytes] = []
        take = Log.take

        def note(log: Log, data: bytes) -> object:
            sent.append(data)
            return take(log, data)

        world.log().take = lambda data: note(world.log(), data)  # type: ignore[method-assign,assignment,return-value]
        async with producing(world) as producer:
            await asyncio.gather(*await send_batches(producer, 1))
            world.log().script += [code] * 3
            await asyncio.gather(*await send_batches(producer, 1, first=1))
        assert len(sent) == 5
        assert len(set(sent[1:])) == 1
        assert [batch.base_sequence for batch in world.log().seen] == [0, 1, 1, 1, 1]

    play(scene())


def test_C4_a_topic_that_is_gone_for_good_fails_at_the_delivery_timeout_and_says_so() -> None:
    async def scene() -> None:
        world = World(latency=0.0)  # else one time in a thousand an attempt is on its way then: unknown
        async with producing(world) as producer:
            await asyncio.gather(*await send_batches(producer, 1))
            world.log().script += [codes.UNKNOWN_TOPIC_OR_PARTITION] * 1000
            (told,) = await asyncio.gather(*await send_batches(producer, 1, first=1), return_exceptions=True)
        assert isinstance(told, BrokerError)
        assert "UNKNOWN_TOPIC_OR_PARTITION" in str(told)

    play(scene())
