"""When a stream takes batches, how large they are, and how one that waits for its trigger drains."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

from kcli.cli.commands.pipeline.export import ExportOptions
from kcli.cli.commands.pipeline.session.frame import Frame
from kcli.cli.commands.pipeline.session.stream import FILES, name_of, stop_file_of, trigger_of
from kcli.cli.commands.pipeline.sink.outputs import Output, RowsOptions
from kcli.errors import UsageError
from kcli.pipeline.jobs import work
from kcli.pipeline.jobs.work import Stream
from tests.pipeline.jobs.test_commands import kcli as kcli

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.pipeline.topics import Topics


def test_a_batch_a_minute_goes_into_files_and_one_a_second_elsewhere() -> None:
    follow = Frame(ExportOptions(continuous=True), "export")
    assert [trigger_of(follow, FILES).every, trigger_of(follow).every] == [60.0, 1.0]
    assert trigger_of(Frame(ExportOptions(continuous=True, trigger="5s"), "export"), FILES).every == 5.0
    assert trigger_of(Frame(ExportOptions(once=True), "export"), FILES).every is None


def test_a_batch_has_a_size_where_a_stream_reads_by_kclis_connector() -> None:
    assert Frame(ExportOptions(once=True, max_bytes_per_batch="512MiB"), "export").max_bytes == 512 << 20
    assert Frame(ExportOptions(once=True), "export").max_bytes == 0
    for options, said in (
        (ExportOptions(max_bytes_per_batch="1k"), "--max-bytes-per-batch requires --once or --continuous"),
        (ExportOptions(once=True, max_bytes_per_batch="many"), "--max-bytes-per-batch"),
        (
            ExportOptions(once=True, max_bytes_per_batch="1k", connector="jvm"),
            "--max-bytes-per-batch requires kcli's connector",
        ),
    ):
        with pytest.raises(UsageError, match=said):
            Frame(options, "export")


def test_a_stream_whose_checkpoint_is_in_a_store_drains_by_a_file_of_the_driver(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    here, there = Frame(ExportOptions(once=True), "export"), Frame(ExportOptions(once=True, remote="sc://h"), "export")
    beside = {stop_file_of(here, tmp_path / name) for name in ("orders", "users")}
    assert beside == {tmp_path / "orders.stop", tmp_path / "users.stop"}, "a drain is of one pipeline"
    one, other = (stop_file_of(here, f"s3a://lake/{name}") for name in ("a", "b"))
    assert one is not None
    assert one != other
    assert one.is_relative_to(tmp_path)
    assert stop_file_of(there, "s3a://lake/a") is None
    ways = ("s3://lake/c", "s3://lake/c/", "s3a://lake/c", "s3a://lake/c//")
    frames = [Frame(ExportOptions(once=True, checkpoint=way), "export") for way in ways]
    assert {frame.checkpoint("x") for frame in frames} == {"s3a://lake/c"}
    assert len({stop_file_of(frame, frame.checkpoint("x")) for frame in frames}) == 1
    assert len({name_of("export", "orders", way, "parquet") for way in ways}) == 1
    root = Frame(ExportOptions(once=True, checkpoint="hdfs:///"), "export").checkpoint("x")
    assert root == "hdfs:///"


def test_sql_has_one_checkpoint_for_one_place_however_that_is_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def checkpoints(*labels: str, statement: str = "SELECT * FROM orders") -> set[object]:
        found: set[object] = set()
        for label in labels:
            output = Output(Frame(ExportOptions(once=True), "sql"), RowsOptions())
            output.label = label
            output.check("orders", [statement])
            found.add(output.checkpoint)
        return found

    monkeypatch.chdir(tmp_path)
    assert len(checkpoints("s3://lake/o", "s3://lake/o/", "s3a://lake/o//")) == 1
    assert len(checkpoints("out", "out/", "./out", str(tmp_path / "out"))) == 1
    assert len(checkpoints("out", statement="SELECT 1") | checkpoints("out")) == 2
    linked = checkpoints("out", statement="SELECT 'http://h'")
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    assert not linked & checkpoints("out", statement="SELECT 'http://h'"), "another folder of that name"


@pytest.mark.parametrize("way", [".", "..", "../b/.", "/"])
def test_a_checkpoint_that_is_named_by_dots_has_its_stop_file_beside_it(
    way: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "a" / "b")
    frame = Frame(ExportOptions(once=True, checkpoint=way), "export")
    beside = {".": "a/b.stop", "..": "a.stop", "../b/.": "a/b.stop", "/": "/.stop"}[way]
    assert stop_file_of(frame, frame.checkpoint("x")) == tmp_path / beside


def test_the_python_of_tasks_is_sparks_setting() -> None:
    pytest.importorskip("pyspark", reason="pip install 'kcli-kafka[spark,spark-java]'")
    options = ExportOptions(python="./env/bin/python", master="yarn", conf=["spark.pyspark.python=python3"])
    assert dict(Frame(options, "export").session("export").conf)["spark.pyspark.python"] == "./env/bin/python"


class Query:
    """A query of Spark's that waits for its trigger, or has one."""

    isActive = True

    def __init__(self) -> None:
        self.status = {"isTriggerActive": False, "isDataAvailable": True}

    def stop(self) -> None:
        self.isActive = False


def test_a_query_that_waits_for_its_trigger_drains_after_a_second_and_one_in_a_batch_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr(work, "monotonic", lambda: now[0])
    query: Any = Query()
    stream = Stream(lambda: query, tmp_path / "stop")
    stream.start()
    stream.drain()
    seen = [stream.running]  # a batch may just begin that asked before the stop file was there
    query.status["isTriggerActive"] = True
    now[0] += 30
    seen.append(stream.running)  # a batch is under way
    query.status["isTriggerActive"] = False
    seen.append(stream.running)
    now[0] += work.IDLE
    seen.append(stream.running)
    assert seen == [True, True, True, False]
    assert not query.isActive


def test_a_run_takes_batches_of_that_many_bytes(kcli: Callable[..., int], topics: Topics, tmp_path: Path) -> None:
    topic = topics.make(1)
    topics.fill(topic, [(0, None, None, os.urandom(1000), ()) for _ in range(100)], batch_size=1200)
    assert kcli("export", topic, "out", "--once", "--max-bytes-per-batch", "30KiB") == 0
    batches = [one for one in (tmp_path / "out" / "_spark_metadata").iterdir() if one.name.isdigit()]
    assert 4 <= len(batches) <= 6
    assert len(pq.read_table(tmp_path / "out", columns=["offset"])) == 100
