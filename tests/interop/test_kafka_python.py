"""kafka-python against the sandbox."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from typing import Any

import pytest
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import NewTopic

# kafka-python leaves its wake-up sockets to the garbage collector: a stranger's leak, not ours to fix
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")
CODECS = [None, "gzip", "snappy", "lz4", "zstd"]


@pytest.fixture(autouse=True)
def _collect_the_leak_here() -> Iterator[None]:
    yield
    gc.collect()


def servers(bootstrap: str) -> list[str]:
    return bootstrap.split(",")


def take(consumer: Any, count: int, seconds: float = 15) -> list[Any]:
    found: list[Any] = []
    deadline = time.monotonic() + seconds
    while len(found) < count and time.monotonic() < deadline:
        for records in consumer.poll(timeout_ms=200).values():
            found += records
    return found


@pytest.mark.parametrize("codec", CODECS)
def test_kafka_python_reads_back_records_in_every_codec(bootstrap: str, topic: str, codec: str | None) -> None:
    producer = KafkaProducer(bootstrap_servers=servers(bootstrap), compression_type=codec)
    want = [(b"key-%d" % n, b"value-%d" % n * 10, (("h", b"%d" % n),)) for n in range(200)]
    want += [(b"tombstone", None, ()), (None, b"", ())]
    for key, value, headers in want:
        producer.send(topic, value, key, headers=list(headers), partition=0)
    producer.flush(15)
    producer.close()
    consumer = KafkaConsumer(bootstrap_servers=servers(bootstrap), auto_offset_reset="earliest")
    consumer.assign([TopicPartition(topic, 0)])
    found = take(consumer, len(want))
    assert [(r.key, r.value, tuple(r.headers)) for r in found] == want
    consumer.close()


def test_kafka_python_members_rebalance_commit_and_resume(bootstrap: str, topic: str) -> None:
    admin = KafkaAdminClient(bootstrap_servers=servers(bootstrap))
    admin.create_topics([NewTopic(topic, num_partitions=4, replication_factor=1)])
    producer = KafkaProducer(bootstrap_servers=servers(bootstrap))
    for n in range(40):
        producer.send(topic, b"%d" % n, partition=n % 4)
    producer.flush(15)
    options = {
        "bootstrap_servers": servers(bootstrap), "group_id": f"g-{topic}", "auto_offset_reset": "earliest",
        "enable_auto_commit": False, "heartbeat_interval_ms": 100, "metadata_max_age_ms": 1000,
    }  # fmt: skip
    first = KafkaConsumer(**options)
    # a leader that joins before it has the topic's metadata assigns nothing, and may not join again
    assert first.partitions_for_topic(topic) == {0, 1, 2, 3}
    first.subscribe([topic])
    assert len(take(first, 40, seconds=60)) == 40
    first.commit()
    second = KafkaConsumer(topic, **options)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (len(first.assignment()) == len(second.assignment()) == 2):
        first.poll(timeout_ms=50)
        second.poll(timeout_ms=50)
    assert len(first.assignment()) == len(second.assignment()) == 2
    first.close()
    producer.send(topic, b"after", partition=0)
    producer.flush(15)
    assert [r.value for r in take(second, 1)] == [b"after"]
    second.close()
    producer.close()
    admin.close()
