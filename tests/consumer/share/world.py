"""A share group on a sandbox whose members hear quickly, and what tests do with it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

from kcli.client import Client
from kcli.consumer.share.chunk import Acquired
from kcli.consumer.share.consumer import ShareConsumer
from kcli.consumer.share.ranges import Outcome
from kcli.consumer.share.settings import ShareSettings
from kcli.model import TopicPartition
from kcli.sandbox import Sandbox
from kcli.settings import ClientSettings, ConsumerSettings, ProducerSettings, parse_bootstrap


class World:
    """A sandbox with a topic `t` and a group `g` that begins at the start of the logs."""

    def __init__(self, sandbox: Sandbox, client: Client) -> None:
        self.sandbox = sandbox
        self.client = client
        self.outcomes: list[Outcome] = []
        self.configure()

    def configure(self, **more: str) -> None:
        configs = {"share.auto.offset.reset": "earliest"}
        names = {"lock_ms": "share.record.lock.duration.ms", "limit": "share.delivery.count.limit"}
        self.sandbox.cluster.groups.configure("g", configs | {names[name]: value for name, value in more.items()})

    async def write(self, first: int, last: int, partition: int = 0, size: int = 10) -> None:
        """Records that say their number, `size` in a batch."""
        async with self.client.producer(ProducerSettings(linger=0.0)) as producer:
            for start in range(first, last, size):
                for n in range(start, min(start + size, last)):
                    await producer.send("t", b"%d" % n, partition=partition)
                assert await producer.flush(10) == 0

    @asynccontextmanager
    async def member(self, explicit: bool = True, **settings: Any) -> AsyncIterator[ShareConsumer]:
        own = ConsumerSettings(fetch_max_wait=0.05, retry_backoff=0.01, retry_backoff_max=0.05, **settings)
        async with self.client.share_consumer(own, ShareSettings(group="g", explicit=explicit)) as consumer:
            consumer.on_outcome = self.outcomes.extend
            await consumer.subscribe(["t"])
            yield consumer

    @property
    def share(self) -> Any:
        return self.sandbox.cluster.groups.shared("g")

    def start(self, partition: int = 0) -> int:
        """Where the group's window starts."""
        topic = self.sandbox.topics.by_name["t"]
        return int(self.share.partitions[topic.id, partition].start)


@asynccontextmanager
async def world(partitions: int = 1, brokers: int = 1, **features: int) -> AsyncIterator[World]:
    levels = {name.replace("_", "."): level for name, level in features.items()}
    async with Sandbox(topics={"t": partitions}, brokers=brokers, features=levels) as sandbox:
        settings = ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap))
        async with Client(settings) as client:
            yield World(sandbox, client)
        assert sandbox.violations == []


def values(got: Iterable[Acquired]) -> list[int]:
    return [int(record.value or b"-1") for one in got for batch in one.batches for record in batch]


async def gather(consumer: ShareConsumer, count: int, *, say: str | None = "accept") -> list[Acquired]:
    """Poll until so many records came; each poll's are acknowledged."""
    got: list[Acquired] = []
    async with asyncio.timeout(10):
        while len(values(got)) < count:
            new = await consumer.poll(0.5)
            for one in new:
                if say is None:
                    consumer.hold(one)
                else:
                    consumer.acknowledge(one, say)
            got += new
    return got


async def until(true: Any) -> None:
    async with asyncio.timeout(10):
        while not true():  # noqa: ASYNC110 - what is waited for has no event
            await asyncio.sleep(0.01)


T0 = TopicPartition("t", 0)
