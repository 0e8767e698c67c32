"""The consumer through the whole client, against the sandbox."""

from __future__ import annotations

import asyncio

from kcli.client import Client
from kcli.consumer.offsets import resolve
from kcli.grammar.bound import Bound
from kcli.model import TopicPartition
from kcli.sandbox import Sandbox
from kcli.settings import ClientSettings, GroupSettings, ProducerSettings, parse_bootstrap

COUNT = 3000
TPS = [TopicPartition("t", n) for n in range(3)]


async def fill(client):
    async with client.producer(ProducerSettings()) as producer:
        for n in range(COUNT):
            await producer.send("t", b"%d" % n, partition=n % 3)
        assert await producer.flush(10) == 0


async def test_assigned_partitions_are_read_to_their_ends():
    async with Sandbox(topics={"t": 3}, brokers=2) as sandbox:
        async with Client(ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap))) as client:
            await fill(client)
            ends = await resolve(client.cluster, dict.fromkeys(TPS, Bound("latest")))
            async with client.consumer() as consumer:
                consumer.assign(dict.fromkeys(TPS, Bound("earliest")))
                consumer.stop_at({at: end.offset for at, end in ends.items()})
                values = []
                async for fetched in consumer:
                    assert fetched.error is None
                    values += [int(record.value) for one in fetched.batches for record in one]
            assert sorted(values) == list(range(COUNT))


async def test_two_members_share_a_topic_and_a_third_run_finds_nothing_left():
    async with Sandbox(topics={"t": 3}) as sandbox:
        settings = ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap))
        async with Client(settings) as client:
            await fill(client)
        values = []

        async def member(stop):
            async with Client(settings) as client:
                async with client.consumer(group=GroupSettings(group="g")) as consumer:
                    await consumer.subscribe(["t"])
                    while not stop():
                        for fetched in await consumer.poll(0.05):
                            values.extend(int(record.value) for one in fetched.batches for record in one)

        async with asyncio.timeout(20):
            await asyncio.gather(*(member(lambda: len(values) >= COUNT) for _ in range(2)))
        assert sorted(values) == list(range(COUNT))
        async with Client(settings) as client:
            async with client.consumer(group=GroupSettings(group="g")) as consumer:
                committed = await consumer.committed(TPS)
                assert [one.offset for one in committed.values()] == [COUNT // 3] * 3
