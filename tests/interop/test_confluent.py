"""confluent-kafka (librdkafka) against the sandbox."""

from __future__ import annotations

import time
from typing import Any

import pytest
from confluent_kafka import Consumer, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic

CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]


def consumer(bootstrap: str, group: str, **options: Any) -> Consumer:
    return Consumer({
        "bootstrap.servers": bootstrap, "group.id": group, "auto.offset.reset": "earliest",
        "enable.auto.commit": False, "session.timeout.ms": 6000, "heartbeat.interval.ms": 100, **options,
    })  # fmt: skip


def take(one: Consumer, count: int, seconds: float = 15) -> list[Message]:
    found: list[Message] = []
    deadline = time.monotonic() + seconds
    while len(found) < count and time.monotonic() < deadline:
        found += [m for m in one.consume(count - len(found), 0.2) if m.error() is None]
    return found


@pytest.mark.parametrize("codec", CODECS)
def test_confluent_reads_back_records_in_every_codec(bootstrap: str, topic: str, codec: str) -> None:
    producer = Producer({"bootstrap.servers": bootstrap, "compression.type": codec, "enable.idempotence": True})
    want = [(b"key-%d" % n, b"value-%d" % n * 10, [("h", b"%d" % n), ("null", None)]) for n in range(500)]
    want += [(None, None, None), (b"", b"", None)]
    for key, value, headers in want:
        producer.produce(topic, value, key, partition=0, headers=headers)
    assert producer.flush(15) == 0
    reader = consumer(bootstrap, "none")
    reader.assign([TopicPartition(topic, 0, 0)])
    assert [(m.key(), m.value(), m.headers()) for m in take(reader, len(want))] == want
    reader.close()


def test_confluent_members_share_a_topic_and_one_resumes_where_the_other_committed(bootstrap: str, topic: str) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    admin.create_topics([NewTopic(topic, 4, 1)])[topic].result(15)
    producer = Producer({"bootstrap.servers": bootstrap})
    for n in range(40):
        producer.produce(topic, str(n), partition=n % 4)
    producer.flush(15)
    first, second = consumer(bootstrap, f"g-{topic}"), consumer(bootstrap, f"g-{topic}")
    first.subscribe([topic])
    assert len(take(first, 40)) == 40
    first.commit(asynchronous=False)
    second.subscribe([topic])
    deadline = time.monotonic() + 15
    while time.monotonic() < deadline and not (len(first.assignment()) == len(second.assignment()) == 2):
        first.poll(0.05)
        second.poll(0.05)
    assert len(first.assignment()) == len(second.assignment()) == 2
    first.close()
    producer.produce(topic, b"after", partition=0)
    producer.flush(15)
    assert [m.value() for m in take(second, 1)] == [b"after"]
    second.close()


def test_confluent_admin_describes_configs_and_deletes(bootstrap: str, topic: str) -> None:
    from confluent_kafka.admin import ConfigResource, ResourceType

    admin = AdminClient({"bootstrap.servers": bootstrap})
    admin.create_topics([NewTopic(topic, 2, 1, config={"retention.bytes": "1000"})])[topic].result(15)
    resource = ConfigResource(ResourceType.TOPIC, topic)
    found = admin.describe_configs([resource])[resource].result(15)
    assert found["retention.bytes"].value == "1000"
    admin.delete_topics([topic])[topic].result(15)
    assert topic not in admin.list_topics(timeout=15).topics


def test_confluent_admin_sets_all_configs_anew(bootstrap: str, topic: str) -> None:
    """AlterConfigs, which librdkafka still speaks: what is not said is set no longer."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    admin.create_topics([NewTopic(topic, 1, 1, config={"retention.ms": "5000"})])[topic].result(15)
    new = ConfigResource("topic", topic, set_config={"retention.bytes": "7"})
    with pytest.warns(DeprecationWarning, match="alter_configs"):
        admin.alter_configs([new])[new].result(15)
    asked = ConfigResource("topic", topic)
    told = admin.describe_configs([asked])[asked].result(15)
    assert (told["retention.bytes"].value, told["retention.ms"].value) == ("7", "604800000")
