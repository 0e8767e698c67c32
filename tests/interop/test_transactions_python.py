"""Transactions of kafka-python and aiokafka on the sandbox, each read back by the other."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Iterator
from typing import Any

import aiokafka
import kafka
import pytest
from aiokafka.errors import ProducerFenced
from kafka.structs import OffsetAndMetadata

# kafka-python leaves its wake-up sockets to the garbage collector: a stranger's leak, not ours to fix
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


@pytest.fixture(autouse=True)
def _collect_the_leak_here() -> Iterator[None]:
    yield
    gc.collect()


def with_kafka_python(bootstrap: str, topic: str, count: int, isolation: str) -> list[bytes]:
    consumer = kafka.KafkaConsumer(
        bootstrap_servers=bootstrap.split(","), isolation_level=isolation, auto_offset_reset="earliest"
    )
    consumer.assign([kafka.TopicPartition(topic, 0)])
    found: list[bytes] = []
    deadline = time.monotonic() + 15
    while len(found) < count and time.monotonic() < deadline:
        for records in consumer.poll(timeout_ms=200).values():
            found += [record.value for record in records]
    for records in consumer.poll(timeout_ms=50).values():
        found += [record.value for record in records]
    consumer.close()
    return found


async def with_aiokafka(bootstrap: str, topic: str, count: int, isolation: str) -> list[bytes]:
    found: list[bytes] = []
    async with aiokafka.AIOKafkaConsumer(
        bootstrap_servers=bootstrap, isolation_level=isolation, auto_offset_reset="earliest"
    ) as consumer:  # fmt: skip
        consumer.assign([aiokafka.TopicPartition(topic, 0)])
        async with asyncio.timeout(15):
            while len(found) < count:
                for records in (await consumer.getmany(timeout_ms=200)).values():
                    found += [record.value for record in records]
        for records in (await consumer.getmany(timeout_ms=50)).values():
            found += [record.value for record in records]
    return found


def test_kafka_python_transactions_are_read_by_aiokafka(bootstrap: str, topic: str) -> None:
    producer = kafka.KafkaProducer(bootstrap_servers=bootstrap.split(","), transactional_id=f"tx-{topic}")
    producer.init_transactions()
    for value, commit in ((b"a", True), (b"b", False), (b"c", True)):
        producer.begin_transaction()
        for n in range(3):
            producer.send(topic, value + b"%d" % n, partition=0)
        producer.flush(15)
        if commit:
            producer.commit_transaction()
        else:
            producer.abort_transaction()
    producer.close()
    want = [b"a0", b"a1", b"a2", b"c0", b"c1", b"c2"]
    assert asyncio.run(with_aiokafka(bootstrap, topic, 6, "read_committed")) == want
    assert len(asyncio.run(with_aiokafka(bootstrap, topic, 9, "read_uncommitted"))) == 9


def test_kafka_python_sends_positions_in_a_transaction(bootstrap: str, topic: str) -> None:
    producer = kafka.KafkaProducer(bootstrap_servers=bootstrap.split(","), transactional_id=f"tx-{topic}")
    producer.init_transactions()
    producer.begin_transaction()
    producer.send(topic, b"v", partition=0)
    where = kafka.TopicPartition(topic, 0)
    producer.send_offsets_to_transaction({where: OffsetAndMetadata(1, "", -1)}, f"g-{topic}")
    producer.commit_transaction()
    producer.close()
    consumer = kafka.KafkaConsumer(bootstrap_servers=bootstrap.split(","), group_id=f"g-{topic}")
    assert consumer.committed(where) == 1
    consumer.close()


async def test_aiokafka_transactions_are_read_by_kafka_python(bootstrap: str, topic: str) -> None:
    async with aiokafka.AIOKafkaProducer(bootstrap_servers=bootstrap, transactional_id=f"tx-{topic}") as producer:
        for value, commit in ((b"a", True), (b"b", False), (b"c", True)):
            await producer.begin_transaction()
            for n in range(3):
                await producer.send(topic, value + b"%d" % n, partition=0)
            await producer.send_offsets_to_transaction({aiokafka.TopicPartition(topic, 0): len(value)}, f"g-{topic}")
            await producer.flush()
            if commit:
                await producer.commit_transaction()
            else:
                await producer.abort_transaction()
    read = await asyncio.to_thread(with_kafka_python, bootstrap, topic, 6, "read_committed")
    assert read == [b"a0", b"a1", b"a2", b"c0", b"c1", b"c2"]
    assert len(await asyncio.to_thread(with_kafka_python, bootstrap, topic, 9, "read_uncommitted")) == 9


async def once(producer: aiokafka.AIOKafkaProducer, topic: str) -> None:
    await producer.begin_transaction()
    await producer.send_and_wait(topic, b"old", partition=0)
    await producer.commit_transaction()


async def test_D41_aiokafka_is_fenced_by_its_successor(bootstrap: str, topic: str) -> None:
    options: dict[str, Any] = {"bootstrap_servers": bootstrap, "transactional_id": f"tx-{topic}"}
    async with aiokafka.AIOKafkaProducer(**options) as old, aiokafka.AIOKafkaProducer(**options) as new:
        await new.begin_transaction()
        await new.send_and_wait(topic, b"new", partition=0)
        with pytest.raises(ProducerFenced):
            await once(old, topic)
        await new.commit_transaction()
    assert await asyncio.to_thread(with_kafka_python, bootstrap, topic, 1, "read_committed") == [b"new"]
