"""confluent-kafka: seconds from `produce` to its delivery callback, at a steady rate, callbacks served by a thread."""

import json
import sys
import threading
from time import perf_counter, process_time, sleep

from confluent_kafka import Producer

bootstrap, topic, linger, rate, seconds = sys.argv[1:6]
value = bytes(100)
took: list[float] = []
over = threading.Event()
config = {"bootstrap.servers": bootstrap, "acks": "all", "enable.idempotence": True}
producer = Producer(config if linger == "default" else config | {"linger.ms": float(linger)})


def serve() -> None:
    while not over.is_set():
        producer.poll(0.1)


producer.produce(topic, value)
producer.flush()
thread = threading.Thread(target=serve)
thread.start()
begin, cpu = perf_counter(), process_time()
for n in range(int(rate) * int(seconds)):
    wait = begin + n / int(rate) - perf_counter()
    if wait > 0:
        sleep(wait)
    sent = perf_counter()
    producer.produce(
        topic, value, on_delivery=lambda error, _, at=sent: 1 / 0 if error else took.append(perf_counter() - at)
    )
over.set()
thread.join()
producer.flush()
cpu = process_time() - cpu
took.sort()
print(json.dumps([took[len(took) // 2] * 1e3, took[len(took) * 99 // 100] * 1e3, cpu * 1e3]))
