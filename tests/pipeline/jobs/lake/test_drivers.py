"""Two drivers on one checkpoint, a checkpoint out of a backup, one that was reset: the Iceberg table is the topic, or
the run is refused and changes nothing. K1 and K2 of the cases."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.pipeline.jobs.lake.readers import by_duckdb, by_pyiceberg, strays, table_of
from tests.pipeline.jobs.lake.test_killed import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.pipeline.topics import Topics

pytestmark = [pytest.mark.spark, pytest.mark.process, pytest.mark.long, pytest.mark.timeout(1200)]
PATIENCE = 400.0


class Pipeline:
    """Runs of one pipeline, each in a process; `checkpoint` is theirs."""

    def __init__(self, topics: Topics, folder: Path) -> None:
        self.topics, self.folder = topics, folder
        self.topic = topics.make(2)
        self.checkpoint = folder / "checkpoint"
        self.count = 0
        self._started: list[subprocess.Popen[str]] = []

    def fill(self, count: int) -> None:
        numbers = range(self.count, self.count + count)
        self.topics.fill(self.topic, [(n % 2, None, None, b"%d" % n, ()) for n in numbers])
        self.count += count

    def start(self, point: str, machine: str, *words: str) -> subprocess.Popen[str]:
        """A run with --once, on a machine of its own."""
        state = {"XDG_DATA_HOME": str(self.folder / machine), "XDG_STATE_HOME": str(self.folder / machine / "state")}
        line = ["export", self.topic, "raw.orders", "--file-format", "iceberg", "--warehouse", "lake", "--once"]
        line += ["--checkpoint", "checkpoint", "--select", "partition, offset, CAST(CAST(value AS STRING) AS INT) AS n"]
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.pipeline.jobs.lake.killed", point, *line, *words],
            cwd=self.folder,
            env={**os.environ, "KCLI_BOOTSTRAP": self.topics.bootstrap, "PYTHONPATH": str(ROOT), **state},
            stderr=subprocess.PIPE,
            text=True,
        )
        self._started.append(process)
        return process

    def run(self, *words: str) -> str:
        """A run to its end; what it said."""
        process = self.start("never", "here", *words)
        said = process.communicate(timeout=PATIENCE)[1]
        assert process.returncode == 0, said
        return said

    def kcli(self, *words: str) -> None:
        own = {
            "KCLI_BOOTSTRAP": self.topics.bootstrap,
            "XDG_DATA_HOME": str(self.folder / "here"),
            "PYTHONPATH": str(ROOT),
        }
        line = [sys.executable, "-m", "kcli", "pipeline", *words]
        done = subprocess.run(
            line, cwd=self.folder, env={**os.environ, **own}, timeout=100, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr

    def wait_for(self, name: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while not (self.folder / name).exists():
            assert time.monotonic() < deadline, f"no file {name}"
            assert self._started[-1].poll() is None, "the run ended before"
            time.sleep(0.2)

    def check(self, twice: range = range(0)) -> None:
        """The table is the topic, by two readers; numbers of `twice` are there again."""
        table = table_of(self.folder / "lake", "raw.orders")
        wanted = sorted((n % 2, n // 2, n) for n in [*range(self.count), *twice])
        assert by_pyiceberg(table, "partition", "offset", "n") == wanted
        assert by_duckdb(table, 'SELECT partition, "offset", n FROM rows ORDER BY ALL') == wanted

    def end(self) -> None:
        for process in self._started:
            process.kill()
            process.wait(10)


@pytest.fixture
def pipeline(topics: Topics, tmp_path: Path) -> Iterator[Pipeline]:
    pipeline = Pipeline(topics, tmp_path)
    try:
        yield pipeline
    finally:
        pipeline.end()


@pytest.mark.parametrize("batches", [0, 1], ids=["before the table is there", "later"])
def test_a_zombie_beside_the_new_driver_is_refused_and_changes_nothing(pipeline: Pipeline, batches: int) -> None:
    pipeline.fill(100)
    if batches:
        pipeline.run()
        pipeline.fill(100)
    zombie = pipeline.start("pause", "there")
    pipeline.wait_for("waiting")
    try:
        pipeline.run()
        pipeline.check()
        (pipeline.folder / "go").touch()
        said = zombie.communicate(timeout=PATIENCE)[1]
    finally:
        zombie.kill()
    assert zombie.returncode == 1, said
    assert "raw.orders: another " in said
    assert "nothing was committed" in said
    pipeline.check()
    lake = pipeline.folder / "lake"
    assert strays(lake, table_of(lake, "raw.orders")), "the zombie's files are of no table, until `pipeline clean`"
    pipeline.fill(10)
    pipeline.run()
    pipeline.check()


def test_a_checkpoint_out_of_a_backup_goes_on_where_the_table_is(pipeline: Pipeline) -> None:
    pipeline.fill(100)
    pipeline.run()
    shutil.copytree(pipeline.checkpoint, pipeline.folder / "backup")
    pipeline.fill(100)
    pipeline.run()
    shutil.rmtree(pipeline.checkpoint)
    shutil.copytree(pipeline.folder / "backup", pipeline.checkpoint)
    pipeline.fill(60)
    assert "raw.orders is ahead of" in pipeline.run()
    pipeline.check()


def test_a_table_that_was_rolled_back_is_refused(pipeline: Pipeline) -> None:
    for _ in range(2):
        pipeline.fill(100)
        pipeline.run()
    table = table_of(pipeline.folder / "lake", "raw.orders")
    table.manage_snapshots().rollback_to_snapshot(table.snapshots()[0].snapshot_id).commit()
    before = table.metadata_location
    process = pipeline.start("never", "here")
    said = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode == 1
    assert "nothing was written" in said
    assert table.refresh().metadata_location == before


def test_a_reset_of_a_pipeline_whose_last_batch_was_begun_loses_nothing(pipeline: Pipeline) -> None:
    """Records 200 to 249 of 250 never came, before."""
    pipeline.fill(200)
    pipeline.run()
    pipeline.fill(50)
    killed = pipeline.start("checkpoint", "here")
    killed.communicate(timeout=PATIENCE)
    assert killed.returncode == -9
    pipeline.check()
    pipeline.kcli("checkpoint", "checkpoint", "--reset-to", "90", "--execute")
    pipeline.run()
    pipeline.check(twice=range(180, 250))
    pipeline.fill(10)
    pipeline.run()
    pipeline.check(twice=range(180, 250))


def test_a_reset_of_a_batch_that_was_not_committed_loses_nothing(pipeline: Pipeline) -> None:
    pipeline.fill(200)
    pipeline.run()
    pipeline.fill(50)
    killed = pipeline.start("commit", "here")
    killed.communicate(timeout=PATIENCE)
    assert killed.returncode == -9
    pipeline.kcli("checkpoint", "checkpoint", "--reset-to", "100", "--execute")
    pipeline.run()
    pipeline.check()
