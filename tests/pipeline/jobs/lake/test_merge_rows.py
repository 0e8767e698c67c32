"""What a merge makes of a table, without Spark: by deltalake and by pyiceberg, the same for both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from kcli.errors import KcliError
from kcli.pipeline.jobs.lake.merging import iceberg_merge
from kcli.pipeline.jobs.lake.merging.latest import DELETED, Merge

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

deltalake = pytest.importorskip("deltalake", reason="pip install 'kcli-kafka[delta]'")
pytest.importorskip("pyiceberg", reason="pip install 'kcli-kafka[iceberg]'")

Rows = list[tuple[int, str, float | None]]
SCHEMA = pa.schema([("id", pa.int64()), ("at", pa.string()), ("n", pa.float64())])
BY_ID, BY_BOTH = Merge(keys=("id",)), Merge(keys=("id", "at"))


def table_of(rows: Rows) -> pa.Table:
    return pa.Table.from_pylist([dict(zip(SCHEMA.names, row, strict=True)) for row in rows], schema=SCHEMA)


def changes(rows: Rows, deleted: Rows = ()) -> pa.Table:  # type: ignore[assignment]
    flags = pa.array([False] * len(rows) + [True] * len(deleted))
    return table_of([*rows, *deleted]).append_column(DELETED, flags)


class Delta:
    def __init__(self, folder: Path) -> None:
        self.path = folder / "delta"
        deltalake.DeltaTable.create(self.path, deltalake.Schema.from_arrow(SCHEMA))

    def merge(self, rows: pa.Table, merge: Merge, batch: int = 1) -> None:
        from deltalake import CommitProperties, Transaction

        from kcli.pipeline.jobs.lake.merging.delta_merge import merge_rows

        about = CommitProperties(app_transactions=[Transaction("q", batch)])
        merge_rows(deltalake.DeltaTable(self.path), rows, merge, about)

    def rows(self) -> Rows:
        found = deltalake.DeltaTable(self.path).to_pyarrow_table()
        return sorted(tuple(one.values()) for one in found.to_pylist())


class Iceberg:
    def __init__(self, folder: Path) -> None:
        from kcli.pipeline.jobs.lake.catalogs import place_of
        from kcli.pipeline.jobs.lake.iceberg import IcebergTable

        self.table = IcebergTable("raw.orders", place_of(str(folder / "lake"), None))
        self.table.catalog.create_namespace("raw")
        self.table.catalog.create_table(self.table.name, SCHEMA)

    def merge(self, rows: pa.Table, merge: Merge, batch: int = 1) -> None:
        self.table.merge(rows, merge, "q", batch)

    def rows(self) -> Rows:
        table = self.table.table()
        assert table is not None
        return sorted(tuple(one.values()) for one in table.scan().to_arrow().to_pylist())


@pytest.fixture(params=[Delta, Iceberg])
def table(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """An empty table of either kind."""
    make: Callable[[Path], Any] = request.param
    return make(tmp_path)


def test_rows_are_replaced_added_and_deleted_by_their_key(table: Any) -> None:
    table.merge(changes([(1, "a", 1.0), (2, "a", 2.0), (3, "a", 3.0)]), BY_ID, 0)
    table.merge(changes([(1, "b", None), (4, "a", 4.0)], [(2, "", None), (9, "", None)]), BY_ID)
    assert table.rows() == [(1, "b", None), (3, "a", 3.0), (4, "a", 4.0)]
    table.merge(changes([(1, "b", None), (4, "a", 4.0)], [(2, "", None), (9, "", None)]), BY_ID)
    assert table.rows() == [(1, "b", None), (3, "a", 3.0), (4, "a", 4.0)], "a batch again changes nothing"


def test_a_key_of_two_columns_leaves_rows_that_share_one_of_them(table: Any) -> None:
    table.merge(changes([(one, at, float(one)) for one in (1, 2, 3) for at in "abc"]), BY_BOTH, 0)
    table.merge(changes([(1, "a", 9.0)], [(2, "b", None)]), BY_BOTH)
    wanted = [(one, at, float(one)) for one in (1, 2, 3) for at in "abc" if (one, at) not in ((1, "a"), (2, "b"))]
    assert table.rows() == sorted([*wanted, (1, "a", 9.0)])


@pytest.mark.parametrize("keys", [("id",), ("id", "at")])
def test_what_is_older_by_order_by_changes_nothing(table: Any, keys: tuple[str, ...]) -> None:
    merge = Merge(keys=keys, order_by="n")
    table.merge(changes([(1, "a", 5.0), (2, "a", 5.0), (3, "a", None), (4, "a", 5.0)]), merge, 0)
    table.merge(changes([(1, "a", 4.0), (2, "a", 6.0), (3, "a", 1.0), (4, "a", None)], []), merge)
    assert table.rows() == [(1, "a", 5.0), (2, "a", 6.0), (3, "a", 1.0), (4, "a", 5.0)]
    table.merge(changes([], [(1, "a", 4.0), (2, "a", 7.0)]), merge)
    assert table.rows() == [(1, "a", 5.0), (3, "a", 1.0), (4, "a", 5.0)]


def test_columns_that_cover_too_much_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = Iceberg(tmp_path)
    table.merge(changes([(one, at, 0.0) for one in range(3) for at in "ab"]), BY_BOTH, 0)
    monkeypatch.setattr(iceberg_merge, "MOST_BESIDE", 3)
    with pytest.raises(KcliError, match="id, at of --merge cover 4 rows, more than the driver writes anew, 3"):
        table.merge(changes([(1, "a", 1.0), (2, "b", 1.0)]), BY_BOTH)
    assert [len(table.rows()), table.table.last("q")] == [6, 0]


def test_a_merge_that_another_writer_crosses_is_refused_and_not_half_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kcli.pipeline.jobs.lake import iceberg_commit
    from kcli.pipeline.jobs.lake.committer import NotCommitted

    table = Iceberg(tmp_path)
    table.merge(changes([(1, "a", 1.0), (2, "a", 2.0)]), BY_ID, 0)
    commit = iceberg_commit._commit

    def crossed(transaction: Any, label: str) -> None:
        monkeypatch.setattr(iceberg_commit, "_commit", commit)
        table.merge(changes([(1, "other", 7.0)]), BY_ID, 5)
        commit(transaction, label)

    monkeypatch.setattr(iceberg_commit, "_commit", crossed)
    with pytest.raises(NotCommitted, match="another writer changed the table at the same time"):
        table.merge(changes([(1, "ours", 9.0)]), BY_ID, 1)
    assert table.rows() == [(1, "other", 7.0), (2, "a", 2.0)]
