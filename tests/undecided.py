"""A topic with committed, aborted and undecided records, and what the commands that read records see of it."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

from kcli.admin.topics.topics import NewTopic, create_topics
from kcli.client import Client
from kcli.producer.producer import Producer
from kcli.settings import ClientSettings, ProducerSettings, parse_bootstrap

COMMITTED = [b"a0", b"a1", b"e0"]
ABORTED = [b"b0", b"b1", b"b2", b"f0"]
UNDECIDED = [b"c0", b"d0"]
STABLE, END = 7, 9
"""The last stable offset and the high watermark of partition 0."""


@contextlib.asynccontextmanager
async def undecided_topic(bootstrap: str, topic: str, name: str) -> AsyncIterator[Producer]:
    """Make the topic, with two partitions. The transaction of `name` is open, and its producer is given."""
    async with Client(ClientSettings(bootstrap=parse_bootstrap(bootstrap))) as client:
        made = await create_topics(client.cluster, [NewTopic(topic=topic, partitions=2)])
        assert not isinstance(made[topic], Exception), made
        settings = ProducerSettings(transactional_id=name, transaction_timeout=60.0)
        async with client.producer(settings) as producer, client.producer(ProducerSettings()) as plain:
            await producer.begin()
            await producer.send(topic, b"a0", partition=0)
            await producer.send(topic, b"a1", partition=0)
            await producer.send(topic, b"e0", partition=1)
            await producer.commit()
            await producer.begin()
            for value in ABORTED:
                await producer.send(topic, value, partition=int(value == b"f0"))
            await producer.flush()
            await producer.abort()
            await producer.begin()
            await producer.send(topic, b"c0", partition=0)
            await producer.flush()
            await plain.send(topic, b"d0", partition=0)
            await plain.flush()
            yield producer
