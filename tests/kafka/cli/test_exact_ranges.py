"""Times and -N on a real Apache Kafka: timestamps out of order, transaction markers at the end."""

from __future__ import annotations

import json
from collections.abc import Callable

from tests.cli.commands.consume.test_times import BACKFILL, clock, lines
from tests.kafka.cluster import Kafka
from tests.programs import kcli


def test_times_and_last_records(kafka: Kafka, topic_name: Callable[[], str]) -> None:
    topic = topic_name()

    def run(*words: str, stdin: bytes = b"") -> list[str]:
        done = kcli(*words, "-b", kafka.bootstrap, stdin=stdin)
        assert done.code == 0, (words, done)
        return done.out.decode().split()

    run("topics", "create", topic, topic + "-copy", "-p", "1", "--config", "retention.ms=-1")
    for n, time in enumerate(BACKFILL):
        row: dict[str, object] = {"value": str(n), "timestamp": time}
        run("produce", topic, "--input", "json", stdin=lines([row]))
    hour = "--start", clock(10), "--end", clock(11)
    assert run("count", topic, *hour) == ["3"]
    assert run("consume", topic, "-e", *hour) == ["0", "2", "4"]
    assert run("consume", topic, "-e", "--start", clock(12), "--end", clock(14)) == ["1", "3"]
    assert run("tail", topic, "-e", "-f", "%s ", "-o", f"@{clock(10, 30)}:@{clock(12)}") == ["2", "4"]
    reset = ["groups", "reset", "--create", f"g-{topic}", "-t", topic, "--dry-run", "--format", "json", "--to"]
    [row] = json.loads(" ".join(run(*reset, f"@{clock(10, 15)}")))["partitions"]
    assert row["new"] == 1

    for value in (b"x\n", b"y\n", b"z\n"):
        run("produce", topic, "--transactional-id", topic, stdin=value)
    assert run("consume", topic, "-o", "-1", "-e") == ["z"]
    run("copy", topic, topic + "-copy", "-o", "-2")
    assert run("consume", topic + "-copy", "-e") == ["y", "z"]
    run("topics", "trim", topic, "--before", "-1", "--execute")
    assert run("consume", topic, "-e") == ["z"]
