"""kafka-python: values of a topic to stdout, to the end."""

import sys
import warnings

warnings.simplefilter("ignore")
from kafka import KafkaConsumer, TopicPartition  # noqa: E402

bootstrap, topic = sys.argv[1:3]
consumer = KafkaConsumer(bootstrap_servers=bootstrap, auto_offset_reset="earliest", enable_auto_commit=False,
                         max_partition_fetch_bytes=4 << 20)  # fmt: skip
partitions = [TopicPartition(topic, p) for p in consumer.partitions_for_topic(topic)]
consumer.assign(partitions)
consumer.seek_to_beginning()
ends = consumer.end_offsets(partitions)
while any(consumer.position(tp) < ends[tp] for tp in partitions):
    for records in consumer.poll(timeout_ms=1000, max_records=10_000).values():
        sys.stdout.buffer.write(b"\n".join([r.value for r in records]) + b"\n")
consumer.close()
