"""One run at a time, and what checkpoints and folders hold."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from kcli.cli.main import main
from kcli.errors import UsageError
from kcli.model import TopicPartition
from kcli.pipeline.jobs import checkpoints, locks
from kcli.pipeline.jobs.files import finalize
from kcli.system.processes import born, machine


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@pytest.mark.process
def test_a_process_is_known_by_its_birth_not_by_its_number():
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    first = born(process.pid)
    assert first
    assert first != born(os.getpid())
    assert first == born(process.pid)
    process.communicate(b"\n")
    assert born(process.pid) == ""


# -- locks ----------------------------------------------------------------------------------------------------------

HOLD = """
import sys
from kcli.pipeline.jobs.locks import held
with held(sys.argv[1:], "lake"):
    print("held", flush=True)
    input()
"""


@pytest.mark.process
@pytest.mark.parametrize("end", ["by itself", "killed"])
def test_a_checkpoint_and_a_folder_have_one_run_at_a_time_and_a_killed_one_frees_them(tmp_path, end):
    (tmp_path / "kept").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "kept")
    line = [sys.executable, "-c", HOLD, str(tmp_path / "kept" / "checkpoint"), "s3://lake/c"]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout.readline() == b"held\n"
        for place in (str(tmp_path / "link" / "checkpoint"), "s3a://lake/c/"):
            with (
                pytest.raises(UsageError, match=f"lake, in process {other.pid}, is using"),
                locks.held([place], "second"),
            ):
                pass
            with pytest.raises(UsageError, match="SIGTERM ends a stream"):
                locks.check(place)
        locks.check(str(tmp_path / "another"))
        other.kill() if end == "killed" else other.communicate(b"\n", 10)
        other.wait(10)
    with locks.held([str(tmp_path / "kept" / "checkpoint"), "s3://lake/c", ""], "second"):
        pass
    assert not list((tmp_path / "state").rglob("*.lock"))


# -- checkpoints ----------------------------------------------------------------------------------------------------


def batch_of(folder, number, offsets, *, whole, cluster="C1"):
    note = {"@kcli": {"cluster": cluster, "topics": {"orders": "T1"}}}
    (folder / "offsets").mkdir(parents=True, exist_ok=True)
    (folder / "commits").mkdir(exist_ok=True)
    (folder / "offsets" / f".{number}.crc").write_bytes(b"crc")
    (folder / "offsets" / str(number)).write_text(f"v1\n{{}}\n{json.dumps(offsets | note)}")
    if whole:
        (folder / "commits" / str(number)).write_text("v1\n{}")


def test_a_checkpoint_says_where_the_next_run_begins_and_what_is_half_done(tmp_path, capsys):
    folder = tmp_path / "data" / "kcli" / "pipelines" / "lake" / "checkpoint"
    batch_of(folder, 0, {"orders": {"0": 5, "1": 7}}, whole=True)
    batch_of(folder, 1, {"orders": {"0": 9, "1": 7}}, whole=False)
    (folder / "metadata").write_text('{"id":"af31"}')
    found = checkpoints.read(folder)
    assert (found.batch, found.committed, found.query) == (1, 0, "af31")
    assert found.offsets == {TopicPartition("orders", 0): 5, TopicPartition("orders", 1): 7}
    assert found.planned == {TopicPartition("orders", 0): 9, TopicPartition("orders", 1): 7}
    assert main(["pipeline", "checkpoint", "lake", "-J"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["checkpoint"][0]["cluster"] == "C1"
    assert shown["offsets"][0] == {
        "topic": "orders", "topic_id": "T1", "partition": 0, "offset": 5, "planned": 9,
    }  # fmt: skip


def test_what_is_no_checkpoint_is_told(tmp_path, capsys):
    with pytest.raises(UsageError, match="no folder offsets"):
        checkpoints.read(tmp_path)
    batch_of(tmp_path / "c", 0, {}, whole=True)
    (tmp_path / "c" / "offsets" / "0").write_text("v1\n{}\n12345")
    with pytest.raises(UsageError, match="does not belong to a topic"):
        checkpoints.read(tmp_path / "c")
    assert main(["pipeline", "checkpoint", "nobody"]) == 2
    assert "unknown pipeline" in capsys.readouterr().err


# -- finalize -------------------------------------------------------------------------------------------------------


def written(folder, logs, files):
    """A folder as Spark's file sink leaves it."""
    (folder / "_spark_metadata").mkdir(parents=True)
    for name, names in logs.items():
        rows = [json.dumps({"path": f"file:///elsewhere/{one}", "size": 1, "action": "add"}) for one in names]
        (folder / "_spark_metadata" / name).write_text("\n".join(["v1", *rows]))
    for one in files:
        (folder / one).parent.mkdir(parents=True, exist_ok=True)
        (folder / one).write_bytes(b"xy")


def test_finalize_takes_away_what_is_of_no_whole_batch(tmp_path, capsys):
    out = tmp_path / "out"
    logs = {"0": ["part-gone-by-compaction"], "1.compact": ["part-a", "day=1/part%20b"], "2": ["part-c"]}
    written(out, logs, ["part-a", "day=1/part b", "part-c", "part-x", "day=2/part-y", ".part-x.crc", "_SUCCESS"])
    assert main(["pipeline", "finalize", str(out)]) == 0, "without a terminal it is a plan"
    assert (out / "part-x").exists()
    assert main(["pipeline", "finalize", str(out), "--dry-run"]) == 0
    assert (out / "part-x").exists()
    assert main(["pipeline", "finalize", str(out), "--execute"]) == 0
    left = {str(one.relative_to(out)) for one in out.rglob("*") if one.is_file() and "_spark" not in str(one)}
    assert left == {"part-a", "day=1/part b", "part-c", "_SUCCESS"}
    assert not (out / "day=2").exists()
    capsys.readouterr()
    assert main(["pipeline", "finalize", str(out), "-J"]) == 0
    assert json.loads(capsys.readouterr().out)["folders"][0]["result"] == "nothing to do"


def test_finalize_tells_of_files_that_are_missing_and_refuses_strange_folders(tmp_path, capsys):
    out = tmp_path / "out"
    written(out, {"0": ["part-a", "part-b"]}, ["part-a"])
    assert main(["pipeline", "finalize", str(out), "--execute"]) == 1
    assert "part-b" in capsys.readouterr().err
    written(tmp_path / "moved", {"0": ["part-a"]}, ["part-z"])
    with pytest.raises(UsageError, match="but none is in the folder"):
        finalize.finalize(tmp_path / "moved")
    assert (tmp_path / "moved" / "part-z").exists()
    written(tmp_path / "broken", {"0": []}, ["part-z"])
    (tmp_path / "broken" / "_spark_metadata" / "0").write_text("v2\n{}")
    with pytest.raises(UsageError, match="not in the log format"):
        finalize.finalize(tmp_path / "broken")
    with pytest.raises(UsageError, match="nothing to finalize"):
        finalize.finalize(tmp_path)


def test_finalize_waits_for_no_one_and_is_refused_while_somebody_writes(tmp_path):
    out = tmp_path / "out"
    written(out, {"0": ["part-a"]}, ["part-a", "part-new"])
    with locks.held([str(out)], "lake"), pytest.raises(UsageError, match="lake, in process"):
        finalize.finalize(out)
    assert (out / "part-new").exists()


@pytest.mark.process
def test_finalize_takes_what_a_killed_export_left_beside_the_folder(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    dead, alive = (tmp_path / f".out.part-{machine()}-{pid}" for pid in (process.pid, os.getpid()))
    for one in (dead, alive):
        one.mkdir()
        (one / "part-1").write_bytes(b"abc")
    found = finalize.finalize(tmp_path / "out")
    assert (found.orphans, found.sizes[dead]) == ([dead], 3)
    assert not dead.exists()
    assert alive.exists()
