"""A killed broker hides no records of the partitions that others lead; on a real Apache Kafka."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

from tests.kafka.cluster import Kafka
from tests.programs import kcli, until


def test_P7_what_a_dead_broker_led_is_named_and_the_rest_is_read(kafka3: Kafka, topic_name: Callable[[], str]) -> None:
    topic, there = topic_name(), ("-b", kafka3.bootstrap)
    made = kcli("topics", "create", topic, "-p", "6", "-r", "1", "--config", "min.insync.replicas=1", "--wait", *there)
    assert made.code == 0, made.err
    for partition in range(6):
        lines = "".join(f"{n}\n" for n in range(30) if n % 6 == partition)
        assert kcli("produce", topic, "-p", str(partition), *there, stdin=lines.encode()).code == 0
    dead = kafka3.leader(topic, 3)
    dead.kill()

    def leaders() -> list[int | None]:
        described = kcli("topics", "describe", topic, "--format", "json", *there)
        return [row["leader"] for row in json.loads(described.out)["partitions"]]

    until(lambda: dead.id not in leaders())
    lost = [partition for partition, leader in enumerate(leaders()) if leader is None]
    assert lost
    led = [n for n in range(30) if n % 6 not in lost]
    begun = time.monotonic()
    done = kcli("consume", topic, "-e", "--timeout", "3s", *there)
    assert time.monotonic() - begun < 5, "three seconds, and the start of a process on a busy machine"
    assert (done.code, sorted(map(int, done.out.split()))) == (1, led), done.err
    names = ", ".join(f"{topic}[{partition}]" for partition in lost)
    assert f"kcli: {names} ha" in done.err
    counted = kcli("count", topic, "-J", *there)
    document = json.loads(counted.out)
    assert (counted.code, document["ok"], document["total"]) == (1, False, None)
    assert sum(row["count"] for row in document["partitions"]) == len(led)
    assert len(document["errors"]) == len(lost)
    assert kcli("tail", topic, "-n", "30", "-e", *there).code == 1
