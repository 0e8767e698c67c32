"""Tiered storage (KIP-405, 1005, 1023) on a real Apache Kafka: kcli shows the offsets that kafka-get-offsets shows."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.kafka.artifacts import libs
from tests.kafka.cluster import Kafka
from tests.programs import kcli, until

SOURCE = Path(__file__).parents[1] / "FolderStorage.java"
TIERS = {"local_start": "-4", "tiered": "-5", "pending": "-6"}


@pytest.fixture(scope="module")
def tiered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kafka]:
    """One node with tiered storage in a folder."""
    folder = tmp_path_factory.mktemp("tiered")
    subprocess.run(["javac", "-cp", f"{libs()}/*", "-d", str(folder), str(SOURCE)], check=True, timeout=120)
    settings = {
        "remote.log.storage.system.enable": "true",
        "remote.log.storage.manager.class.name": "FolderStorage",
        "rsm.config.folder": str(folder),
        "remote.log.metadata.manager.listener.name": "INTERNAL",
        "rlmm.config.remote.log.metadata.topic.replication.factor": "1",
        "rlmm.config.remote.log.metadata.topic.num.partitions": "2",
        "remote.log.manager.task.interval.ms": "300",
        "log.retention.check.interval.ms": "300",
        "log.initial.task.delay.ms": "300",
    }
    kafka = Kafka(1, settings)
    kafka.nodes[0].classpath = f":{folder}"
    kafka.start()
    yield kafka
    kafka.stop()


def rows(kafka: Kafka, section: str, *words: str) -> list[dict[str, Any]]:
    done = kcli(*words, "-J", "-b", kafka.bootstrap)
    assert done.code == 0, done.err
    found: list[dict[str, Any]] = json.loads(done.out)[section]
    return found


def theirs(kafka: Kafka, topic: str, time: str) -> dict[int, int]:
    """The offsets that kafka-get-offsets prints."""
    told = kafka.tool(
        "org.apache.kafka.tools.GetOffsetShell",
        *("--bootstrap-server", kafka.bootstrap, "--topic-partitions", topic, "--time", time),
    )
    lines = [line.split(":") for line in told.splitlines() if line.startswith(f"{topic}:")]
    return {int(partition): int(offset) for _, partition, offset in lines}


def agree(kafka: Kafka, topic: str, command: tuple[str, ...]) -> bool:
    """Whether a command and Kafka's own tool show the same: segments are moved and deleted meanwhile."""
    shown = rows(kafka, "partitions", *command)
    return all(
        {row["partition"]: row[column] for row in shown if row[column] is not None}
        == {at: offset for at, offset in theirs(kafka, topic, time).items() if offset >= 0}
        for column, time in TIERS.items()
    )


@pytest.mark.needs("javac")
def test_offsets_of_tiered_storage_are_those_of_kafkas_own_tool(tiered: Kafka, topic_name: Callable[[], str]) -> None:
    topic, plain, there = topic_name(), topic_name(), ("-b", tiered.bootstrap)
    configs = ("remote.storage.enable=true", "segment.bytes=1048576", "local.retention.bytes=1")
    words = [word for config in configs for word in ("--config", config)]
    assert kcli("topics", "create", topic, "-p", "2", "--wait", *words, *there).code == 0
    assert kcli("topics", "create", plain, "-p", "1", "--wait", *there).code == 0
    value = "x" * 20_000
    lines = "".join(f"{value}{n}\n" for n in range(300)).encode()
    for batch in range(3):
        sent = kcli("produce", topic, "-p", "0", *there, stdin=lines[batch * 2_000_000 : (batch + 1) * 2_000_000])
        assert sent.code == 0, sent.err

    def moved() -> bool:
        (first, _) = rows(tiered, "partitions", "offsets", topic)
        return bool(first["local_start"] and first["tiered"])

    until(moved, within=60, said=lambda: rows(tiered, "partitions", "offsets", topic))
    for command in (("offsets", topic), ("topics", "describe", topic)):
        until(partial(agree, tiered, topic, command), within=30, said=partial(rows, tiered, "partitions", *command))
    (first, _) = rows(tiered, "partitions", "offsets", topic)
    assert first["start"] == 0 < first["local_start"]

    def counted() -> bool:
        before, (stats,), after = (
            rows(tiered, "partitions", "offsets", topic),
            rows(tiered, "topics", "topics", "stats", topic, "--over", "0s"),
            rows(tiered, "partitions", "offsets", topic),
        )
        moved = sum(row["tiered"] + 1 for row in after if row["tiered"] is not None)
        return before == after and stats["remote"] == moved  # segments move meanwhile

    until(counted, within=30, said=partial(rows, tiered, "topics", "topics", "stats", topic, "--over", "0s"))
    for row in rows(tiered, "partitions", "offsets", plain) + rows(tiered, "partitions", "topics", "describe", plain):
        assert [row[name] for name in TIERS] == [None, None, None]
    assert rows(tiered, "topics", "topics", "stats", plain, "--over", "0s")[0]["remote"] is None
