"""Group sessions on a real Apache Kafka: its coordinator, its versions, its assignment of members it did not write."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from kcli.admin.topics.topics import NewTopic
from kcli.client import Client
from kcli.consumer.classic.member import GroupSession
from kcli.model import OffsetAndMetadata
from kcli.model import TopicPartition as TP
from kcli.proto.messages.create_topics import CreatableTopic, CreateTopicsRequest
from kcli.settings import ClientSettings, GroupSettings, parse_bootstrap
from tests.consumer.group.fakes import Reader
from tests.kafka.cluster import Kafka


async def until(condition: Callable[[], object], within: float = 20.0) -> None:
    async with asyncio.timeout(within):
        while not condition():  # noqa: ASYNC110 - what changes is a broker's
            await asyncio.sleep(0.01)


async def create(client: Client, topic: str, partitions: int) -> None:
    controller = await client.cluster.controller()
    wanted = CreatableTopic(name=topic, num_partitions=partitions, replication_factor=1)
    answer = await controller.ask(CreateTopicsRequest(topics=[wanted], timeout_ms=10_000))
    assert answer.topics[0].error_code == 0
    for _ in range(100):
        await client.cluster.refresh([topic])
        if all(client.cluster.has_leader(TP(topic, n)) for n in range(partitions)):
            return
        await asyncio.sleep(0.05)


@pytest.mark.parametrize("assignors", [("range",), ("roundrobin",), ("sticky",), ("cooperative-sticky",)])
async def test_two_members_share_take_over_and_keep_their_commits(
    kafka: Kafka, topic_name: Callable[[], str], assignors: tuple[str, ...]
) -> None:
    topic = topic_name()
    settings = GroupSettings(group=topic, assignors=assignors, heartbeat_interval=0.1, auto_commit=False)
    bootstrap = ClientSettings(bootstrap=parse_bootstrap(kafka.bootstrap))
    async with Client(bootstrap) as client, Client(bootstrap) as other:  # a client has one connection for joins (B8)
        await create(client, topic, 4)
        a, b = Reader([]), Reader([])
        first = GroupSession(client.cluster, settings, a, a)
        await first.start([topic])
        await until(lambda: len(a.owned) == 4)
        assert await first.committed([TP(topic, 0)]) == {TP(topic, 0): None}
        await first.commit({TP(topic, 0): OffsetAndMetadata(0, 0, "zoë\0")})
        second = GroupSession(other.cluster, settings, b, b)
        await second.start([topic])
        await until(lambda: len(a.owned) == len(b.owned) == 2 and not first.rejoining and not second.rejoining)
        assert not a.owned & b.owned
        assert a.log.count("revoked") == 1
        assert await second.committed([TP(topic, 0)]) == {TP(topic, 0): OffsetAndMetadata(0, 0, "zoë\0")}
        await first.close()
        await until(lambda: len(b.owned) == 4)
        await second.close()
        assert not a.owned
        assert not b.owned


async def test_E48_a_static_member_restarts_without_a_rebalance(kafka: Kafka, topic_name: Callable[[], str]) -> None:
    topic = topic_name()
    settings = GroupSettings(group=topic, instance_id="one", heartbeat_interval=0.1, auto_commit=False)
    async with Client(ClientSettings(bootstrap=parse_bootstrap(kafka.bootstrap))) as client:
        await create(client, topic, 2)
        generations = []
        for _ in range(2):
            reader = Reader([])
            session = GroupSession(client.cluster, settings, reader, reader)
            await session.start([topic])
            await until(lambda reader=reader: len(reader.owned) == 2)  # type: ignore[misc]
            generations.append(session.generation)
            await session.close()
        assert generations[0] == generations[1]


async def test_E48_a_second_member_of_one_instance_fences_the_first(
    kafka: Kafka, topic_name: Callable[[], str]
) -> None:
    topic = topic_name()
    settings = GroupSettings(group=topic, instance_id="one", heartbeat_interval=0.1, auto_commit=False)
    async with Client(ClientSettings(bootstrap=parse_bootstrap(kafka.bootstrap))) as client:
        await create(client, topic, 2)
        a, b = Reader([]), Reader([])
        first = GroupSession(client.cluster, settings, a, a)
        await first.start([topic])
        await until(lambda: len(a.owned) == 2)
        second = GroupSession(client.cluster, settings, b, b)
        await second.start([topic])
        await until(lambda: first.failed is not None)
        assert "FENCED_INSTANCE_ID" in str(first.failed)
        await until(lambda: len(b.owned) == 2 and "lost" in a.log)
        await first.close()
        await second.close()


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
async def test_C8_a_member_reads_on_in_a_topic_that_was_created_again(
    protocol: str, kafka: Kafka, topic_name: Callable[[], str]
) -> None:
    topic = topic_name()
    async with Client(ClientSettings(bootstrap=parse_bootstrap(kafka.bootstrap), metadata_max_age=2.0)) as client:
        group = GroupSettings(group=topic, protocol=protocol, auto_commit_interval=0.5)
        read: list[bytes | None] = []

        async def until_read(*wanted: bytes) -> None:
            async with asyncio.timeout(60):
                while read != list(wanted):
                    for fetched in await consumer.poll(0.5):
                        assert fetched.error is None
                        read.extend(record.value for batch in fetched.batches for record in batch)

        async def renewed(*values: bytes) -> None:
            await client.admin.create_topics([NewTopic(topic=topic, partitions=1)])
            async with client.producer() as producer:
                for value in values:
                    await producer.send_and_wait(topic, value)

        await renewed(b"old 0", b"old 1", b"old 2")
        async with client.consumer(group=group) as consumer:
            await consumer.subscribe([topic])
            await until_read(b"old 0", b"old 1", b"old 2")
            await consumer.poll(1.0)  # they are done, and committed
            await client.admin.delete_topics([topic])
            read.clear()
            await renewed(b"new 0", b"new 1")
            await until_read(b"new 0", b"new 1")
