"""Marks of attempts without Spark: whose files are deleted, whose are only named."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from kcli.pipeline.jobs.lake.committer import SETTLED, Attempt, mark_of, sweep
from kcli.pipeline.jobs.lake.delta import DeltaTable
from kcli.pipeline.sink.files import PartFiles
from kcli.pipeline.sink.layout import Layout
from kcli.system.processes import machine

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA = pa.schema([pa.field("n", pa.int64())])


def layout(tmp_path: Path, name: str) -> Layout:
    return Layout(folder=f"file://{tmp_path}/{name}", schema=SCHEMA.serialize().to_pybytes())


def files(where: Layout) -> PartFiles:
    """One file in the folder of an attempt."""
    files = PartFiles(where, "a")
    files.add(pa.record_batch({"n": pa.array([1], pa.int64())}))
    return files


def left(tmp_path: Path, name: str, **mark: Any) -> Layout:
    """The files and the mark of an attempt whose process is gone."""
    where = layout(tmp_path, name)
    files(where).close()
    values = {"machine": machine(), "pid": gone(), "born": "boot/1", "committing": 0.0, **mark}
    where.storage.write(mark_of(where.folder), json.dumps(values).encode())
    return where


def gone() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait(30)
    return process.pid


def never(folder: str) -> bool:
    return False


@pytest.mark.process
def test_files_of_a_killed_run_are_deleted_unless_they_are_in_the_table(tmp_path: Path) -> None:
    for name in ("k-1", "k-2"):
        left(tmp_path, name)
    assert sweep(layout(tmp_path, "k-3"), lambda folder: folder.endswith("k-2")) == [
        f"deleted file://{tmp_path}/k-1: 1 files of a run that was killed"
    ]
    assert sorted(str(one.relative_to(tmp_path)) for one in tmp_path.rglob("*")) == [
        "_kcli", "k-2", "k-2/a-00000.parquet",
    ]  # fmt: skip
    assert sweep(layout(tmp_path, "k-3"), never) == []


@pytest.mark.process
def test_a_commit_that_may_still_arrive_keeps_its_files_for_ten_minutes(tmp_path: Path) -> None:
    left(tmp_path, "k-1", committing=time.time() - SETTLED + 60)
    assert (
        "killed in its commit: a run ten minutes after it deletes the files" in sweep(layout(tmp_path, "x"), never)[0]
    )
    assert (tmp_path / "k-1").is_dir()
    left(tmp_path, "k-1", committing=time.time() - SETTLED - 1)
    assert "deleted" in sweep(layout(tmp_path, "x"), never)[0]


@pytest.mark.process
@pytest.mark.parametrize("mark", [{"machine": "0" * 8}, {"pid": "a"}, {"born": None}, {"machine": 1}])
def test_files_of_another_machine_and_marks_of_nobody_are_named_and_stay(tmp_path: Path, mark: dict[str, Any]) -> None:
    left(tmp_path, "k-1", **mark)
    if mark == {"born": None}:  # a word of another process: it does not run
        assert "deleted" in sweep(layout(tmp_path, "x"), never)[0]
        return
    (said,) = sweep(layout(tmp_path, "x"), never)
    assert said.startswith(f"file://{tmp_path}/k-1 is of a run on another machine: if that was killed, delete it, and")
    assert (tmp_path / "k-1").is_dir()


def test_a_run_of_another_process_that_lives_is_left_alone(tmp_path: Path) -> None:
    where = layout(tmp_path, "k-1")
    with Attempt(where, marks=True):
        files(where).close()
        assert sweep(layout(tmp_path, "x"), never) == []
        assert (tmp_path / "k-1").is_dir()
    assert not list((tmp_path / "_kcli").iterdir())


def test_the_mark_stays_only_where_a_commit_was_sent_and_nobody_knows(tmp_path: Path) -> None:
    where = layout(tmp_path, "k-1")

    def stays(*steps: str) -> bool:
        with suppress(ZeroDivisionError), Attempt(where, marks=True) as attempt:
            for step in steps:
                getattr(attempt, step)()
            raise ZeroDivisionError
        return bool(where.storage.read(mark_of(where.folder)))

    assert [stays(), stays("sent", "refused"), stays("sent")] == [False, False, True]


def test_a_delta_table_says_whose_files_it_has(tmp_path: Path) -> None:
    table = DeltaTable(str(tmp_path / "t"))
    table._schema = '{"type":"struct","fields":[{"name":"n","type":"long","nullable":true,"metadata":{}}]}'
    for name in ("kcli-1-0", "kcli-2-0"):
        table._known, table._folder = table._opened(), name
        table.commit(files(layout(tmp_path / "t", name)).close(), "overwrite", "", -1)
    folders = [f"file://{tmp_path}/t/{name}" for name in ("kcli-1-0", "kcli-2-0", "kcli-3-0", "kcli-2")]
    assert [table.holds(folder) for folder in folders] == [True, True, False, False]
    assert DeltaTable(str(tmp_path / "none")).holds(folders[0]) is False
