"""Commits of an Iceberg table without Spark: two writers at once, a catalog that refuses, files of a task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from kcli.pipeline.jobs.lake import iceberg_commit
from kcli.pipeline.sink.layout import FileEntry, Layout
from tests.pipeline.jobs.lake.readers import by_pyiceberg, table_of

if TYPE_CHECKING:
    from pathlib import Path

    from pyiceberg.table import Table

    from kcli.pipeline.jobs.lake.iceberg import IcebergTable


@pytest.fixture
def table(tmp_path: Path) -> IcebergTable:
    """A table of a column n, that is there and empty."""
    from kcli.pipeline.jobs.lake.catalogs import place_of
    from kcli.pipeline.jobs.lake.iceberg import IcebergTable

    table = IcebergTable("raw.orders", place_of(str(tmp_path / "lake"), None))
    table.catalog.create_namespace("raw")
    table.catalog.create_table(table.name, pa.schema([pa.field("n", pa.int64())]))
    return table


def known(table: IcebergTable) -> Table:
    found = table.table()
    assert found is not None
    return found


def entries(table: IcebergTable, numbers: list[int], **layout: Any) -> list[FileEntry]:
    """The files of a task with these rows."""
    from pyiceberg.io.pyarrow import schema_to_pyarrow

    from kcli.pipeline.sink.files import PartFiles

    schema = schema_to_pyarrow(known(table).schema()).serialize().to_pybytes()
    files = PartFiles(Layout(folder=f"{known(table).location()}/data/x", schema=schema, **layout), f"{numbers[0]}")
    files.add(pa.record_batch({"n": pa.array(numbers, pa.int64())}))
    return files.close()


def test_a_commit_after_another_writers_is_tried_again(
    table: IcebergTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    append = iceberg_commit.append

    def beaten(*given: Any) -> None:
        append(*given)
        table_of(tmp_path / "lake", "raw.orders").append(pa.table({"n": pa.array([7], pa.int64())}))

    monkeypatch.setattr(iceberg_commit, "append", beaten)
    table.commit(entries(table, [1, 2]), "append", "q", 4)
    assert by_pyiceberg(table_of(tmp_path / "lake", "raw.orders"), "n") == [(1,), (2,), (7,)]
    assert [table.last("q"), table.last("other")] == [4, -1]


def test_a_commit_that_is_refused_each_time_is_one_sentence(
    table: IcebergTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyiceberg.exceptions import CommitFailedException

    from kcli.pipeline.jobs.lake.committer import NotCommitted

    with known(table).transaction() as change:
        change.set_properties({"commit.retry.min-wait-ms": "1", "commit.retry.max-wait-ms": "1"})
    tried = []

    def refuse(*_: Any) -> Any:
        tried.append(1)
        raise CommitFailedException("the metadata has changed")

    monkeypatch.setattr(type(table.catalog), "commit_table", refuse)
    with pytest.raises(NotCommitted, match=r"raw\.orders: another writer changed the table .* nothing was committed"):
        table.commit(entries(table, [1]), "append", "q", 0)
    assert len(tried) == 5
    assert table.last("q") == -1


def test_a_replacement_is_one_change_of_the_table(table: IcebergTable, tmp_path: Path) -> None:
    table.commit(entries(table, [1, 2]), "append", "", -1)
    before = known(table).metadata_location
    table.commit(entries(table, [3]), "overwrite", "", -1)
    after = known(table)
    assert by_pyiceberg(after, "n") == [(3,)]
    assert [one.metadata_file for one in after.metadata.metadata_log][-1] == before


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
