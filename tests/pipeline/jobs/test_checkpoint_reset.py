"""`kcli pipeline checkpoint WHERE --reset-to PLACE`: the plan, the change, and that Spark goes on where it says."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from kcli.cli.main import main
from kcli.model import TopicPartition
from kcli.pipeline.jobs import checkpoints, locks
from kcli.pipeline.jobs.checkpoints import Sink
from kcli.pipeline.jobs.lake.table import Reset
from tests.pipeline.jobs.test_jobs import batch_of


@pytest.fixture
def lake(topics, tmp_path, monkeypatch):
    """A checkpoint of a topic with 100 records in each of two partitions: one batch is whole, another was begun."""
    monkeypatch.setenv("KCLI_BOOTSTRAP", topics.bootstrap)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    topic = topics.make(2)
    for one in range(2):
        topics.values(topic, 100, partition=one)
    folder = tmp_path / "lake" / "checkpoint"
    batch_of(folder, 0, {topic: {"0": 50, "1": 60}}, whole=True, cluster=None)
    return folder, topic


def reset(folder, *words):
    return main(["pipeline", "checkpoint", str(folder), "--reset-to", *words])


def test_the_plan_is_shown_and_nothing_is_done_without_execute(lake, capsys):
    folder, topic = lake
    assert reset(folder, "-10", "--dry-run", "-J") == 0
    rows = json.loads(capsys.readouterr().out)["partitions"]
    assert [(row["old"], row["new"], row["delta"], row["lag"], row["result"]) for row in rows] == [
        (50, 90, 40, 10, "would reset"), (60, 90, 30, 10, "would reset")
    ]  # fmt: skip
    assert reset(folder, "-10") == 0  # as with --dry-run: stdin is no terminal
    assert "add --execute" in capsys.readouterr().err
    assert checkpoints.read(folder).offsets == {TopicPartition(topic, 0): 50, TopicPartition(topic, 1): 60}


def test_the_last_whole_batch_says_where_the_next_one_begins_and_how_that_is_undone(lake, capsys):
    folder, topic = lake
    assert reset(folder, "beginning", "-t", f"{topic}:1", "--execute") == 0
    out, err = capsys.readouterr()
    assert "reset" in out
    found = checkpoints.read(folder)
    assert (found.batch, found.committed) == (0, 0)
    assert found.offsets == {TopicPartition(topic, 0): 50, TopicPartition(topic, 1): 0}
    assert not (folder / "offsets" / ".0.crc").exists()
    undo = err.split("to undo it: --reset-to ")[1].strip().strip("'")
    assert json.loads(undo) == {topic: {"1": 60}}
    assert reset(folder, undo, "--execute") == 0
    assert checkpoints.read(folder).offsets == {TopicPartition(topic, 0): 50, TopicPartition(topic, 1): 60}


@pytest.mark.parametrize("sunk", ["", "1", "1.compact"])
def test_a_batch_that_was_begun_is_forgotten_unless_its_files_are_there(lake, tmp_path, capsys, sunk):
    folder, topic = lake
    batch_of(folder, 1, {topic: {"0": 70, "1": 80}}, whole=False, cluster=None)
    assert reset(folder, "+5", "--execute") == 2
    assert "batch 1 is not complete" in capsys.readouterr().err
    Sink(folder=str(tmp_path / "out")).note(folder)
    if sunk:
        (tmp_path / "out" / "_spark_metadata" / sunk).mkdir(parents=True)
    assert reset(folder, "+5", "--execute") == 0
    found = checkpoints.read(folder)
    assert (found.batch, found.committed, found.planned) == (bool(sunk), bool(sunk), {})
    assert set(found.offsets.values()) == {5}
    assert not (folder / "offsets" / ".1.crc").exists()
    assert sorted(os.listdir(folder / "commits")) == ["0", "1"][: 1 + bool(sunk)]


def test_a_batch_of_a_table_is_forgotten_and_the_reset_is_noted_for_the_table(lake: tuple[Path, str]) -> None:
    folder, topic = lake
    batch_of(folder, 1, {topic: {"0": 70, "1": 80}}, whole=False, cluster=None)
    Sink().note(folder)
    assert reset(folder, "+5", "--execute") == 0
    assert checkpoints.read(folder).batch == 0
    first = Reset.of(folder)
    assert (first.batch, first.before) == (0, "")
    assert reset(folder, "+6", "--execute") == 0
    assert Reset.of(folder).before == first.id != Reset.of(folder).id


def test_a_batch_is_not_forgotten_where_nobody_sees_whether_its_files_are_there(lake, capsys):
    folder, topic = lake
    batch_of(folder, 1, {topic: {"0": 70, "1": 80}}, whole=False, cluster=None)
    Sink(folder="s3://bucket/out").note(folder)
    assert reset(folder, "+5", "--execute") == 2
    assert "this machine cannot see whether s3://bucket/out has its files" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("sideways",), "--reset-to sideways"),
        (("0", "-t", "nobody"), "nobody"),
        (('{"other":{"0":1}}',), "does not read other[0]"),
        (("{",), "expected earliest, latest, or JSON"),
        (("0", "--execute", "--dry-run"), "cannot be combined"),
    ],
)
def test_what_cannot_be_meant_is_told(lake, capsys, words, sentence):
    assert reset(lake[0], *words) == 2
    assert sentence in capsys.readouterr().err


def test_options_of_a_reset_without_one_are_told(lake, capsys):
    assert main(["pipeline", "checkpoint", str(lake[0]), "--execute"]) == 2
    assert "require --reset-to" in capsys.readouterr().err


def test_a_pipeline_that_runs_another_cluster_and_sums_are_refused(lake, capsys):
    folder, topic = lake
    with locks.held([str(folder)], "lake"):
        assert reset(folder, "0", "--execute") == 2
    assert "lake, in process" in capsys.readouterr().err
    (folder / "state").mkdir()
    assert reset(folder, "0", "--execute") == 2
    assert "aggregates and windows" in capsys.readouterr().err
    (folder / "state").rmdir()
    batch_of(folder, 1, {topic: {"0": 70, "1": 80}}, whole=True)
    assert reset(folder, "0", "--execute") == 2
    assert "the checkpoint belongs to cluster C1, but this is" in capsys.readouterr().err
    for one in (folder / "commits").iterdir():
        one.unlink()
    assert reset(folder, "0", "--execute") == 2
    assert "no complete batch yet" in capsys.readouterr().err


def test_spark_goes_on_where_it_was_told_to(spark, topics, lake, tmp_path, capsys):
    _, topic = lake
    out, folder = tmp_path / "out", tmp_path / "real" / "checkpoint"

    def once():
        options = {"kafka.bootstrap.servers": topics.bootstrap, "subscribe": topic, "startingOffsets": "earliest"}
        frame = spark.readStream.format("kcli").options(**options).load().select("partition", "offset")
        query = frame.writeStream.format("parquet").option("checkpointLocation", str(folder)).option("path", str(out))
        query.trigger(availableNow=True).start().awaitTermination()
        return spark.read.parquet(str(out)).count()

    assert once() == 200
    assert once() == 200
    assert reset(folder, "-3", "--execute") == 0
    assert once() == 206
    topics.values(topic, 10, partition=1)
    assert reset(folder, "end", "--execute") == 0
    assert once() == 206
    assert spark.read.parquet(str(out)).distinct().count() == 200
