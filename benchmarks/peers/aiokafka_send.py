"""aiokafka: a record for each line of stdin, by a `send` each; acks=all."""

import asyncio
import sys

from aiokafka import AIOKafkaProducer

bootstrap, topic, codec, keyed = sys.argv[1:5]


async def main():
    producer = AIOKafkaProducer(
        bootstrap_servers=bootstrap,
        acks="all",
        linger_ms=5,
        max_batch_size=1_000_000,
        max_request_size=4 << 20,
        compression_type=None if codec == "none" else codec,
    )
    await producer.start()
    for line in sys.stdin.buffer:
        key, value = line[:-1].split(b"\t", 1) if keyed == "1" else (None, line[:-1])
        await producer.send(topic, value, key)
    await producer.flush()
    await producer.stop()


asyncio.run(main())
