"""kafka-python: a record for each line of stdin, acks=all."""

import sys
import warnings

warnings.simplefilter("ignore")
from kafka import KafkaProducer  # noqa: E402

bootstrap, topic, codec, keyed = sys.argv[1:5]
producer = KafkaProducer(bootstrap_servers=bootstrap, acks="all", linger_ms=5, batch_size=1_000_000,
                         max_request_size=4 << 20, compression_type=None if codec == "none" else codec)  # fmt: skip
last = []
for line in sys.stdin.buffer:
    key, value = line[:-1].split(b"\t", 1) if keyed == "1" else (None, line[:-1])
    last = [producer.send(topic, value, key)]
producer.flush()
for future in last:
    future.get(10)
producer.close()
