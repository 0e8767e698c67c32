"""Topics for a test: made, filled and read with kcli's own client."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any

from kcli.admin.topics.topics import NewTopic, create_topics
from kcli.asking.offsets import list_offsets
from kcli.client import Client
from kcli.model import TopicPartition
from kcli.settings import ClientSettings, ProducerSettings, parse_bootstrap

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    Row = tuple[int | None, int | None, bytes | None, bytes | None, Sequence[tuple[str, bytes | None]]]


class Topics:
    """`make`, `fill` and `read`; every one is over when it returns."""

    def __init__(self, bootstrap: str, name: str) -> None:
        self.bootstrap = bootstrap
        self._name = re.sub(r"[^A-Za-z0-9]+", "-", name)[:80].strip("-")
        self._made = 0
        self.settings = ClientSettings(bootstrap=parse_bootstrap(bootstrap))

    def run(self, what: Callable[[Client], Awaitable[Any]]) -> Any:
        async def call() -> Any:
            async with Client(self.settings) as client:
                return await what(client)

        return asyncio.run(call())

    def make(self, partitions: int = 1, **configs: str) -> str:
        """A new topic's name."""
        self._made += 1
        name = f"{self._name}-{self._made}"
        new = NewTopic(topic=name, partitions=partitions, configs=configs)
        made = self.run(lambda client: create_topics(client.cluster, [new]))
        assert not isinstance(made[name], Exception), made
        return name

    def fill(self, topic: str, rows: Sequence[Row], **settings: Any) -> None:
        """Rows of (partition, timestamp, key, value, headers)."""

        async def send(client: Client) -> None:
            async with client.producer(ProducerSettings(**settings)) as producer:
                await producer.send_records(topic, rows)
                await producer.flush()
                assert producer.counts.acked == len(rows)

        self.run(send)

    def values(self, topic: str, count: int, partition: int = 0, start: int = 0) -> None:
        """`count` records with their number as value."""
        self.fill(topic, [(partition, None, None, b"%d" % n, ()) for n in range(start, start + count)])

    def read(self, topic: str) -> list[tuple[int, Any]]:
        """Every (partition, record) there is now."""

        async def get(client: Client) -> list[tuple[int, Any]]:
            ats = [TopicPartition(topic, one) for one in await client.cluster.partitions(topic)]
            ends = await list_offsets(client.cluster, dict.fromkeys(ats, -1))
            found: list[tuple[int, Any]] = []
            async with client.consumer() as consumer:
                consumer.assign(dict.fromkeys(ats, 0))
                consumer.stop_at({at: ends[at].offset for at in ats})  # type: ignore[union-attr]
                while not consumer.finished:
                    for fetched in await consumer.poll(5):
                        found += [(fetched.partition, record) for batch in fetched.batches for record in batch]
            return found

        return self.run(get)  # type: ignore[no-any-return]
