"""Dead letters of share groups (KIP-1191) on a real Apache Kafka: its broker writes them, `kcli redrive` sends the
records back, whether the broker copied them or only wrote down their places."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.kafka.cluster import Kafka
from tests.programs import Result, kcli, until

BASE = 1_700_000_000_000  # ms
CONFIGS = "org.apache.kafka.tools.ConfigCommand"


class Queue:
    """A topic, a share group that reads it from the beginning, and the group's dead-letter topic."""

    def __init__(self, kafka: Kafka, name: str, folder: Path) -> None:
        self.kafka, self.topic, self.group, self.dlq = kafka, name, f"g-{name}", f"dlq.g-{name}"
        self.folder = folder
        self.ok("topics", "create", name, "-p", "3", "--config", "retention.ms=-1", "--wait")

    def run(self, *words: str, stdin: bytes = b"") -> Result:
        return kcli(*words, "-b", self.kafka.bootstrap, stdin=stdin, env={"XDG_STATE_HOME": str(self.folder)})

    def ok(self, *words: str, stdin: bytes = b"") -> Result:
        done = self.run(*words, stdin=stdin)
        assert done.code == 0, (words, done.err, done.out)
        return done

    def write(self, numbers: range) -> None:
        lines = [
            {"key": f"k{n}", "value": f"v{n}", "partition": n % 3, "timestamp": BASE + n, "headers": [["own", str(n)]]}
            for n in numbers
        ]
        self.ok("produce", self.topic, "--input", "json", stdin="\n".join(map(json.dumps, lines)).encode())

    def reject(self, count: int) -> None:
        """Have a consumer reject all there is; `count` dead letters are there afterwards."""
        self.ok("consume", self.topic, "--share-group", self.group, "--from-beginning", "-e", "--share-ack", "reject")
        until(lambda: len(self.records(self.dlq)) >= count, said=lambda: self.records(self.dlq))
        assert len(self.records(self.dlq)) == count

    def records(self, topic: str) -> list[dict[str, Any]]:
        out = self.ok("consume", topic, "-e", "-q", "--envelope").out
        return sorted(map(json.loads, out.splitlines()), key=lambda record: (record["partition"], record["offset"]))

    def redrive(self, *words: str) -> tuple[Result, dict[str, Any]]:
        done = self.run("redrive", self.dlq, "-J", *words)
        document: dict[str, Any] = json.loads(done.out)
        return done, document


@pytest.fixture
def queue(kafka: Kafka, topic_name: Callable[[], str], tmp_path: Path) -> Queue:
    return Queue(kafka, topic_name(), tmp_path)


def as_sent(record: dict[str, Any]) -> tuple[object, ...]:
    return record["partition"], record["timestamp"], record["key"], record["value"]


def test_a_plan_sets_the_queue_up_and_undo_takes_it_away(queue: Queue) -> None:
    plan = queue.ok("groups", "dlq", queue.group, "-p", "2", "-J")
    changes = [(row["kind"], row["name"], row["config"], row["new"]) for row in json.loads(plan.out)["changes"]]
    assert changes == [
        ("topic", queue.dlq, "partitions", "2"),
        ("topic", queue.dlq, "errors.deadletterqueue.group.enable", "true"),
        ("group", queue.group, "errors.deadletterqueue.topic.name", queue.dlq),
    ]
    assert queue.dlq not in queue.ok("topics", "list").out.decode(), "a plan changes nothing"
    queue.ok("groups", "dlq", queue.group, "-p", "2", "--copy", "--execute")
    where = ("--bootstrap-server", queue.kafka.bootstrap, "--describe", "--entity-type")
    told = queue.kafka.tool(CONFIGS, *where, "groups", "--entity-name", queue.group)
    assert f"errors.deadletterqueue.topic.name={queue.dlq}" in told
    assert "errors.deadletterqueue.copy.record.enable=true" in told
    told = queue.kafka.tool(CONFIGS, *where, "topics", "--entity-name", queue.dlq)
    assert "errors.deadletterqueue.group.enable=true" in told
    assert "nothing to change" in queue.ok("groups", "dlq", queue.group, "--copy").err
    queue.ok("groups", "dlq", queue.group, "--off", "--execute")
    told = queue.kafka.tool(CONFIGS, *where, "groups", "--entity-name", queue.group)
    assert "errors.deadletterqueue" not in told
    history = json.loads(kcli("history", "-J", env={"XDG_STATE_HOME": str(queue.folder)}).out)["changes"]
    for number in sorted((row["number"] for row in history), reverse=True):
        queue.ok("undo", str(number), "--execute")
    assert queue.dlq not in queue.ok("topics", "list").out.decode()
    refused = queue.run("groups", "dlq", queue.group, "--topic", "orders-dead")
    assert refused.code == 2
    assert "begin with dlq." in refused.err


def test_records_that_the_broker_did_not_copy_are_fetched_from_their_places(queue: Queue) -> None:
    queue.write(range(30))
    queue.ok("groups", "dlq", queue.group, "--execute")
    queue.reject(30)
    assert all(record["value"] is None and record["key"] is None for record in queue.records(queue.dlq))
    before = queue.records(queue.topic)
    done, document = queue.redrive()
    assert (done.code, document["targets"][0]["records"]) == (0, 30)
    done, document = queue.redrive("--execute")
    assert (done.code, document["targets"][0]["redriven"]) == (0, 30), done.err
    sent = [record for record in queue.records(queue.topic) if record not in before]
    assert sorted(map(as_sent, sent)) == sorted(map(as_sent, before))
    for record in sent:
        assert record["headers"] == [["own", record["key"][1:]], ["kcli-redrive-attempts", "1"]]


def test_records_that_are_gone_are_refused_and_no_null_takes_their_place(queue: Queue) -> None:
    queue.write(range(30))
    queue.ok("groups", "dlq", queue.group, "--execute")
    queue.reject(30)
    queue.ok("topics", "trim", f"{queue.topic}:0", "--before", "5", "--execute")
    done, document = queue.redrive("--execute")
    assert (done.code, document["ok"]) == (1, False), (document, done.err)
    assert "its topic no longer has the record" in done.err
    done, document = queue.redrive("--execute", "--on-error", "skip")
    by_note = {bool(row["note"]): row for row in document["targets"]}
    assert (done.code, by_note[True]["failed"]) == (1, 5)
    values = [record["value"] for record in queue.records(queue.topic)]
    assert None not in values
    assert sorted(values) == sorted([f"v{n}" for n in range(30) if n % 3 or n >= 15] * 2)


def test_records_that_the_broker_copied_outlive_their_topic(queue: Queue) -> None:
    queue.write(range(12))
    queue.ok("groups", "dlq", queue.group, "--copy", "--execute")
    queue.reject(12)
    before = queue.records(queue.topic)
    done, document = queue.redrive("--execute")
    assert (done.code, document["targets"][0]["redriven"]) == (0, 12), done.err
    whole = [record for record in queue.records(queue.topic) if record not in before]
    assert sorted(map(as_sent, whole)) == sorted(map(as_sent, before)), "with times and headers, which Kafka copies not"
    assert all(["own", record["key"][1:]] in record["headers"] for record in whole)
    queue.ok("topics", "trim", queue.topic, "--before", "end", "--execute")
    done, document = queue.redrive("--execute", "--restart")
    assert (done.code, document["targets"][0]["redriven"]) == (0, 12), done.err
    sent = queue.records(queue.topic)
    assert sorted(as_sent(record)[2:] for record in sent) == sorted(as_sent(record)[2:] for record in before)
    letters = {record["value"]: record["timestamp"] for record in queue.records(queue.dlq)}
    assert {record["value"]: record["timestamp"] for record in sent} == letters, "Kafka keeps no other time of a record"
    assert all(record["headers"] == [["kcli-redrive-attempts", "1"]] for record in sent)
