"""Eligible leader replicas (KIP-966) on a real Apache Kafka of three brokers: what `kcli topics describe` shows is what
kafka-topics shows, and a leaderless partition names the broker to start."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from typing import Any

from tests.kafka.cluster import Kafka
from tests.programs import kcli, until


def partitions(kafka: Kafka, topic: str) -> list[dict[str, Any]]:
    done = kcli("topics", "describe", topic, "-J", "-b", kafka.bootstrap)
    rows: list[dict[str, Any]] = json.loads(done.out)["partitions"]
    return rows


def theirs(kafka: Kafka, topic: str) -> list[tuple[list[int], list[int]]]:
    """The eligible replicas and the last known ones of each partition, as kafka-topics prints them."""
    told = kafka.tool(
        "org.apache.kafka.tools.TopicCommand", "--bootstrap-server", kafka.bootstrap, "--describe", "--topic", topic
    )
    found = re.findall(r"Partition: (\d+).*?Elr: ([\d,]*)\s+LastKnownElr: ([\d,]*)", told)
    numbers = [tuple([int(one) for one in text.split(",") if one] for text in row[1:]) for row in found]
    assert numbers, told
    return numbers  # type: ignore[return-value]


def agree(kafka: Kafka, topic: str) -> bool:
    ours = [(row["elr"] or [], row["last_known_elr"] or []) for row in partitions(kafka, topic)]
    return ours == theirs(kafka, topic)


def test_eligible_replicas_are_kafkas_own_and_a_leaderless_partition_names_the_safe_one(
    kafka3: Kafka, topic_name: Callable[[], str]
) -> None:
    topic, alone, there = topic_name(), topic_name(), ("-b", kafka3.bootstrap)
    for name, replicas in ((topic, "2"), (alone, "1")):
        assert kcli("topics", "create", name, "-p", "6", "-r", replicas, "--wait", *there).code == 0
    assert all(row["elr"] is None and row["note"] is None for row in partitions(kafka3, topic))
    dead = kafka3.leader(alone, 0)
    dead.kill()
    until(lambda: any(row["elr"] for row in partitions(kafka3, topic)), said=lambda: partitions(kafka3, topic))
    until(lambda: any(row["leader"] is None for row in partitions(kafka3, alone)))
    for name in (topic, alone):
        until(partial(agree, kafka3, name))
    lost = [row for row in partitions(kafka3, alone) if row["leader"] is None]
    assert lost
    for row in lost:
        assert row["elr"] == [dead.id]
        assert row["note"] == f"no leader; broker {dead.id} has all committed records: start it"
    table = kcli("topics", "describe", alone, *there, "--wide").out.decode()
    assert f"broker {dead.id} has all committed records: start it" in table
    assert "ELR" in table
    kafka3.heal()
    until(lambda: all(row["elr"] is None and row["note"] is None for row in partitions(kafka3, alone)))
