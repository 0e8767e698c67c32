"""A batch gets into a table once, whatever happens to the checkpoint: a model of Spark's checkpoint and of a table with
optimistic concurrency control, driven by random histories of kills, restored checkpoints, resets and second drivers."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from kcli.errors import KcliError
from kcli.model import TopicPartition
from kcli.pipeline.jobs import checkpoints
from kcli.pipeline.jobs.files import rewinding
from kcli.pipeline.jobs.lake.table import Batches, Commit, NotCommitted, Reset
from kcli.pipeline.offset_options import to_json

AT = [TopicPartition("orders", 0), TopicPartition("orders", 1)]
IDS = {"orders": "AAAAAAAAAAAAAAAAAAAAAA"}


class Killed(Exception):
    """The driver was killed here."""


class ModelTable:
    """Rows and commits in memory. Like Delta's `txn` and Iceberg's snapshots, it refuses an epoch that it has."""

    label = where = "table"

    def __init__(self) -> None:
        self.commits: list[Commit] = []
        self.rows: list[tuple[TopicPartition, int]] = []

    def last(self, query: str) -> Commit | None:
        return next((Commit.of(one.text()) for one in reversed(self.commits) if one.query == query), None)

    def write(self, commit: Commit) -> None:
        if any(
            (one.query, one.generation, one.epoch) == (commit.query, commit.generation, commit.epoch)
            for one in self.commits
        ):
            raise NotCommitted("another writer was first")
        self.commits.append(commit)
        self.rows += [(at, offset) for at, end in commit.end.items() for offset in range(commit.start.get(at, 0), end)]


class ModelSpark:
    """What MicroBatchExecution does with a checkpoint: offsets, the batch, commits."""

    def __init__(self, place: Path, table: ModelTable, query: str = "q1") -> None:
        self.place, self.table = place, table
        self.batches: Any = Batches(table, place)  # type: ignore[arg-type]
        place.mkdir(exist_ok=True)
        if not (place / "metadata").exists():
            (place / "metadata").write_text(json.dumps({"id": query}))
        self.batches.begin()
        self.began = False

    def _last(self, folder: str) -> int:
        return checkpoints.latest(checkpoints.names(self.place, folder))

    def batch(self, logs: dict[TopicPartition, int], kill: str = "") -> bool:
        """The batch that is planned, or one up to the end of the logs; False where there is nothing to read."""
        number = self._last("commits") + 1
        planned = self._last("offsets")
        if planned < number:
            before = checkpoints.batch_of(self.place, planned).planned if planned >= 0 else {}
            if before == logs:
                return False
            (self.place / "offsets").mkdir(exist_ok=True)
            text = json.dumps({**to_json(logs), "@kcli": {"topics": IDS}})
            (self.place / "offsets" / str(number)).write_text(f"v1\n{{}}\n{text}")
        if kill == "planned":
            raise Killed
        commit = self.batches.commit(number)
        if commit is not None:
            if kill == "writing":
                raise Killed
            self.table.write(commit)
            if kill == "written":
                raise Killed
            self.batches.done(commit)
        (self.place / "commits").mkdir(exist_ok=True)
        (self.place / "commits" / str(number)).write_text('v1\n{"nextBatchWatermarkMs":0}')
        return True


def topic_of(logs: dict[TopicPartition, int]) -> list[tuple[TopicPartition, int]]:
    return [(at, offset) for at, end in logs.items() for offset in range(end)]


@pytest.mark.parametrize("seed", range(300))
def test_no_history_loses_or_repeats_a_record(tmp_path: Path, seed: int) -> None:
    """After kills, second drivers and restored checkpoints, a run ends with table = topic, or is refused and changes
    nothing."""
    chance = random.Random(seed)
    table, place = ModelTable(), tmp_path / "checkpoint"
    logs = dict.fromkeys(AT, 0)
    logs[AT[0]] = 1
    saved: list[Path] = []
    zombie: ModelSpark | None = None
    for step in range(chance.randint(3, 25)):
        logs = {at: end + chance.randint(0, 3) for at, end in logs.items()}
        what = chance.choice(["run", "kill", "kill", "save", "restore", "second", "second"])
        try:
            if what == "save" and place.exists():
                shutil.copytree(place, tmp_path / f"saved{step}")
                saved.append(tmp_path / f"saved{step}")
            elif what == "restore" and saved:
                shutil.rmtree(place)
                shutil.copytree(chance.choice(saved), place)
            elif what == "second" and zombie is not None:
                zombie.batch(logs, chance.choice(["", "written"]))
            else:
                driver = ModelSpark(place, table)
                zombie = driver if chance.random() < 0.5 else zombie
                for _ in range(chance.randint(1, 3)):
                    driver.batch(logs, chance.choice(["planned", "writing", "written"]) if what == "kill" else "")
                    logs = {at: end + chance.randint(0, 2) for at, end in logs.items()}
        except (Killed, KcliError):
            pass
        assert len(table.rows) == len(set(table.rows)), "a record is in the table twice"
    before = list(table.rows)
    try:
        driver = ModelSpark(place, table)
        while driver.batch(logs):
            pass
    except KcliError:
        assert table.rows == before
        assert saved or zombie is not None, "refused without a restored checkpoint or a second driver"
        return
    assert sorted(table.rows) == topic_of(logs)


def test_a_checkpoint_older_than_the_table_goes_on_where_the_table_is(tmp_path: Path) -> None:
    """K1: the checkpoint of a backup is one batch older. Its records are neither lost nor written again."""
    table, place = ModelTable(), tmp_path / "checkpoint"
    ModelSpark(place, table).batch({AT[0]: 100})
    shutil.copytree(place, tmp_path / "backup")
    ModelSpark(place, table).batch({AT[0]: 200})
    shutil.rmtree(place)
    shutil.copytree(tmp_path / "backup", place)
    driver = ModelSpark(place, table)
    assert driver.batch({AT[0]: 260})
    assert sorted(table.rows) == topic_of({AT[0]: 260})


def test_a_reset_writes_again_what_it_goes_back_to(tmp_path: Path) -> None:
    table, place = ModelTable(), tmp_path / "checkpoint"
    ModelSpark(place, table).batch({AT[0]: 200})
    with pytest.raises(Killed):
        ModelSpark(place, table).batch({AT[0]: 250}, "written")
    state = checkpoints.read(place)
    number = rewinding.rewrite(state, {AT[0]: 200})
    Reset.note(place, number)
    driver = ModelSpark(place, table)
    assert driver.batch({AT[0]: 250})
    assert not driver.batch({AT[0]: 250})
    assert table.rows[-50:] == [(AT[0], offset) for offset in range(200, 250)]
    assert len(table.rows) == 300
    again = ModelSpark(place, table)  # and a run after it continues
    assert again.batch({AT[0]: 260})
    assert len(table.rows) == 310


def test_a_table_that_lost_a_commit_is_refused(tmp_path: Path) -> None:
    table, place = ModelTable(), tmp_path / "checkpoint"
    driver = ModelSpark(place, table)
    driver.batch({AT[0]: 100})
    driver.batch({AT[0]: 200})
    table.commits.pop()
    with pytest.raises(KcliError, match=r"records up to orders\[0\] 100, .* starts at orders\[0\] 200"):
        ModelSpark(place, table)


def test_a_topic_that_was_created_again_is_refused(tmp_path: Path) -> None:
    table, place = ModelTable(), tmp_path / "checkpoint"
    ModelSpark(place, table).batch({AT[0]: 100})
    table.commits[-1] = table.commits[-1].replace(topics={"orders": "another"})
    with pytest.raises(KcliError, match="topic id another"):
        ModelSpark(place, table)


@pytest.mark.parametrize("text", ["", "null", "{}", '{"query": 1}', "by somebody else", "[1]"])
def test_what_other_programs_wrote_is_no_commit(text: str) -> None:
    assert Commit.of(text) is None
