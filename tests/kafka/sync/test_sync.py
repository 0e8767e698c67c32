"""The plain functions of SyncClient against a real Apache Kafka."""

from __future__ import annotations

import uuid

import kcli
from tests.kafka.cluster import Kafka


def test_a_program_without_async_does_its_main_job(kafka: Kafka) -> None:
    topic, group = f"sync-{uuid.uuid4().hex[:8]}", f"group-{uuid.uuid4().hex[:8]}"
    lines = [b"%d" % number for number in range(1000)]
    with kcli.SyncClient(kafka.bootstrap) as client:
        created = client.admin.create_topics([kcli.NewTopic(topic=topic, partitions=3)])
        assert not isinstance(created[topic], kcli.KcliError)
        with client.producer() as producer:
            stored = producer.send_and_wait(topic, lines[0], partition=0)
            assert (stored.partition, stored.offset) == (0, 0)
            producer.send_records(topic, [(None, None, None, line, ()) for line in lines[1:]])
            assert producer.flush(30) == 0
            assert producer.counts.acked == 1000
        with client.consumer(topic, stop_at_end=True) as consumer:
            assert sorted((message.value for message in consumer), key=int) == lines
        seen = []
        for part in (400, 600):
            with client.consumer(topic, group=group) as consumer:
                seen += [next(consumer).value for _ in range(part)]
        assert sorted(seen, key=int) == lines
        commits = client.admin.committed([group])[group]
        assert isinstance(commits, dict)
        assert sum(at.offset for at in commits.values() if not isinstance(at, kcli.KcliError)) == 1000
        described = client.admin.describe_groups([group])[group]
        assert not isinstance(described, kcli.KcliError)
        assert described.state == "Empty"
        assert client.admin.delete_groups([group]) == {group: True}
        assert client.admin.delete_topics([topic]) == {topic: True}
