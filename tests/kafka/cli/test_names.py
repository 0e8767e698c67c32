"""Patterns, filters of lists, and what groups stop at, on a real Apache Kafka."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.kafka.cluster import Kafka
from tests.kafka.tools import run_tool
from tests.programs import Result, kcli

TOOLS = "org.apache.kafka.tools."


@pytest.fixture
def prefix(kafka: Kafka, topic_name: Callable[[], str]) -> str:
    """Two topics of a prefix with ten records, of which a group has read four; and a topic of another name."""
    name = topic_name()
    run(kafka, "topics", "create", f"{name}-1", f"{name}-2", f"x-{name}", "-p", "1")
    for number in (1, 2):
        lines = b"".join(b"%d\n" % n for n in range(10))
        assert kcli("produce", f"{name}-{number}", "-b", kafka.bootstrap, stdin=lines).code == 0
    for number in (1, 2):
        where = ("-t", f"{name}-1", "--to", "4", "--execute", "--no-undo")
        run(kafka, "groups", "reset", "--create", f"{name}-g{number}", *where)
    return name


def run(kafka: Kafka, *words: str) -> Result:
    done = kcli(*words, "-b", kafka.bootstrap)
    assert done.code == 0, done.err
    return done


def rows(kafka: Kafka, section: str, *words: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(run(kafka, *words, "-J").out)[section]
    return found


@pytest.mark.parametrize("pattern", ["{}-*", "^{}"])
def test_C20_a_change_by_pattern_is_of_what_matches_and_of_nothing_internal(
    kafka: Kafka, prefix: str, pattern: str
) -> None:
    matched = pattern.format(prefix)
    run(kafka, "consume", f"{prefix}-1", "-g", f"{prefix}-g3", "--from-beginning", "-e")  # makes __consumer_offsets
    everything = [row["topic"] for row in rows(kafka, "topics", "topics", "list", "--internal")]
    assert "__consumer_offsets" in everything
    planned = rows(kafka, "topics", "topics", "delete", "*", "--dry-run", "--internal")
    assert not [row["topic"] for row in planned if row["topic"].startswith("_")]
    assert [row["topic"] for row in rows(kafka, "topics", "topics", "list", matched)] == [f"{prefix}-1", f"{prefix}-2"]
    groups = rows(kafka, "groups", "groups", "delete", matched, "--execute", "--expect", "3", "--no-undo")
    assert [(row["group"], row["result"]) for row in groups] == [(f"{prefix}-g{n}", "deleted") for n in (1, 2, 3)]
    deleted = rows(kafka, "topics", "topics", "delete", matched, "--execute", "--yes")
    assert [(row["topic"], row["result"]) for row in deleted] == [(f"{prefix}-{n}", "deleted") for n in (1, 2)]
    left = [row["topic"] for row in rows(kafka, "topics", "topics", "list", "--internal")]
    assert set(left) == set(everything) - {f"{prefix}-1", f"{prefix}-2"}


def test_a_pattern_is_read_by_commands_about_configs_leaders_replicas_and_producers(kafka: Kafka, prefix: str) -> None:
    two = {f"{prefix}-1", f"{prefix}-2"}
    configs = rows(kafka, "configs", "configs", "get", "topic", f"{prefix}-*", "retention.ms")
    assert {row["name"] for row in configs} == two
    assert {row["topic"] for row in rows(kafka, "producers", "txn", "producers", f"^{prefix}")} == two
    assert {row["topic"] for row in rows(kafka, "replicas", "logdirs", "replicas", "-t", f"{prefix}-?")} == two
    elected = rows(kafka, "partitions", "leaders", "elect", f"{prefix}-*", "--dry-run")
    assert {row["topic"] for row in elected} == two
    assert {row["topic"] for row in rows(kafka, "topics", "meta", f"{prefix}-*")} == two


def test_why_a_group_lags_and_the_records_it_stops_at(kafka: Kafka, prefix: str) -> None:
    (why, _) = rows(kafka, "groups", "groups", "why", f"{prefix}-g?")
    assert (why["status"], why["lag"]) == ("ORPHANED", 6)
    assert why["command"] == f"kcli groups delete {prefix}-g1"
    peeked = rows(kafka, "records", "groups", "peek", f"{prefix}-g1", "-n", "1")
    assert [(row["offset"], row["place"], row["value"]) for row in peeked] == [
        (3, "read", "3"),
        (4, "next", "4"),
        (5, "waiting", "5"),
    ]


def test_states_of_topics_are_those_of_kafkas_own_tool(kafka: Kafka, prefix: str) -> None:
    run(kafka, "topics", "alter", f"{prefix}-1", "--config", "min.insync.replicas=2", "--execute", "--no-undo")
    flags = {
        "--under-replicated": "--under-replicated-partitions",
        "--unavailable": "--unavailable-partitions",
        "--at-min-isr": "--at-min-isr-partitions",
        "--under-min-isr": "--under-min-isr-partitions",
    }
    for ours, kafkas in flags.items():
        said = run_tool(f"{TOOLS}TopicCommand", "--bootstrap-server", kafka.bootstrap, "--describe", kafkas)
        told = {line.split()[1] for line in said.splitlines() if line.strip().startswith("Topic:")}
        listed = {row["topic"] for row in rows(kafka, "topics", "topics", "list", ours, "--internal")}
        assert listed == told, ours
    assert f"{prefix}-1" in {row["topic"] for row in rows(kafka, "topics", "topics", "list", "--under-min-isr")}
    unused = {
        row["topic"]
        for row in rows(kafka, "topics", "topics", "list", f"*{prefix}*", "--unused", "1ms", "--never-written")
    }
    assert unused == {f"{prefix}-2", f"x-{prefix}"}, "groups have read the first"
