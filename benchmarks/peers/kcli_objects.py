"""kcli: every record of a topic as an object, to the end; prints the bytes of their values."""

import asyncio
import sys

from kcli.client import Client
from kcli.grammar.bound import Bound
from kcli.model import TopicPartition
from kcli.settings import ClientSettings, parse_bootstrap

bootstrap, topic = sys.argv[1:3]


async def main() -> None:
    size = 0
    async with Client(ClientSettings(bootstrap=parse_bootstrap(bootstrap))) as client:
        places = [TopicPartition(topic, p) for p in await client.cluster.partitions(topic)]
        async with client.consumer() as consumer:
            consumer.assign(dict.fromkeys(places, Bound("earliest")))
            consumer.stop_at({at: (await _end(client, at)) for at in places})
            while not consumer.finished:
                for fetched in await consumer.poll():
                    for batch in fetched.batches:
                        for record in batch:
                            size += len(record.value)
    print(size)


async def _end(client: Client, at: TopicPartition) -> int:
    from kcli.consumer.offsets import resolve

    return (await resolve(client.cluster, {at: Bound("latest")}))[at].offset


asyncio.run(main())
