"""kcli: a record for each line of stdin, by a `send` each, as users of the library write it; acks=all."""

import asyncio
import sys

import kcli

bootstrap, topic, codec, keyed = sys.argv[1:5]


async def main() -> None:
    settings = kcli.ProducerSettings(compression=codec, linger=0.005)
    async with kcli.Client(bootstrap) as client, client.producer(settings) as producer:
        for line in sys.stdin.buffer:
            key, value = line[:-1].split(b"\t", 1) if keyed == "1" else (None, line[:-1])
            await producer.send(topic, value, key=key)
        await producer.flush()
        lost = producer.counts.failed + producer.counts.unknown
    sys.exit(1 if lost else 0)


asyncio.run(main())
