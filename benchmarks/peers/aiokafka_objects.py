"""aiokafka: every record of a topic as an object, to the end; prints the bytes of their values."""

import asyncio
import sys

from aiokafka import AIOKafkaConsumer, TopicPartition

bootstrap, topic = sys.argv[1:3]


async def main():
    consumer = AIOKafkaConsumer(bootstrap_servers=bootstrap, enable_auto_commit=False,
                                max_partition_fetch_bytes=4 << 20)  # fmt: skip
    await consumer.start()
    await consumer._client.force_metadata_update()
    await consumer._client._wait_on_metadata(topic)
    partitions = [TopicPartition(topic, p) for p in consumer.partitions_for_topic(topic)]
    consumer.assign(partitions)
    await consumer.seek_to_beginning()
    left = sum((await consumer.end_offsets(partitions)).values())
    size = 0
    async for record in consumer:
        size += len(record.value)
        left -= 1
        if not left:
            break
    print(size)
    await consumer.stop()


asyncio.run(main())
