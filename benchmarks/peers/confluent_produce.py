"""confluent-kafka: a record for each line of stdin, acks=all, as large batches as kcat's."""

import sys

from confluent_kafka import Producer

bootstrap, topic, codec, keyed = sys.argv[1:5]
failed = 0


def delivered(error, _message):
    global failed
    failed += error is not None


producer = Producer({"bootstrap.servers": bootstrap, "acks": "all", "compression.type": codec, "linger.ms": 5,
                     "batch.size": 1_000_000, "queue.buffering.max.messages": 1_000_000})  # fmt: skip
for number, line in enumerate(sys.stdin.buffer):
    key, value = line[:-1].split(b"\t", 1) if keyed == "1" else (None, line[:-1])
    while True:
        try:
            producer.produce(topic, value, key, on_delivery=delivered)
            break
        except BufferError:
            producer.poll(0.1)
    if number % 10_000 == 0:
        producer.poll(0)
producer.flush()
sys.exit(1 if failed else 0)
