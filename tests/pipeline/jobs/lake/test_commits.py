"""Commits of an Iceberg table without Spark: each batch once, two drivers at once, other writers, a catalog that
refuses, the files of a task."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pyarrow as pa
import pytest

from kcli.errors import KcliError
from kcli.model import TopicPartition
from kcli.pipeline.jobs.lake.table import COMMIT, Commit, NotCommitted
from kcli.pipeline.sink.files import FileEntry, Layout
from tests.pipeline.jobs.lake.readers import by_pyiceberg, strays, table_of

if TYPE_CHECKING:
    from pyiceberg.table import Table

    from kcli.pipeline.jobs.lake.iceberg import IcebergTable

ROOT = Path(__file__).parents[4]
AT = TopicPartition("orders", 0)


@pytest.fixture
def table(tmp_path: Path) -> IcebergTable:
    """A table of a column n, that is there and empty."""
    return made(tmp_path / "lake")


def made(warehouse: Path, **properties: str) -> IcebergTable:
    """The table, as kcli makes it."""
    from kcli.pipeline.jobs.lake.catalogs import place_of
    from kcli.pipeline.jobs.lake.iceberg import IcebergTable
    from kcli.pipeline.jobs.lake.snapshots import MADE

    table = IcebergTable("raw.orders", place_of(str(warehouse), None))
    table.catalog.create_namespace("raw")
    schema = pa.schema([pa.field("n", pa.int64())])
    table.catalog.create_table(table.name, schema, properties={**MADE, **properties})
    return table


def known(table: IcebergTable) -> Table:
    found = table.table()
    assert found is not None
    return found


def entries(table: IcebergTable, numbers: list[int], **layout: Any) -> list[FileEntry]:
    """The files of a task with these rows."""
    from pyiceberg.io.pyarrow import schema_to_pyarrow

    from kcli.pipeline.sink.files import PartFiles

    if not numbers:
        return []
    schema = schema_to_pyarrow(known(table).schema(), include_field_ids=False).serialize().to_pybytes()
    files = PartFiles(Layout(folder=f"{known(table).location()}/data", schema=schema, **layout), uuid4().hex)
    files.add(pa.record_batch({"n": pa.array(numbers, pa.int64())}))
    return files.close()


def batch(epoch: int, query: str = "q", generation: str = "") -> Commit:
    """A commit of a stream: ten records of a partition."""
    start = {AT: epoch * 10} if epoch else {}
    return Commit(
        query=query, generation=generation, epoch=epoch, start=start, end={AT: epoch * 10 + 10}, id=uuid4().hex
    )


def crossed(table: IcebergTable, monkeypatch: pytest.MonkeyPatch, other: Any) -> None:
    """`other` commits between the next commit of the table and what that was made from."""
    commit_table = table.catalog.commit_table

    def late(*given: Any) -> Any:
        monkeypatch.setattr(table.catalog, "commit_table", commit_table)
        other()
        return commit_table(*given)

    monkeypatch.setattr(table.catalog, "commit_table", late)


def another(warehouse: Path) -> IcebergTable:
    """The table of another driver."""
    from kcli.pipeline.jobs.lake.catalogs import place_of
    from kcli.pipeline.jobs.lake.iceberg import IcebergTable

    return IcebergTable("raw.orders", place_of(str(warehouse), None))


def test_a_commit_after_another_writers_is_tried_again(
    table: IcebergTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def other() -> None:
        table_of(tmp_path / "lake", "raw.orders").append(pa.table({"n": pa.array([7], pa.int64())}))

    crossed(table, monkeypatch, other)
    commit = batch(0)
    table.add(entries(table, [1, 2]), "append", commit)
    assert by_pyiceberg(table_of(tmp_path / "lake", "raw.orders"), "n") == [(1,), (2,), (7,)]
    assert [table.last("q"), table.last("other")] == [commit, None]


@pytest.mark.parametrize("generation", ["", "reset"])
def test_of_two_drivers_with_one_checkpoint_the_second_is_refused(
    table: IcebergTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, generation: str
) -> None:
    """Also where the other commits between the check and the commit."""
    zombie = another(tmp_path / "lake")
    table.add(entries(table, [1]), "append", batch(0))
    with pytest.raises(NotCommitted, match="another process committed to the table with the same checkpoint"):
        zombie.add(entries(table, [1]), "append", batch(0, generation=generation))
    crossed(zombie, monkeypatch, lambda: table.add(entries(table, [2]), "append", batch(1)))
    files = len(list((tmp_path / "lake/raw/orders/metadata").iterdir()))
    with pytest.raises(NotCommitted, match="another process committed to the table with the same checkpoint"):
        zombie.add(entries(table, [20]), "append", batch(1, generation=generation))
    assert by_pyiceberg(known(table), "n") == [(1,), (2,)]
    assert len(list((tmp_path / "lake/raw/orders/metadata").iterdir())) == files + 3, "of the first driver alone"
    zombie.add(entries(table, [30]), "append", batch(0, query="other"))
    assert by_pyiceberg(known(table), "n") == [(1,), (2,), (30,)]


def test_a_table_that_was_dropped_is_not_made_again_by_a_batch(table: IcebergTable) -> None:
    table.add(entries(table, [1]), "append", batch(0))
    files = entries(table, [2])
    table.catalog.drop_table(table.name)
    with pytest.raises(NotCommitted, match="dropped"):
        table.add(files, "append", batch(1))


def test_a_commit_that_is_refused_each_time_is_one_sentence(
    table: IcebergTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyiceberg.exceptions import CommitFailedException

    with known(table).transaction() as change:
        change.set_properties({"commit.retry.min-wait-ms": "1", "commit.retry.max-wait-ms": "1"})
    tried = []

    def refuse(*_: Any) -> Any:
        tried.append(1)
        raise CommitFailedException("the metadata has changed")

    monkeypatch.setattr(type(table.catalog), "commit_table", refuse)
    with pytest.raises(NotCommitted, match=r"raw\.orders: another writer changed the table .* nothing was committed"):
        table.add(entries(table, [1]), "append", batch(0))
    assert len(tried) == 5
    assert table.last("q") is None


def test_a_commit_that_is_there_though_it_was_refused_is_not_made_again(
    table: IcebergTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where a proxy sends a request again of which the answer was lost."""
    from pyiceberg.exceptions import CommitFailedException

    commit_table = table.catalog.commit_table

    def twice(*given: Any) -> Any:
        monkeypatch.setattr(table.catalog, "commit_table", commit_table)
        commit_table(*given)
        raise CommitFailedException("the metadata has changed")

    monkeypatch.setattr(table.catalog, "commit_table", twice)
    commit = batch(0)
    table.add(entries(table, [1]), "append", commit)
    assert [by_pyiceberg(known(table), "n"), table.last("q")] == [[(1,)], commit]
    assert len(known(table).snapshots()) == 1


def test_a_replacement_is_one_change_of_the_table(table: IcebergTable, tmp_path: Path) -> None:
    table.add(entries(table, []), "overwrite", None)
    table.add(entries(table, [1, 2]), "overwrite", None)
    before = known(table).metadata_location
    table.add(entries(table, [3]), "overwrite", None)
    after = known(table)
    assert by_pyiceberg(after, "n") == [(3,)]
    assert [one.metadata_file for one in after.metadata.metadata_log][-1] == before


def test_a_batch_without_rows_is_a_commit_too(table: IcebergTable) -> None:
    first, second = batch(0), batch(1)
    table.add([], "append", first)
    assert table.last("q") == first
    table.add([], "append", second)
    assert table.last("q") == second
    assert by_pyiceberg(known(table), "n") == []


def test_a_rollback_brings_back_the_commit_of_then_and_expired_snapshots_lose_none(
    table: IcebergTable, tmp_path: Path
) -> None:
    commits = [batch(epoch) for epoch in range(3)]
    for number, commit in enumerate(commits):
        table.add(entries(table, [number]), "append", commit)
    lake = table_of(tmp_path / "lake", "raw.orders")
    for number in (7, 8):
        lake.append(pa.table({"n": pa.array([number], pa.int64())}))
    assert table.last("q") == commits[2], "behind the commits of another"
    lake.manage_snapshots().rollback_to_snapshot(lake.snapshots()[1].snapshot_id).commit()
    assert table.last("q") == commits[1]
    with pytest.raises(NotCommitted, match="rolled back"):
        table.add(entries(table, [3]), "append", batch(3))
    table.add(entries(table, [2]), "append", again := batch(2))
    lake.refresh().append(pa.table({"n": pa.array([9], pa.int64())}))
    ours = [one.snapshot_id for one in lake.snapshots() if one.snapshot_id != lake.metadata.current_snapshot_id]
    lake.maintenance.expire_snapshots().by_ids(ours).commit()
    assert table.last("q") == again, "the property of the table has it"
    assert table.last("other") is None


def test_a_rollback_to_before_all_that_is_known_is_an_error_and_no_guess(table: IcebergTable, tmp_path: Path) -> None:
    table.add(entries(table, [0]), "append", batch(0))
    lake = table_of(tmp_path / "lake", "raw.orders")
    lake.append(pa.table({"n": pa.array([7], pa.int64())}))
    table.add(entries(table, [1]), "append", batch(1))
    first, second, _ = lake.refresh().snapshots()
    lake.manage_snapshots().rollback_to_snapshot(second.snapshot_id).commit()
    lake.maintenance.expire_snapshots().by_id(first.snapshot_id).commit()
    with pytest.raises(KcliError, match="rolled back past the last commit of this pipeline"):
        table.last("q")


def test_what_another_program_wrote_into_a_snapshot_is_no_commit(table: IcebergTable, tmp_path: Path) -> None:
    table.add(entries(table, [0]), "append", commit := batch(0))
    lake = table_of(tmp_path / "lake", "raw.orders")
    rows = pa.table({"n": pa.array([7], pa.int64())})
    lake.append(rows, snapshot_properties={COMMIT: "by somebody else"})
    lake.append(rows, snapshot_properties={COMMIT: json.dumps({"query": "q"})})
    assert table.last("q") == commit


def race(warehouse: str, catalog: str, rounds: int, name: str = "raw.orders") -> list[dict[str, Any]]:
    """Two drivers in processes of their own, with one checkpoint, begin the same batches; what they say of each."""
    words = [
        sys.executable,
        "-W",
        "ignore",
        "-m",
        "tests.pipeline.jobs.lake.racing",
        warehouse,
        catalog,
        name,
        str(rounds),
    ]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    both = [
        subprocess.Popen([*words, str(one)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
        for one in (1, 2)
    ]
    said = []
    deadline = time.monotonic() + 200
    try:
        for process in both:
            out, problems = process.communicate(timeout=deadline - time.monotonic())
            assert process.returncode == 0, problems
            said += [json.loads(line) for line in out.splitlines()]
    finally:
        for process in both:
            process.kill()
    return said


def check_race(table: Table, said: list[dict[str, Any]], rounds: int) -> None:
    """Each batch has one winner, whose rows alone are in the table."""
    won = sorted((one["epoch"], one["rows"]) for one in said if one["won"])
    assert [epoch for epoch, _ in won] == list(range(rounds))
    assert by_pyiceberg(table, "n") == sorted((n,) for _, rows in won for n in rows)
    assert any(not one["won"] for one in said), "they never met"
    texts = [one.summary.additional_properties.get(COMMIT) for one in table.snapshots() if one.summary is not None]
    assert [commit.epoch for text in texts if (commit := Commit.of(text)) is not None] == list(range(rounds))


@pytest.mark.process
@pytest.mark.timeout(240)
def test_of_two_processes_exactly_one_commits_each_batch(table: IcebergTable, tmp_path: Path) -> None:
    said = race(str(tmp_path / "lake"), "", 15)
    check_race(known(table), said, 15)


@pytest.mark.slow
def test_a_task_that_fails_leaves_no_file_and_full_files_are_followed_by_others(
    table: IcebergTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kcli.pipeline.sink import files

    monkeypatch.setattr(files, "GROUP", 8)
    schema = pa.schema([pa.field("n", pa.int64())]).serialize().to_pybytes()
    layout = Layout(folder=f"file://{tmp_path}/out", schema=schema, size=1)
    parts = files.PartFiles(layout, "a")
    for n in range(3):
        parts.add(pa.record_batch({"n": pa.array([n], pa.int64())}))
    assert len(list(tmp_path.glob("out/*.parquet"))) == 3
    parts.undo()
    assert not list(tmp_path.glob("out/*.parquet"))


def test_rows_lie_by_their_partition_values(tmp_path: Path) -> None:
    from kcli.pipeline.sink.files import PartFiles

    schema = pa.schema([pa.field("n", pa.int64())]).serialize().to_pybytes()
    layout = Layout(folder=f"file://{tmp_path}/out", schema=schema, parts=("p",), labels=("day",))
    files = PartFiles(layout, "a")
    files.add(pa.record_batch({"n": pa.array([1, 2, 3], pa.int64()), "p": pa.array([None, "a/b", "a/b"])}))
    files.add(pa.record_batch({"n": pa.array([4], pa.int64()), "p": pa.array(["a/b"])}))
    found = files.close()
    assert [(one.values, one.rows) for one in found] == [((None,), 1), (("a/b",), 3)]
    assert sorted(str(path.relative_to(tmp_path)).split("/")[1] for path in tmp_path.rglob("*.parquet")) == [
        "day=null", "other",
    ]  # fmt: skip


def test_files_that_no_snapshot_names_are_found_and_deleted_when_they_are_old(
    table: IcebergTable, tmp_path: Path
) -> None:
    table.add(entries(table, [1]), "append", None)
    table.add(entries(table, [2]), "overwrite", None)  # the first is of an older snapshot
    lake = tmp_path / "lake/raw/orders"
    (left,) = entries(table, [3])
    (lake / "metadata/left-m0.avro").write_bytes(b"of a commit that was refused")
    (lake / "metadata/version-hint.text").write_text("1")
    assert table.clean(3600, delete=False) == []
    old = time.time() - 7200
    for path in lake.rglob("*.*"):
        os.utime(path, (old, old))
    wanted = sorted([left.path, f"file://{lake}/metadata/left-m0.avro"])
    assert sorted(table.clean(3600, delete=False)) == wanted
    assert sorted(table.clean(3600, delete=True)) == wanted
    assert table.clean(0, delete=False) == []
    assert (lake / "metadata/version-hint.text").exists()
    assert by_pyiceberg(known(table), "n") == [(2,)]
    first = known(table).snapshots()[0].snapshot_id
    assert known(table).scan(snapshot_id=first).to_arrow().num_rows == 1, "older snapshots are whole"


def test_files_of_a_table_in_a_namespace_of_that_name_are_left_alone(tmp_path: Path) -> None:
    from kcli.pipeline.jobs.lake.catalogs import place_of
    from kcli.pipeline.jobs.lake.iceberg import IcebergTable

    outer = made(tmp_path / "lake")
    inner = IcebergTable("raw.orders.data.inner", place_of(str(tmp_path / "lake"), None))
    inner.catalog.create_namespace_if_not_exists(inner.name[:-1])
    location = f"{known(outer).location()}/data/inner"
    inner.catalog.create_table(inner.name, pa.schema([pa.field("n", pa.int64())]), location=location)
    inner.add(entries(inner, [1]), "append", None)
    time.sleep(0.05)
    assert outer.clean(0, delete=True) == []
    assert by_pyiceberg(known(inner), "n") == [(1,)]


def test_a_file_that_is_committed_while_it_is_looked_for_stays(
    table: IcebergTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kcli.pipeline.jobs.lake import iceberg
    from kcli.pipeline.jobs.lake.snapshots import named_files

    files = entries(table, [1])
    time.sleep(0.05)

    def late(found: Table) -> set[str]:
        named = named_files(found)
        monkeypatch.setattr(iceberg, "named_files", named_files)
        another(tmp_path / "lake").add(files, "append", None)
        return named

    monkeypatch.setattr(iceberg, "named_files", late)
    assert table.clean(0, delete=True) == []
    assert by_pyiceberg(known(table), "n") == [(1,)]
    assert not strays(tmp_path / "lake", known(table))
