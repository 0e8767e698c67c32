"""Commits of a Delta table by deltalake, without Spark: of two with one epoch exactly one is in the table, what a store
answers twice is known again, and restores are followed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from kcli.errors import KcliError
from kcli.model import TopicPartition
from kcli.pipeline.jobs.lake.table import Commit, NotCommitted

deltalake = pytest.importorskip("deltalake", reason="pip install 'kcli-kafka[delta]'")
ROOT = Path(__file__).parents[4]
AT = TopicPartition(topic="orders", partition=0)


def commit_of(epoch: int, name: str, query: str = "q") -> Commit:
    return Commit(query=query, epoch=epoch, start={AT: epoch}, end={AT: epoch + 1}, topics={"orders": "A"}, id=name)


class Writer:
    """A driver: `begin` looks at the table, `end` commits what it made of that."""

    def __init__(self, place: Path) -> None:
        from kcli.pipeline.jobs.lake.delta import DeltaTable

        self.table = DeltaTable(str(place))

    def begin(self, commit: Commit) -> None:
        self.commit, self.known = commit, self.table._opened()
        self.about = self.table._about(self.known, commit)

    def end(self, rows: pa.Table | None = None) -> None:
        rows = pa.table({"n": [self.commit.epoch], "by": [self.commit.id]}) if rows is None else rows
        self.table._written(self.known, rows.to_reader(), "append", self.commit, self.about, evolve=False)

    def write(self, commit: Commit) -> None:
        self.begin(commit)
        self.end()


def rows_of(place: Path) -> list[tuple[Any, ...]]:
    return sorted(tuple(row.values()) for row in deltalake.DeltaTable(place).to_pyarrow_table().to_pylist())


def test_of_two_writers_of_one_batch_the_second_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    one, two = Writer(tmp_path / "t"), Writer(tmp_path / "t")
    one.begin(commit_of(0, "one"))
    two.begin(commit_of(0, "two"))
    one.end()
    with pytest.raises(NotCommitted):
        two.end()
    for epoch in (1, 2):
        one.begin(commit_of(epoch, "one"))
        two.begin(commit_of(epoch, "two"))
        two.end()
        with pytest.raises(NotCommitted, match="another writer changed the table"):
            one.end()
        with pytest.raises(NotCommitted, match="another process uses the checkpoint"):
            one.begin(commit_of(epoch, "one"))
    assert rows_of(tmp_path / "t") == [(0, "one"), (1, "two"), (2, "two")]
    last = one.table.last("q")
    assert last is not None
    assert (last.epoch, last.id, last.end) == (2, "two", {AT: 3})
    assert one.table.last("other") is None


def test_writers_of_other_queries_and_others_do_not_disturb(tmp_path: Path) -> None:
    one, two = Writer(tmp_path / "t"), Writer(tmp_path / "t")
    one.write(commit_of(0, "one"))
    one.begin(commit_of(1, "one"))
    two.write(commit_of(0, "two", "another"))
    deltalake.write_deltalake(tmp_path / "t", pa.table({"n": [7], "by": ["hand"]}), mode="append")
    one.end()
    assert rows_of(tmp_path / "t") == [(0, "one"), (0, "two"), (1, "one"), (7, "hand")]
    for _ in range(30):
        deltalake.write_deltalake(tmp_path / "t", pa.table({"n": [7], "by": ["hand"]}), mode="append")
    last = one.table.last("q")
    assert last is not None
    assert last.epoch == 1


def test_a_batch_without_rows_is_a_commit_too(tmp_path: Path) -> None:
    one = Writer(tmp_path / "t")
    none = pa.table({"n": pa.array([], pa.int64()), "by": pa.array([], pa.string())})
    for epoch in range(2):
        one.begin(commit_of(epoch, "one"))
        one.end(none)
    last = one.table.last("q")
    assert last is not None
    assert (last.epoch, rows_of(tmp_path / "t")) == (1, [])


def test_a_commit_whose_answer_was_lost_is_found_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = Writer(tmp_path / "t")
    one.write(commit_of(0, "one"))
    write = deltalake.write_deltalake

    def lost(*given: Any, **named: Any) -> None:
        write(*given, **named)
        raise deltalake.exceptions.CommitFailedError("a try before this one was there first")

    monkeypatch.setattr(deltalake, "write_deltalake", lost)
    one.write(commit_of(1, "one"))
    assert rows_of(tmp_path / "t") == [(0, "one"), (1, "one")]


@pytest.mark.parametrize("by", ["version", "time"])
def test_a_restore_takes_back_commits(tmp_path: Path, by: str) -> None:
    one = Writer(tmp_path / "t")
    for epoch in range(4):
        one.write(commit_of(epoch, "one"))
    known = deltalake.DeltaTable(tmp_path / "t")
    if by == "version":
        known.restore(1)
    else:
        stamps = {each["version"]: each["timestamp"] for each in known.history()}
        from datetime import UTC, datetime

        # not right behind a commit: kcli goes by the time in a commit, Delta by that of its file, which is a bit later
        known.restore(datetime.fromtimestamp((stamps[1] + stamps[2]) / 2000, UTC))
    last = one.table.last("q")
    assert last is not None
    assert last.epoch == 1
    one.write(commit_of(2, "again"))
    assert rows_of(tmp_path / "t") == [(0, "one"), (1, "one"), (2, "again")]
    known = deltalake.DeltaTable(tmp_path / "t")
    known.restore(0)
    last = one.table.last("q")
    assert last is not None
    assert last.epoch == 0


def test_a_log_that_lost_the_last_commit_is_an_error(tmp_path: Path) -> None:
    one = Writer(tmp_path / "t")
    one.write(commit_of(0, "one"))
    known = deltalake.DeltaTable(tmp_path / "t")
    for _ in range(2):
        deltalake.write_deltalake(known, pa.table({"n": [7], "by": ["hand"]}), mode="append")
    known.create_checkpoint()
    for version in (0, 1):
        (tmp_path / "t" / "_delta_log" / f"{version:020}.json").unlink()
    with pytest.raises(KcliError, match="its log no longer shows which records"):
        one.table.last("q")


def race(place: Path, name: str, epochs: int) -> None:
    """Commit each epoch, unless the other process was first."""
    writer = Writer(place)
    won = []
    print("ready", flush=True)
    sys.stdin.readline()
    epoch = 0
    while epoch < epochs:
        try:
            writer.write(commit_of(epoch, name))
            won.append(epoch)
        except NotCommitted:
            pass
        last = writer.table.last("q")
        epoch = 0 if last is None else last.epoch + 1
    print(json.dumps(won), flush=True)


@pytest.mark.process
def test_two_processes_that_race_commit_each_batch_once(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "tests.pipeline.jobs.lake.test_delta_commits", str(tmp_path / "t")]
    racers = [
        subprocess.Popen([*words, name], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for name in ("one", "two")
    ]
    try:
        for racer in racers:
            assert racer.stdout is not None
            assert racer.stdout.readline() == "ready\n"
        for racer in racers:
            assert racer.stdin is not None
            racer.stdin.write("go\n")
            racer.stdin.flush()
        won = [json.loads(racer.communicate(timeout=100)[0]) for racer in racers]
    finally:
        for racer in racers:
            racer.kill()
            racer.wait(10)
    assert sorted(won[0] + won[1]) == list(range(40)), "each batch is one writer's"
    assert all(won), "both won some"
    names = dict.fromkeys(won[0], "one") | dict.fromkeys(won[1], "two")
    assert rows_of(tmp_path / "t") == sorted(names.items())


if __name__ == "__main__":
    race(Path(sys.argv[1]), sys.argv[2], 40)
