"""SIGKILL at points of a merge into a Delta table, of a topic of a real Apache Kafka that has Debezium's events: the
table is what the events make of it, by two readers, and no row is changed twice."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from tests.pipeline.jobs.lake.events import EVENTS, event, row, tombstone
from tests.pipeline.jobs.lake.test_killed import run
from tests.pipeline.topics import Topics

if TYPE_CHECKING:
    from pathlib import Path

    from tests.kafka.cluster import Kafka

deltalake = pytest.importorskip("deltalake", reason="pip install 'kcli-kafka[delta]'")


def by_two(table: Path) -> tuple[list[Any], list[Any]]:
    """The rows, by deltalake, and by DuckDB from the files that the log names."""
    known = deltalake.DeltaTable(table)
    files = ", ".join(f"'{name.removeprefix('file://')}'" for name in known.file_uris())
    with duckdb.connect() as connection:
        there = connection.execute(f"SELECT id, name, total FROM read_parquet([{files}]) ORDER BY ALL").fetchall()
    return sorted(tuple(one.values()) for one in known.to_pyarrow_table().to_pylist()), there


@pytest.mark.spark
@pytest.mark.kafka
@pytest.mark.process
@pytest.mark.timeout(1200)
def test_a_kill_before_and_after_the_merge_changes_each_row_once(kafka: Kafka, tmp_path: Path) -> None:
    topics, table = Topics(kafka.bootstrap, "killed-merge"), tmp_path / "lake"
    topic = topics.make(2)
    topics.fill(topic, EVENTS)
    topics.fill(topic, [event("c", None, row(n, f"n{n}", float(n)), partition=1) for n in range(10, 500)])
    line = ["export", topic, "lake", "--file-format", "delta", "--value-format", "json", "--once", "--name", "k", "-q"]
    line += ["--merge", "id", "--unwrap", "debezium"]

    assert run("commit", line, tmp_path, topics.bootstrap) == -signal.SIGKILL
    assert list(table.rglob("*.parquet")), "rows of a batch that is not merged"
    assert run("checkpoint", line, tmp_path, topics.bootstrap) == -signal.SIGKILL
    orders = [(1, "ann", 7.5), (2, "bob", 2.5)]
    wanted = sorted([*orders, *[(n, f"n{n}", float(n)) for n in range(10, 500)]])
    assert by_two(table) == (wanted, wanted)
    merged = deltalake.DeltaTable(table).version()
    topics.fill(topic, [tombstone(n, partition=1) for n in range(10, 490)])
    assert run("never", line, tmp_path, topics.bootstrap) == 0
    wanted = sorted([*orders, *[(n, f"n{n}", float(n)) for n in range(490, 500)]])
    assert by_two(table) == (wanted, wanted)
    assert deltalake.DeltaTable(table).version() == merged + 1, "the batch that was merged is not merged again"
    assert not list(table.glob("kcli-*"))
