"""aiokafka: a record for each line of stdin, acks=all, by explicit batches (its fastest way) where there is no key."""

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
    if keyed == "1":
        waiting = []
        for line in sys.stdin.buffer:
            key, value = line[:-1].split(b"\t", 1)
            waiting.append(await producer.send(topic, value, key))
        await asyncio.gather(*waiting)
    else:
        batch, waiting = producer.create_batch(), []
        for line in sys.stdin.buffer:
            if batch.append(key=None, value=line[:-1], timestamp=None) is None:
                waiting.append(await producer.send_batch(batch, topic, partition=0))
                batch = producer.create_batch()
                batch.append(key=None, value=line[:-1], timestamp=None)
        waiting.append(await producer.send_batch(batch, topic, partition=0))
        await asyncio.gather(*waiting)
    await producer.stop()


asyncio.run(main())
