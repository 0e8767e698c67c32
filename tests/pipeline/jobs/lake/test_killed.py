"""SIGKILL at each point of a batch: the table is the topic, by two readers; files of no snapshot are found, deleted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyarrow import parquet

from kcli.pipeline.jobs.lake.catalogs import place_of
from kcli.pipeline.jobs.lake.iceberg import IcebergTable
from tests.pipeline.jobs.lake.readers import by_duckdb, by_pyiceberg, strays, table_of

if TYPE_CHECKING:
    from tests.pipeline.topics import Topics

ROOT = Path(__file__).parents[4]
PATIENCE = 280


def run(point: str, words: list[str], folder: Path, bootstrap: str) -> int:
    """The pipeline, to its end at the point; its exit code."""
    own = {"KCLI_BOOTSTRAP": bootstrap, "XDG_DATA_HOME": str(folder / "share"), "XDG_STATE_HOME": str(folder / "state")}
    words = [sys.executable, "-m", "tests.pipeline.jobs.lake.killed", point, *words]
    environment = {**os.environ, **own, "PYTHONPATH": str(ROOT)}
    return subprocess.run(words, cwd=folder, env=environment, timeout=PATIENCE, check=False).returncode


def records(numbers: range) -> list[tuple[int | None, int | None, bytes | None, bytes | None, tuple[()]]]:
    """Each tenth is no JSON."""
    return [(n % 2, None, None, b"%d is bad" % n if n % 10 == 9 else b'{"n":%d}' % n, ()) for n in numbers]


@pytest.mark.spark
@pytest.mark.process
@pytest.mark.timeout(1200)
@pytest.mark.long
def test_a_kill_at_each_point_leaves_the_table_equal_to_the_topic(topics: Topics, tmp_path: Path) -> None:
    topic, lake = topics.make(2), tmp_path / "lake"
    topics.fill(topic, records(range(1000)))
    line = ["export", topic, "raw.orders", "--file-format", "iceberg", "--warehouse", "lake", "--once", "--name", "k"]
    line += ["--value-format", "json", "--value-schema", "n BIGINT", "--on-bad", "quarantine", "--quarantine", "bad"]
    line += ["--select", "partition, offset, value.n", "-q"]

    assert run("files", line, tmp_path, topics.bootstrap) == -signal.SIGKILL
    assert not list(lake.rglob("*.parquet"))
    assert run("commit", line, tmp_path, topics.bootstrap) == -signal.SIGKILL
    left = set(lake.rglob("*.parquet"))
    assert left, "files of a batch that is in no table"
    assert run("checkpoint", line, tmp_path, topics.bootstrap) == -signal.SIGKILL
    table = table_of(lake, "raw.orders")
    assert len(by_pyiceberg(table, "n")) == 900
    assert left <= set(lake.rglob("*.parquet")), "no run deletes what it did not write"
    topics.fill(topic, records(range(1000, 1200)))
    assert run("commit", line, tmp_path, topics.bootstrap) == -signal.SIGKILL
    assert run("never", line, tmp_path, topics.bootstrap) == 0
    table = table_of(lake, "raw.orders")
    wanted = sorted((n % 2, n // 2, n) for n in range(1200) if n % 10 != 9)
    assert by_pyiceberg(table, "partition", "offset", "n") == wanted
    assert by_duckdb(table, 'SELECT partition, "offset", n FROM rows ORDER BY ALL') == wanted
    bad = parquet.read_table(tmp_path / "bad").to_pylist()
    kept = sorted((row["partition"], row["offset"], row["value"]) for row in bad)
    assert kept == sorted((n % 2, n // 2, b"%d is bad" % n) for n in range(9, 1200, 10)), "each bad record once"
    assert len(table.history()) == 2
    orphans = IcebergTable("raw.orders", place_of(str(lake), None)).clean(0, delete=True)
    assert {str(path) for path in left} < {one.removeprefix("file://") for one in orphans}
    assert not strays(lake, table)
    assert by_pyiceberg(table, "partition", "offset", "n") == wanted
