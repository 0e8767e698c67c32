"""confluent-kafka: every message of a topic as an object, to the end; prints the bytes of their values."""

import sys

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, TopicPartition

bootstrap, topic = sys.argv[1:3]
consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "bench", "enable.auto.commit": False,
                     "enable.partition.eof": True, "fetch.queue.backoff.ms": 10})  # fmt: skip
partitions = list(consumer.list_topics(topic, timeout=10).topics[topic].partitions)
consumer.assign([TopicPartition(topic, p, OFFSET_BEGINNING) for p in partitions])
left, size = len(partitions), 0
while left:
    for message in consumer.consume(10_000, timeout=1.0):
        error = message.error()
        if error is None:
            size += len(message.value())
        elif error.code() == KafkaError._PARTITION_EOF:
            left -= 1
        else:
            raise SystemExit(str(error))
print(size)
consumer.close()
