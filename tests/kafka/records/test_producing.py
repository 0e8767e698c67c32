"""The producer on a real Apache Kafka: topics that come later, partitioners of one's own, records dropped."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import pytest

import kcli
from tests.kafka.cluster import Kafka
from tests.programs import kcli as run


def test_D47_the_library_waits_for_a_topic_and_the_command_does_not(
    kafka: Kafka, topic_name: Callable[[], str]
) -> None:
    topic = topic_name()
    refused = run("produce", topic, "-b", kafka.bootstrap, stdin=b"x\n")
    assert refused.code == 1
    assert "this topic does not exist" in refused.err

    async def scene() -> kcli.RecordMetadata:
        async with kcli.Client(kafka.bootstrap) as client, client.producer() as producer:
            sending = asyncio.create_task(producer.send_and_wait(topic, b"v"))
            await asyncio.sleep(2.0)
            assert not sending.done()
            (created,) = (await client.admin.create_topics([kcli.NewTopic(topic=topic, partitions=2)])).values()
            assert created is None or not isinstance(created, Exception)
            return await asyncio.wait_for(sending, 20)

    assert asyncio.run(scene()).topic == topic
    assert run("produce", topic, "--wait-for-topic", "-b", kafka.bootstrap, stdin=b"w\n").code == 0


def test_D11_a_function_places_records_where_it_says(kafka: Kafka, topic_name: Callable[[], str]) -> None:
    topic = topic_name()
    assert run("topics", "create", topic, "-p", "3", "-b", kafka.bootstrap).code == 0

    def place(topic: str, key: bytes | None, partitions: Sequence[int], available: Sequence[int]) -> int:
        assert list(partitions) == list(available) == [0, 1, 2]
        return int(key or b"0")

    async def scene() -> list[int]:
        settings = kcli.ProducerSettings(partitioner=place)
        async with kcli.Client(kafka.bootstrap) as client, client.producer(settings) as producer:
            stored = [await producer.send_and_wait(topic, b"v", b"%d" % number) for number in (2, 0, 1, 2)]
            with pytest.raises(kcli.UsageError, match="the partitioner returned 7"):
                await producer.send(topic, b"v", b"7")
            return [record.partition for record in stored]

    assert asyncio.run(scene()) == [2, 0, 1, 2]


def test_D48_dropped_records_leave_no_gap_for_the_broker(kafka: Kafka, topic_name: Callable[[], str]) -> None:
    """What follows is accepted in sequence: the broker sees no record of what was dropped."""
    topic = topic_name()
    assert run("topics", "create", topic, "-b", kafka.bootstrap).code == 0

    async def scene() -> None:
        settings = kcli.ProducerSettings(linger=30.0, delivery_timeout=90.0)
        async with kcli.Client(kafka.bootstrap) as client, client.producer(settings) as producer:
            await producer.send(topic, b"first")
            await producer.flush()
            dropped = [await producer.send(topic, b"dropped") for _ in range(10)]
            assert await producer.abort_buffered() == 10
            assert all(isinstance(future.exception(), kcli.Aborted) for future in dropped)
            last = await producer.send(topic, b"last")
            await producer.flush()
            assert last.result().offset == 1

    asyncio.run(scene())
    assert run("consume", topic, "-e", "-b", kafka.bootstrap).out == b"first\nlast\n"
