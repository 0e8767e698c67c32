"""SIGKILL at points of a merge, and of a change of a table's columns, of a topic of a real Apache Kafka: the table is
what the records make of it, by two readers, and no row is changed twice."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from tests.pipeline.jobs.lake.events import EVENTS, event, row, tombstone
from tests.pipeline.jobs.lake.readers import by_duckdb, by_pyiceberg, table_of
from tests.pipeline.jobs.lake.test_killed import run
from tests.pipeline.topics import Topics

if TYPE_CHECKING:
    from pathlib import Path

    from tests.kafka.cluster import Kafka

deltalake = pytest.importorskip("deltalake", reason="pip install 'kcli-kafka[delta]'")


COLUMNS = "id, name, total"


def by_two(lake: Path, form: str, columns: str = COLUMNS) -> tuple[list[Any], list[Any]]:
    """The rows, by the package of the format, and by DuckDB from the files that the table names."""
    if form == "iceberg":
        table = table_of(lake, "raw.orders")
        return by_pyiceberg(table, *columns.split(", ")), by_duckdb(table, f"SELECT {columns} FROM rows ORDER BY ALL")
    known = deltalake.DeltaTable(lake)
    files = ", ".join(f"'{name.removeprefix('file://')}'" for name in known.file_uris())
    with duckdb.connect() as connection:
        sql = f"SELECT {columns} FROM read_parquet([{files}], union_by_name = true) ORDER BY ALL"
        there = connection.execute(sql).fetchall()
    rows = known.to_pyarrow_table(columns=columns.split(", ")).to_pylist()
    return sorted((tuple(one.values()) for one in rows), key=_nulls_last), there


def _nulls_last(row: tuple[Any, ...]) -> list[tuple[bool, Any]]:
    return [(value is None, value) for value in row]


def changes(lake: Path, form: str) -> int:
    """How often the table was changed."""
    if form == "delta":
        return int(deltalake.DeltaTable(lake).version())
    operations = [one.summary for one in table_of(lake, "raw.orders").metadata.snapshots]
    return len({one["kcli.commit"] for one in operations if one is not None})


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.kafka
@pytest.mark.process
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("form", ["iceberg"])
def test_a_kill_before_and_after_the_merge_changes_each_row_once(kafka: Kafka, tmp_path: Path, form: str) -> None:
    topics, lake = Topics(kafka.bootstrap, f"killed-merge-{form}"), tmp_path / "lake"
    topic = topics.make(2)
    topics.fill(topic, EVENTS)
    topics.fill(topic, [event("c", None, row(n, f"n{n}", float(n)), partition=1) for n in range(10, 500)])
    line = ["export", topic, *(["lake"] if form == "delta" else ["raw.orders", "--warehouse", "lake"])]
    line += ["--file-format", form, "--value-format", "json", "--once", "--name", "k", "-q"]
    line += ["--merge", "id", "--unwrap", "debezium"]

    assert run("commit", line, tmp_path, topics.bootstrap) == -signal.SIGKILL
    assert run("checkpoint", line, tmp_path, topics.bootstrap) == -signal.SIGKILL
    orders = [(1, "ann", 7.5), (2, "bob", 2.5)]
    wanted = sorted([*orders, *[(n, f"n{n}", float(n)) for n in range(10, 500)]])
    assert by_two(lake, form) == (wanted, wanted)
    merged = changes(lake, form)
    topics.fill(topic, [tombstone(n, partition=1) for n in range(10, 490)])
    assert run("never", line, tmp_path, topics.bootstrap) == 0
    wanted = sorted([*orders, *[(n, f"n{n}", float(n)) for n in range(490, 500)]])
    assert by_two(lake, form) == (wanted, wanted)
    assert changes(lake, form) == merged + 1, "the batch that was merged is not merged again"
    assert not list(lake.rglob("kcli-*/*.parquet"))
