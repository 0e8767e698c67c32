"""Everyday programs of six lines, in each client.

`python -m tests.kafka.sync.six_lines CLIENT BOOTSTRAP TOPIC` runs all of one client and prints, as JSON, the offsets
that each took: a client has a process of its own, as it has in real life.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Callable
from typing import Any

Took = dict[str, list[int]]
PAUSE = 0.12  # seconds of work on a record
SLOW, BREAKS, TEN, FAILS = 12, 3, 10, 30
PROGRAMS = {"slow": SLOW, "entered again": 10, "sought back": 7, "assigned": 10, "failed": FAILS}
"""By name: the offset that should be committed in the end, as all before it is done and nothing else."""


class Broken(Exception):
    """The program fails."""


def kcli(bootstrap: str, topic: str) -> Took:
    from kcli import GroupSettings, SyncClient, TopicPartition

    took: Took = {name: [] for name in PROGRAMS}
    at = TopicPartition(topic, 0)

    def member(program: str) -> Any:
        own = GroupSettings(group=f"kcli {program}", max_poll_interval=1.0, heartbeat_interval=0.3)
        return client.consumer(topic, group=own)

    with SyncClient(bootstrap) as client:
        with member("slow") as consumer:
            for message in consumer:
                took["slow"].append(message.offset)
                if len(took["slow"]) == SLOW:
                    break
                time.sleep(PAUSE)
        with member("entered again") as consumer:
            for _ in range(2):
                for number, message in enumerate(consumer, start=1):
                    took["entered again"].append(message.offset)
                    if number == BREAKS:
                        break
            for fetched in consumer.poll(max_records=4):
                took["entered again"] += [record.offset for batch in fetched.batches for record in batch]
        with member("sought back") as consumer:
            took["sought back"] += [next(consumer).offset for _ in range(TEN)]
            consumer.seek(at, 7)
        try:
            with member("failed") as consumer:
                for message in consumer:
                    took["failed"].append(message.offset)
                    if message.offset == FAILS:
                        raise Broken
        except Broken:
            pass

        async def assigned(inner: Any) -> None:
            async with inner.consumer(group="kcli assigned") as consumer:
                consumer.assign({at: 0})
                for _ in range(2):
                    for fetched in await consumer.poll(5, max_records=5):
                        took["assigned"] += [record.offset for batch in fetched.batches for record in batch]
                    await consumer.commit()

        client.run(assigned)
    return took


def confluent(bootstrap: str, topic: str) -> Took:
    from confluent_kafka import Consumer, TopicPartition

    took: Took = {name: [] for name in PROGRAMS}

    def member(program: str) -> Any:
        return Consumer({
            "bootstrap.servers": bootstrap, "group.id": f"confluent {program}", "auto.offset.reset": "earliest",
            "session.timeout.ms": 6000, "max.poll.interval.ms": 6000, "heartbeat.interval.ms": 300,
        })  # fmt: skip

    def read(program: str, count: int, pause: float = 0.0) -> None:
        until = time.monotonic() + 20
        while len(took[program]) < count and time.monotonic() < until:
            message = consumer.poll(1.0)
            if message is not None and message.error() is None:
                took[program].append(message.offset())
                time.sleep(pause)

    consumer = member("slow")
    consumer.subscribe([topic])
    read("slow", SLOW, PAUSE)
    consumer.close()
    consumer = member("entered again")
    consumer.subscribe([topic])
    read("entered again", 2 * BREAKS)
    took["entered again"] += [message.offset() for message in consumer.consume(4, 5.0)]
    consumer.close()
    consumer = member("sought back")
    consumer.subscribe([topic])
    read("sought back", TEN)
    consumer.seek(TopicPartition(topic, 0, 7))
    consumer.close()
    consumer = member("assigned")
    consumer.assign([TopicPartition(topic, 0, 0)])
    for count in (5, 10):
        read("assigned", count)
        consumer.commit(asynchronous=False)
    consumer.close()
    consumer = member("failed")
    consumer.subscribe([topic])
    try:
        read("failed", FAILS + 1)
        raise Broken
    except Broken:
        consumer.close()
    return took


def kafka_python(bootstrap: str, topic: str) -> Took:
    from kafka import KafkaConsumer, TopicPartition  # type: ignore[import-untyped]

    took: Took = {name: [] for name in PROGRAMS}

    def member(program: str, *topics: str) -> Any:
        return KafkaConsumer(
            *topics, bootstrap_servers=bootstrap, group_id=f"kafka-python {program}", auto_offset_reset="earliest",
            max_poll_interval_ms=1000, heartbeat_interval_ms=300, session_timeout_ms=6000,
        )  # fmt: skip

    def read(program: str, count: int, pause: float = 0.0) -> None:
        for number, message in enumerate(consumer, start=1):
            took[program].append(message.offset)
            if number == count:
                break
            time.sleep(pause)

    consumer = member("slow", topic)
    read("slow", SLOW, PAUSE)
    consumer.close()
    consumer = member("entered again", topic)
    read("entered again", BREAKS)
    read("entered again", BREAKS)
    for rows in consumer.poll(timeout_ms=5000, max_records=4).values():
        took["entered again"] += [row.offset for row in rows]
    consumer.close()
    consumer = member("sought back", topic)
    read("sought back", TEN)
    consumer.seek(TopicPartition(topic, 0), 7)
    consumer.close()
    consumer = member("assigned")
    consumer.assign([TopicPartition(topic, 0)])
    consumer.seek(TopicPartition(topic, 0), 0)
    for _ in range(2):
        read("assigned", 5)
        consumer.commit()
    consumer.close()
    consumer = member("failed", topic)
    try:
        read("failed", FAILS + 1)
        raise Broken
    except Broken:
        consumer.close()
    return took


def aiokafka(bootstrap: str, topic: str) -> Took:
    return asyncio.run(_aiokafka(bootstrap, topic))


async def _aiokafka(bootstrap: str, topic: str) -> Took:
    from aiokafka import AIOKafkaConsumer, TopicPartition  # type: ignore[import-untyped]

    took: Took = {name: [] for name in PROGRAMS}

    async def member(program: str, *topics: str) -> Any:
        consumer = AIOKafkaConsumer(
            *topics, bootstrap_servers=bootstrap, group_id=f"aiokafka {program}", auto_offset_reset="earliest",
            max_poll_interval_ms=1000, heartbeat_interval_ms=300, session_timeout_ms=6000,
        )  # fmt: skip
        await consumer.start()
        return consumer

    async def read(program: str, count: int, pause: float = 0.0) -> None:
        number = 0
        async for message in consumer:
            took[program].append(message.offset)
            number += 1
            if number == count:
                break
            await asyncio.sleep(pause)

    consumer = await member("slow", topic)
    await read("slow", SLOW, PAUSE)
    await consumer.stop()
    consumer = await member("entered again", topic)
    await read("entered again", BREAKS)
    await read("entered again", BREAKS)
    for rows in (await consumer.getmany(timeout_ms=5000, max_records=4)).values():
        took["entered again"] += [row.offset for row in rows]
    await consumer.stop()
    consumer = await member("sought back", topic)
    await read("sought back", TEN)
    consumer.seek(TopicPartition(topic, 0), 7)
    await consumer.stop()
    consumer = await member("assigned")
    consumer.assign([TopicPartition(topic, 0)])
    consumer.seek(TopicPartition(topic, 0), 0)
    for _ in range(2):
        await read("assigned", 5)
        await consumer.commit()
    await consumer.stop()
    consumer = await member("failed", topic)
    try:
        await read("failed", FAILS + 1)
        raise Broken
    except Broken:
        await consumer.stop()
    return took


CLIENTS: dict[str, Callable[[str, str], Took]] = {
    "kcli": kcli, "confluent": confluent, "kafka-python": kafka_python, "aiokafka": aiokafka,
}  # fmt: skip

if __name__ == "__main__":
    print(json.dumps(CLIENTS[sys.argv[1]](sys.argv[2], sys.argv[3])))
