"""confluent-kafka: values of a topic to stdout, to the end."""

import sys

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, TopicPartition

bootstrap, topic = sys.argv[1:3]
consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "bench", "enable.auto.commit": False,
                     "enable.partition.eof": True, "fetch.queue.backoff.ms": 10})  # fmt: skip
partitions = list(consumer.list_topics(topic, timeout=10).topics[topic].partitions)
consumer.assign([TopicPartition(topic, p, OFFSET_BEGINNING) for p in partitions])
left = len(partitions)
while left:
    out = []
    for message in consumer.consume(10_000, timeout=1.0):
        error = message.error()
        if error is None:
            out.append(message.value())
        elif error.code() == KafkaError._PARTITION_EOF:
            left -= 1
        else:
            raise SystemExit(str(error))
    if out:
        sys.stdout.buffer.write(b"\n".join(out) + b"\n")
consumer.close()
