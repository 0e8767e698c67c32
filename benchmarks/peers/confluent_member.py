"""confluent-kafka: a loop over `poll()` as a member of a group that may not pause for five seconds; prints the bytes of
the values."""

import sys
import uuid

from confluent_kafka import Consumer, TopicPartition

bootstrap, topic = sys.argv[1:3]
consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": uuid.uuid4().hex, "auto.offset.reset": "earliest",
                     "max.poll.interval.ms": 5000, "session.timeout.ms": 5000,
                     "fetch.queue.backoff.ms": 10})  # fmt: skip
left = consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=10)[1]
consumer.subscribe([topic])
size = 0
while left:
    message = consumer.poll(1.0)
    if message is not None:
        if message.error() is not None:
            raise SystemExit(str(message.error()))
        size += len(message.value())
        left -= 1
print(size)
consumer.close()
