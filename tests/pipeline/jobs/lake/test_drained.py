"""A run whose files, table and checkpoint are all in an object store (moto's server): ended from outside while the
topic is written to, and resumed. No record is lost, none is twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kcli.pipeline.sink.storage import delta_options, storage_here
from tests.kafka import artifacts
from tests.pipeline.jobs.lake.test_object_store import bucket as bucket

if TYPE_CHECKING:
    from tests.pipeline.topics import Topics

ROOT = Path(__file__).parents[4]
POM = Path(__file__).with_name("hadoop_aws.pom.xml")
PATIENCE = 280.0
EACH = 20
"""Records between two looks at a run."""


class Shells:
    """A run in one shell, and what another says to it. `written` counts the records of the topic."""

    def __init__(self, topics: Topics, folder: Path) -> None:
        self.topics, self.topic, self.folder = topics, topics.make(2), folder
        self.written = 0

    def words(self, *words: str) -> list[str]:
        return [sys.executable, "-W", "ignore", "-m", "kcli", "pipeline", *words]

    @property
    def environment(self) -> dict[str, str]:
        own = {"KCLI_BOOTSTRAP": self.topics.bootstrap, "XDG_DATA_HOME": str(self.folder / "share")}
        return {**os.environ, **own, "PYTHONPATH": str(ROOT)}

    def write(self, count: int = EACH) -> None:
        """Records more, each with its number."""
        numbers = range(self.written, self.written + count)
        self.topics.fill(self.topic, [(n % 2, None, None, b"%d" % n, ()) for n in numbers])
        self.written += count

    def follow(self, line: list[str], *, at_once: bool = False) -> int:
        """Run the line, write to the topic while it works, end it by its stop file, or `at_once` by two signals; its
        exit code."""
        metrics, stop = self.folder / f"{self.written}.ndjson", self.folder / "stop"
        more = ["--continuous", "--trigger", "1s", "--metrics", str(metrics), "--stop-file", str(stop)]
        deadline = time.monotonic() + PATIENCE
        with subprocess.Popen(self.words(*line, *more), env=self.environment) as run:
            while not (metrics.exists() and len(metrics.read_text().splitlines()) > 1):
                assert run.poll() is None, "the run ended by itself"
                assert time.monotonic() < deadline, "the run reads nothing"
                self.write()
                time.sleep(0.3)
            if at_once:
                run.send_signal(signal.SIGTERM)
                time.sleep(0.3)
                run.send_signal(signal.SIGTERM)
            else:
                stop.touch()
            self.write()
            return run.wait(PATIENCE)

    def catch_up(self, line: list[str]) -> int:
        """Run the line to the end of the topic; its exit code."""
        words = self.words(*line, "--once")
        return subprocess.run(words, env=self.environment, timeout=PATIENCE, check=False).returncode


@pytest.fixture
def shells(topics: Topics, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shells:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return Shells(topics, tmp_path)


def line_of(shells: Shells, out: str, checkpoint: str, form: str) -> list[str]:
    jars = ",".join(sorted(str(jar) for jar in artifacts.libs(POM, "hadoop-aws").glob("*.jar")))
    line = ["export", shells.topic, out, "--file-format", form, "--name", "lake", "-q", "--conf", f"spark.jars={jars}"]
    return [*line, "--select", "CAST(value AS STRING) AS value", "--checkpoint", checkpoint]


def numbers(table: Any) -> list[int]:
    return sorted(map(int, table.column("value").to_pylist()))


@pytest.mark.spark
@pytest.mark.process
@pytest.mark.timeout(1000)
@pytest.mark.long
def test_a_table_is_drained_and_then_stopped_and_has_each_record_once(bucket: str, shells: Shells) -> None:
    import deltalake

    assert shells.follow(line_of(shells, "s3://lake/orders/", "s3://lake/c/", "delta")) == 0
    stopped = shells.follow(line_of(shells, "s3a://lake/orders", "s3a://lake/c", "delta"), at_once=True)
    assert stopped in (0, 143), "0 where the batch was whole before the second signal"
    assert shells.catch_up(line_of(shells, "s3://lake/orders", "s3://lake/c", "delta")) == 0
    table = deltalake.DeltaTable("s3://lake/orders", storage_options=delta_options())
    assert numbers(table.to_pyarrow_table()) == list(range(shells.written))


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.process
@pytest.mark.timeout(1000)
def test_files_of_sparks_own_writer_are_drained_and_have_each_record_once(bucket: str, shells: Shells) -> None:
    from pyarrow import parquet

    assert shells.follow(line_of(shells, "s3://lake/files/", "s3://lake/c/", "parquet")) == 0
    assert shells.catch_up(line_of(shells, "s3://lake/files", "s3a://lake/c", "parquet")) == 0
    system, _ = storage_here().opened("s3://lake/files")
    assert numbers(parquet.read_table("lake/files", filesystem=system)) == list(range(shells.written))


@pytest.mark.spark
@pytest.mark.process
@pytest.mark.timeout(300)
def test_files_in_a_store_are_imported(bucket: str, topics: Topics, tmp_path: Path) -> None:
    topic, again = topics.make(1), topics.make(1)
    topics.values(topic, 10)
    jars = ",".join(sorted(str(jar) for jar in artifacts.libs(POM, "hadoop-aws").glob("*.jar")))
    own = {"KCLI_BOOTSTRAP": topics.bootstrap, "XDG_STATE_HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)}
    stored = ["s3://lake/files", "--file-format", "parquet"]
    for words in (["export", topic, *stored], ["import", stored[0], again, *stored[1:]]):
        line = [sys.executable, "-m", "kcli", "pipeline", *words, "-q", "--conf", f"spark.jars={jars}"]
        done = subprocess.run(line, env={**os.environ, **own}, timeout=140, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    line = [sys.executable, "-m", "kcli", "count", again]
    counted = subprocess.run(line, env={**os.environ, **own}, timeout=60, check=True, capture_output=True, text=True)
    assert counted.stdout.split()[-1] == "10"
