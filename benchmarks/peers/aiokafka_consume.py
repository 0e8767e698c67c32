"""aiokafka: values of a topic to stdout, to the end."""

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
    ends = await consumer.end_offsets(partitions)
    while True:
        behind = [tp for tp in partitions if await consumer.position(tp) < ends[tp]]
        if not behind:
            break
        for records in (await consumer.getmany(*behind, timeout_ms=1000)).values():
            sys.stdout.buffer.write(b"\n".join([r.value for r in records]) + b"\n")
    await consumer.stop()


asyncio.run(main())
