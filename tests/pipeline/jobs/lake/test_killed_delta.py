"""SIGKILL at points of a merge into a Delta table, and of a change of its columns: the table is what the records make
of it, by two readers, and no row is changed twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from tests.pipeline import connector
from tests.pipeline.jobs.lake.events import EVENTS, event, row, tombstone

if TYPE_CHECKING:
    from tests.pipeline.topics import Topics

deltalake = pytest.importorskip("deltalake", reason="pip install 'kcli-kafka[delta]'")
pytestmark = [pytest.mark.spark, pytest.mark.long, pytest.mark.process, pytest.mark.timeout(1500)]
ROOT = Path(__file__).parents[4]
PATIENCE = 280
KILLED = -signal.SIGKILL


def run(point: str, words: list[str], folder: Path, bootstrap: str) -> int:
    """The pipeline, to its end or to the point; its exit code."""
    own = {"KCLI_BOOTSTRAP": bootstrap, "XDG_DATA_HOME": str(folder / "share"), "XDG_STATE_HOME": str(folder / "state")}
    line = [sys.executable, "-m", "tests.pipeline.jobs.lake.killed_delta", point, *words]
    environment = {**os.environ, **own, "PYTHONPATH": str(ROOT)}
    return subprocess.run(line, cwd=folder, env=environment, timeout=PATIENCE, check=False).returncode


def by_two(lake: Path, columns: str) -> list[list[Any]]:
    """The rows, by deltalake, and by DuckDB from the files that the table names."""
    known = deltalake.DeltaTable(lake)
    files = ", ".join(f"'{name.removeprefix('file://')}'" for name in known.file_uris())
    with duckdb.connect() as connection:
        sql = f"SELECT {columns} FROM read_parquet([{files}], union_by_name = true) ORDER BY id"
        there = connection.execute(sql).fetchall()
    rows = known.to_pyarrow_table(columns=columns.split(", ")).to_pylist()
    return [sorted((tuple(one.values()) for one in rows), key=lambda row: row[0]), there]


@pytest.mark.parametrize("writer", ["deltalake", "spark"])
def test_a_kill_before_and_after_the_merge_changes_each_row_once(topics: Topics, tmp_path: Path, writer: str) -> None:
    topic, lake = topics.make(2), tmp_path / "lake"
    topics.fill(topic, EVENTS)
    topics.fill(topic, [event("c", None, row(n, f"n{n}", float(n)), partition=1) for n in range(10, 500)])
    line = ["export", topic, "lake", "--file-format", "delta", "--value-format", "json", "--once", "--name", "k", "-q"]
    line += ["--merge", "id", "--unwrap", "debezium"]
    if writer == "spark":
        line += ["--jars", ",".join(connector.delta_jars())]

    assert run("commit", line, tmp_path, topics.bootstrap) == KILLED
    assert not (lake / "_delta_log").exists()
    assert run("checkpoint", line, tmp_path, topics.bootstrap) == KILLED
    orders = [(1, "ann", 7.5), (2, "bob", 2.5)]
    wanted = sorted([*orders, *[(n, f"n{n}", float(n)) for n in range(10, 500)]])
    assert by_two(lake, "id, name, total") == [wanted, wanted]
    topics.fill(topic, [tombstone(n, partition=1) for n in range(10, 490)])
    assert run("never", line, tmp_path, topics.bootstrap) == 0
    wanted = sorted([*orders, *[(n, f"n{n}", float(n)) for n in range(490, 500)]])
    assert by_two(lake, "id, name, total") == [wanted, wanted]
    assert deltalake.DeltaTable(lake).version() == 1, "the batch that was merged is not merged again"


def test_a_kill_between_wider_columns_and_the_batch_leaves_each_row_once(topics: Topics, tmp_path: Path) -> None:
    topic, lake = topics.make(2), tmp_path / "lake"
    topics.fill(topic, [(n % 2, None, None, b'{"id": %d, "total": %d}' % (n, n), ()) for n in range(100)])
    line = ["export", topic, "lake", "--file-format", "delta", "--value-format", "json", "--once", "--name", "k", "-q"]
    line += ["--select", "value.*", "--schema-mode", "evolve", "--on-bad", "quarantine", "--quarantine", "bad"]
    assert run("never", [*line, "--value-schema", "id BIGINT, total BIGINT"], tmp_path, topics.bootstrap) == 0
    line += ["--value-schema", "id BIGINT, total DOUBLE, name STRING"]
    later = [b'{"id": %d, "total": %d.5, "name": "n%d"}' % (n, n, n) for n in range(100, 200)]
    topics.fill(topic, [(n % 2, None, None, value, ()) for n, value in enumerate(later)])
    topics.fill(topic, [(0, None, None, b'{"id": "x"}', ()), (1, None, None, b"no json", ())])
    assert run("schema", line, tmp_path, topics.bootstrap) == KILLED
    first: list[Any] = [(n, float(n), None) for n in range(100)]
    assert by_two(lake, "id, total, name") == [first, first], "the columns changed, and no row came"
    assert run("never", line, tmp_path, topics.bootstrap) == 0
    wanted = [*first, *[(n, n + 0.5, f"n{n}") for n in range(100, 200)]]
    assert by_two(lake, "id, total, name") == [wanted, wanted]
    with duckdb.connect() as connection:
        sql = f"SELECT partition, \"offset\" FROM '{tmp_path}/bad/*.parquet' ORDER BY ALL"
        assert connection.execute(sql).fetchall() == [(0, 100), (1, 100)]
