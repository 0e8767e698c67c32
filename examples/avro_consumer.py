"""Print a topic of Avro records, by the schemas of a registry.

kcli sandbox --port 9092 --registry &
python examples/avro_consumer.py localhost:9092 http://localhost:8081 orders
"""

import sys

import kcli
from kcli.formats import avro

bootstrap, registry, topic = sys.argv[1:]
with kcli.SyncClient(bootstrap) as kafka:
    with kafka.consumer(topic, stop_at_end=True, value=avro(registry)) as consumer:
        for message in consumer:
            print(message.offset, message.value)
