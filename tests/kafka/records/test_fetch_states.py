"""`fetch_states` on a real Kafka: paused, backing off from a frozen leader, and without one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import kcli
from tests.kafka.cluster import Kafka
from tests.programs import kcli as run

PATIENCE = 120.0


async def becomes(consumer: kcli.Consumer, at: kcli.TopicPartition, *states: str) -> list[tuple[str, int, str]]:
    """Poll until the partition was in these states, one after the other; each with its node and its reason."""
    found: list[tuple[str, int, str]] = []
    try:
        async with asyncio.timeout(PATIENCE):
            while len(found) < len(states):
                await consumer.poll(0.02)
                now = consumer.fetch_states()[at]
                if now.state == states[len(found)]:
                    found.append((now.state, now.node_id, now.reason))
    except TimeoutError:
        raise AssertionError(f"after {found} never {states[len(found)]}: {consumer.fetch_states()[at]}") from None
    return found


async def test_a_paused_partition_and_one_whose_leader_is_killed_and_comes_back(
    kafka3: Kafka, topic_name: Callable[[], str]
) -> None:
    topic = topic_name()
    options = ("-p", "1", "-r", "1", "--config", "min.insync.replicas=1", "--wait")
    made = await asyncio.to_thread(run, "topics", "create", topic, *options, "-b", kafka3.bootstrap)
    assert made.code == 0, made.err
    leader = await asyncio.to_thread(kafka3.leader, topic)
    at = kcli.TopicPartition(topic, 0)
    settings = kcli.ConsumerSettings(fetch_max_wait=0.2)
    async with kcli.Client(kafka3.bootstrap) as client, client.consumer(settings=settings) as consumer:
        consumer.assign({at: 0})
        assert await becomes(consumer, at, "fetching") == [("fetching", leader.id, "")]
        consumer.pause(at)
        assert await becomes(consumer, at, "paused") == [("paused", leader.id, "")]
        consumer.resume(at)
        await becomes(consumer, at, "fetching")
        leader.kill()
        ((_, missing, why),) = await becomes(consumer, at, "no leader")
        assert missing == -1
        assert why, "the last error says what the partition waits for"
        leader.start()
        assert await becomes(consumer, at, "fetching") == [("fetching", leader.id, "")]
        async with client.producer() as producer:
            await producer.send_and_wait(topic, b"again")
        fetched: list[kcli.Fetched] = []
        async with asyncio.timeout(PATIENCE):
            while not fetched:
                fetched = [each for each in await consumer.poll(1.0) if each.batches]
        assert [record.value for each in fetched for batch in each.batches for record in batch] == [b"again"]


async def test_a_frozen_leader_is_backed_off_from(kafka3: Kafka, topic_name: Callable[[], str]) -> None:
    topic = topic_name()
    made = await asyncio.to_thread(
        run, "topics", "create", topic, "-p", "1", "-r", "1", "--wait", "-b", kafka3.bootstrap
    )
    assert made.code == 0, made.err
    leader = await asyncio.to_thread(kafka3.leader, topic)
    at = kcli.TopicPartition(topic, 0)
    settings = kcli.ConsumerSettings(fetch_max_wait=0.2, request_timeout=1.5)
    async with kcli.Client(kafka3.bootstrap) as client, client.consumer(settings=settings) as consumer:
        consumer.assign({at: 0})
        await becomes(consumer, at, "fetching")
        async with client.producer() as producer:
            await producer.send_and_wait(topic, b"one")
        while not any(each.batches for each in await consumer.poll(1.0)):
            pass  # its connection is open then: a connection that is being made outlives the broker's session
        leader.pause()  # it still counts as the leader: its session is 3 seconds
        ((_, node, reason),) = await becomes(consumer, at, "backing off")
        leader.resume()
        assert node == leader.id
        assert reason, "the last error says why"
        await becomes(consumer, at, "fetching")
