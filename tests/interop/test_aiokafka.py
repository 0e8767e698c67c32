"""aiokafka against the sandbox."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

CODECS = [None, "gzip", "snappy", "lz4", "zstd"]


async def take(consumer: Any, count: int, seconds: float = 15) -> list[Any]:
    found: list[Any] = []
    async with asyncio.timeout(seconds):
        while len(found) < count:
            for records in (await consumer.getmany(timeout_ms=200)).values():
                found += records
    return found


@pytest.mark.parametrize("codec", CODECS)
async def test_aiokafka_reads_back_records_in_every_codec(bootstrap: str, topic: str, codec: str | None) -> None:
    want = [(b"key-%d" % n, b"value-%d" % n * 10, (("h", b"%d" % n),)) for n in range(200)]
    want += [(b"tombstone", None, ()), (None, b"", ())]
    async with AIOKafkaProducer(
        bootstrap_servers=bootstrap, compression_type=codec, enable_idempotence=True
    ) as producer:  # fmt: skip
        for key, value, headers in want:
            await producer.send(topic, value, key, headers=list(headers), partition=0)
        await producer.flush()
    async with AIOKafkaConsumer(bootstrap_servers=bootstrap, auto_offset_reset="earliest") as consumer:
        consumer.assign([TopicPartition(topic, 0)])
        found = await take(consumer, len(want))
        assert [(r.key, r.value, tuple(r.headers)) for r in found] == want


async def test_aiokafka_members_rebalance_commit_and_resume(bootstrap: str, topic: str) -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
    await admin.start()
    await admin.create_topics([NewTopic(topic, 4, 1)])
    await admin.close()
    options = {
        "bootstrap_servers": bootstrap, "group_id": f"g-{topic}", "auto_offset_reset": "earliest",
        "enable_auto_commit": False, "heartbeat_interval_ms": 100,
    }  # fmt: skip
    async with AIOKafkaProducer(bootstrap_servers=bootstrap) as producer:
        for n in range(40):
            await producer.send_and_wait(topic, b"%d" % n, partition=n % 4)
        first = AIOKafkaConsumer(topic, **options)
        await first.start()
        assert len(await take(first, 40)) == 40
        await first.commit()
        second = AIOKafkaConsumer(topic, **options)
        await second.start()
        async with asyncio.timeout(15):
            while not (len(first.assignment()) == len(second.assignment()) == 2):
                await asyncio.gather(first.getmany(timeout_ms=50), second.getmany(timeout_ms=50))
        await first.stop()
        await producer.send_and_wait(topic, b"after", partition=0)
        assert [r.value for r in await take(second, 1)] == [b"after"]
        await second.stop()
