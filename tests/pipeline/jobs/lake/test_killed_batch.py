"""SIGKILL of an export with --batch: the next run puts away what it left, and no reader ever sees that."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyarrow import dataset

from tests.pipeline.jobs.lake.readers import by_duckdb, by_pyiceberg, duckdb, strays, table_of
from tests.pipeline.jobs.lake.test_killed import PATIENCE, ROOT

if TYPE_CHECKING:
    from tests.pipeline.topics import Topics

pytestmark = [pytest.mark.spark, pytest.mark.process, pytest.mark.timeout(1200)]
KILLED = -signal.SIGKILL


class Exports:
    """Exports of one topic in a folder, to their end or to a point where they are killed."""

    def __init__(self, topics: Topics, folder: Path) -> None:
        self.topic = topics.make(2)
        topics.fill(self.topic, [(n % 2, None, None, b"%d" % n, ()) for n in range(1000)])
        self.folder = folder
        state = {"XDG_DATA_HOME": str(folder / "share"), "XDG_STATE_HOME": str(folder / "state")}
        self._own = {"KCLI_BOOTSTRAP": topics.bootstrap, "PYTHONPATH": str(ROOT), **state}

    def run(self, point: str, *words: str) -> tuple[int, str]:
        """The exit code, and what it said."""
        line = [sys.executable, "-m", "tests.pipeline.jobs.lake.killed", point, "export", self.topic, *words]
        line += ["--select", "partition, offset, CAST(value AS STRING) AS value"]
        done = subprocess.run(
            line,
            cwd=self.folder,
            env={**os.environ, **self._own},
            timeout=PATIENCE,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stderr


def rows_in(lake: Path) -> list[int]:
    """The rows that Arrow finds anywhere below a folder (as Spark it passes over names with a dot), and those that
    DuckDB finds in the export `out` in it."""
    try:
        with duckdb.connect() as connection:
            found = connection.execute(f"SELECT count(*) FROM read_parquet('{lake}/out/*.parquet')").fetchone()
    except duckdb.IOException:
        found = (0,)
    return [dataset.dataset(lake, format="parquet").count_rows(), int(found[0])]


@pytest.mark.long
def test_what_is_beside_a_folder_is_removed_and_a_half_replaced_one_comes_back(topics: Topics, tmp_path: Path) -> None:
    exports, lake = Exports(topics, tmp_path), tmp_path / "lake"
    lake.mkdir()
    assert exports.run("folder", "lake/out")[0] == KILLED
    (part,) = lake.iterdir()
    assert part.name.startswith(".out.part-")
    assert list(part.glob("*.parquet"))
    assert rows_in(lake) == [0, 0]

    code, said = exports.run("never", "lake/out")
    assert code == 0, said
    assert f"kcli: removed {part}, left behind by a killed export\n" in said
    assert [os.listdir(lake), rows_in(lake)] == [["out"], [1000, 1000]]

    assert exports.run("swap", "lake/out", "--overwrite", "-o", "7:")[0] == KILLED
    assert rows_in(lake) == [0, 0]
    code, said = exports.run("never", "lake/out")
    assert code == 2
    assert (
        f"kcli: {lake / 'out'} has the previous export again, because the run that was replacing it was killed\n"
        in said
    )
    assert "is not empty: --append adds to it, --overwrite replaces it" in said
    assert [os.listdir(lake), rows_in(lake)] == [["out"], [1000, 1000]]


@pytest.mark.long
def test_files_of_a_killed_export_are_of_no_table_and_those_of_a_commit_stay(topics: Topics, tmp_path: Path) -> None:
    from kcli.pipeline.jobs.lake.catalogs import place_of
    from kcli.pipeline.jobs.lake.iceberg import IcebergTable

    exports, lake = Exports(topics, tmp_path), tmp_path / "lake"
    line = ["raw.orders", "--file-format", "iceberg", "--warehouse", "lake"]
    assert exports.run("commit", *line)[0] == KILLED
    left = sorted(str(path) for path in lake.rglob("*.parquet"))
    assert left, "files of a table that is not there"
    assert exports.run("never", *line) == (0, "")
    table = table_of(lake, "raw.orders")
    assert [len(by_pyiceberg(table, "value")), strays(lake, table)] == [1000, left]
    assert exports.run("never", *line, "--append", "-o", "7:") == (0, "")
    found = IcebergTable("raw.orders", place_of(str(lake), None)).clean(0, delete=True)
    assert sorted(one.removeprefix("file://") for one in found) == left
    table = table_of(lake, "raw.orders")
    assert by_duckdb(table, "SELECT count(*) FROM rows") == [(1986,)]
    assert not strays(lake, table)
