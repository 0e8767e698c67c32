"""What a merge makes of a table, without Spark: by deltalake and by pyiceberg, the same for both."""

from __future__ import annotations

import tracemalloc
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from kcli.pipeline.jobs.lake.merging.latest import DELETED, Merge
from tests.pipeline.jobs.lake.test_commits import crossed as before_the_next

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

        from kcli.pipeline.jobs.lake.delta_history import merge_rows

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
        self.table.merge_rows(rows, merge, None)

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


def test_a_row_that_is_older_in_one_file_is_not_written_for_another(tmp_path: Path) -> None:
    table = Iceberg(tmp_path)
    merge = Merge(keys=("id",), order_by="n")
    table.merge(changes([(1, "a", 5.0), (2, "a", 5.0)]), merge, 0)
    known = table.table.table()
    assert known is not None
    known.append(table_of([(1, "twin", 1.0), (8, "a", 1.0)]))  # by another writer, which knows no keys
    table.merge(changes([(1, "b", 3.0), (8, "b", 2.0)]), merge)
    assert table.rows() == [(1, "a", 5.0), (1, "twin", 1.0), (2, "a", 5.0), (8, "b", 2.0)]


def test_only_files_that_have_a_key_of_the_batch_are_written_anew(tmp_path: Path) -> None:
    table = Iceberg(tmp_path)
    for batch, first in enumerate((0, 10, 20)):
        table.merge(changes([(first + one, "a", 0.0) for one in (0, 2, 9)]), BY_ID, batch)
    known = table.table.table()
    assert known is not None
    before = set(known.inspect.files()["file_path"].to_pylist())
    table.merge(changes([(11, "new", 1.0), (15, "new", 1.0), (12, "b", 1.0)]), BY_ID, 3)
    after = set(known.refresh().inspect.files()["file_path"].to_pylist())
    assert [len(before & after), len(after)] == [2, 4], "what the file had besides, and the batch"
    assert len(list(known.snapshots())) == 4, "a batch is one snapshot"
    table.merge(changes([], [(10, "", None), (19, "", None)]), BY_ID, 4)
    assert [row[0] for row in table.rows()] == [0, 2, 9, 11, 12, 15, 20, 22, 29]


def test_rows_of_a_file_with_many_row_groups_are_told_apart(tmp_path: Path) -> None:
    table = Iceberg(tmp_path)
    known = table.table.table()
    assert known is not None
    with known.transaction() as change:
        change.set_properties({"write.parquet.row-group-limit": "500", "write.parquet.page-row-limit": "50"})
    rows: Rows = [((one * 7919) % 10_000, "a", float(one)) for one in range(10_000)]
    table.merge(changes(rows), Merge(keys=("id",), order_by="n"), 0)
    newer: Rows = [(one, "b", 20_000.0 if one % 2 else -1.0) for one in range(0, 10_000, 7)]
    table.merge(changes(newer), Merge(keys=("id",), order_by="n"))
    later = {row[0]: row for row in newer if row[2] != -1.0}
    assert table.rows() == sorted(later.get(row[0], row) for row in rows)


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (pa.bool_(), [True, False, None]),
        (pa.binary(), [b"", b"\xff\x00", None]),
        (pa.date32(), [date(1969, 12, 31), date(2026, 1, 1), None]),
        (pa.timestamp("us", "UTC"), [datetime(1969, 12, 31, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC), None]),
        (pa.decimal128(12, 2), [Decimal("-1.50"), Decimal("9999999999.99"), None]),
        (pa.int32(), [-(2**31), 2**31 - 1, None]),
    ],
    ids=str,
)
def test_keys_of_every_kind_are_found(tmp_path: Path, kind: pa.DataType, values: list[Any]) -> None:
    from kcli.pipeline.jobs.lake.catalogs import place_of
    from kcli.pipeline.jobs.lake.iceberg import IcebergTable

    schema = pa.schema([("id", kind), ("n", pa.int64())])
    table = IcebergTable("raw.kinds", place_of(str(tmp_path / "lake"), None))
    table.catalog.create_namespace("raw")
    table.catalog.create_table(table.name, schema)
    for batch in (0, 1):
        rows = pa.table({"id": pa.array(values, kind), "n": [batch] * 3, DELETED: [False] * 3})
        table.merge_rows(rows, BY_ID, None)
    known = table.table()
    assert known is not None
    found = {(one["id"], one["n"]) for one in known.scan().to_arrow().to_pylist()}
    assert found == {(values[0], 1), (values[1], 1), (None, 0), (None, 1)}, "a null equals nothing, as in SQL"


@pytest.mark.slow
def test_a_merge_takes_no_object_for_a_key(tmp_path: Path) -> None:
    table, count = Iceberg(tmp_path), 30_000
    table.merge(changes([(one, "a", 0.0) for one in range(count)]), BY_ID, 0)
    rows = changes([(one, "b", 1.0) for one in range(count)])
    tracemalloc.start()
    try:
        table.merge(rows, BY_ID)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 100 * count, "pyiceberg's filters of keys take 500 bytes of each"
    assert table.rows()[0] == (0, "b", 1.0)


def crossed(table: Iceberg, monkeypatch: pytest.MonkeyPatch, key: int) -> None:
    """The next merge commits after another writer has committed a row of this key."""
    before_the_next(table.table, monkeypatch, lambda: table.merge(changes([(key, "other", 7.0)]), BY_ID, 5))


@pytest.mark.slow
@pytest.mark.parametrize("key", [1, 3], ids=["there", "new to both"])
def test_a_merge_that_another_writer_crosses_is_refused_and_not_half_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: int
) -> None:
    from kcli.pipeline.jobs.lake.table import NotCommitted

    table = Iceberg(tmp_path)
    before: Rows = [(1, "a", 1.0), (2, "a", 2.0)]
    table.merge(changes(before), BY_ID, 0)
    crossed(table, monkeypatch, key)
    with pytest.raises(NotCommitted, match="another writer changed the table"):
        table.merge(changes([(key, "ours", 9.0)]), BY_ID, 1)
    assert table.rows() == sorted([*(row for row in before if row[0] != key), (key, "other", 7.0)])


def test_a_merge_that_another_writer_crosses_with_other_keys_is_committed_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = Iceberg(tmp_path)
    table.merge(changes([(1, "a", 1.0), (2, "a", 2.0)]), BY_ID, 0)
    crossed(table, monkeypatch, 50)
    table.merge(changes([(1, "ours", 9.0)]), BY_ID, 1)
    assert table.rows() == [(1, "ours", 9.0), (2, "a", 2.0), (50, "other", 7.0)]


def test_rows_are_merged_into_hidden_partitions_and_a_column_they_have_not_is_null(tmp_path: Path) -> None:
    from pyiceberg.partitioning import PartitionField, PartitionSpec
    from pyiceberg.schema import Schema
    from pyiceberg.transforms import DayTransform
    from pyiceberg.types import LongType, NestedField, StringType, TimestampType

    from kcli.pipeline.jobs.lake.catalogs import place_of
    from kcli.pipeline.jobs.lake.iceberg import IcebergTable

    table = IcebergTable("raw.days", place_of(str(tmp_path / "lake"), None))
    table.catalog.create_namespace("raw")
    fields = [(1, "id", LongType()), (2, "at", TimestampType()), (3, "note", StringType())]
    schema = Schema(*[NestedField(number, name, kind, required=False) for number, name, kind in fields])
    spec = PartitionSpec(PartitionField(2, 1000, DayTransform(), "at_day"))
    table.catalog.create_table(table.name, schema, partition_spec=spec)
    days = [datetime(2026, 1, day) for day in (1, 2, 3)]
    one = {"id": [1, 2, 3], "at": days, "note": ["a", "b", "c"], DELETED: [False] * 3}
    table.merge_rows(pa.table(one), BY_ID, None)
    table.merge_rows(pa.table({"id": [2, 3], "at": days[:2], DELETED: [False, True]}), BY_ID, None)
    known = table.table()
    assert known is not None
    found = sorted(tuple(row.values()) for row in known.scan().to_arrow().to_pylist())
    assert found == [(1, days[0], "a"), (2, days[0], None)]
