"""Iceberg tables of every type: filters on each column give what a scan gives, by pyiceberg and by DuckDB; partitions
of every kind; values whose statistics pyiceberg does not find."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from math import inf, isnan, nan
from typing import TYPE_CHECKING, Any

import pytest

from kcli.errors import KcliError, UsageError
from kcli.pipeline.jobs.lake.table import NotCommitted
from tests.pipeline.jobs.lake.readers import duckdb, files_of

if TYPE_CHECKING:
    from pathlib import Path

    from pyiceberg.table import Table
    from pyspark.sql import DataFrame, SparkSession

    from kcli.pipeline.jobs.lake.iceberg import IcebergTable

DDL = (
    "n BIGINT, yes BOOLEAN, tiny TINYINT, small SMALLINT, num INT, big BIGINT, real FLOAT, dbl DOUBLE, text STRING, "
    "raw BINARY, day DATE, at TIMESTAMP, local TIMESTAMP_NTZ, money DECIMAL(9,2), wide DECIMAL(18,4), "
    "huge DECIMAL(38,10), "
    "user STRUCT<id: BIGINT, name: STRING>, tags ARRAY<STRING>, more MAP<STRING, BIGINT>"
)
COLUMNS = (
    "yes",
    "tiny",
    "small",
    "num",
    "big",
    "real",
    "dbl",
    "text",
    "raw",
    "day",
    "at",
    "local",
    "money",
    "wide",
    "huge",
)
LONG = "x" * 6000
ROWS: list[tuple[Any, ...]] = [
    (
        True, 1, 1, 1, 1, 1.5, 1.5, "a", b"a", date(2026, 1, 1), datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 1),
        Decimal("1.50"), Decimal("1.5000"), Decimal("1.5000000000"), (1, "a"), ["a"], {"a": 1},
    ),
    (
        False, -128, -32768, -(2**31), -(2**63), -inf, -inf, "", b"", date(1, 1, 1),
        datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC), datetime(1, 1, 1), Decimal("-9999999.99"),
        Decimal("-99999999999999.9999"), Decimal("-9999999999999999999999999999.9999999999"), (None, None), [], {},
    ),
    (
        True, 127, 32767, 2**31 - 1, 2**63 - 1, inf, inf, "\U0010ffff" * 20, b"\xff" * 20, date(9999, 12, 31),
        datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC), datetime(9999, 12, 31, 23), Decimal("9999999.99"),
        Decimal("99999999999999.9999"), Decimal("9999999999999999999999999999.9999999999"), None, None, None,
    ),
    (
        None, None, None, None, None, None, None, None, None, None, None, None, None, None, None, (2, LONG),
        [LONG, None], {LONG: None},
    ),
    (
        False, 0, 0, 0, 0, nan, nan, LONG, LONG.encode(), date(1970, 1, 1), datetime(1970, 1, 1, tzinfo=UTC),
        datetime(1970, 1, 1), Decimal("0.00"), Decimal("0.0000"), Decimal("0.0000000000"), (3, ""), [None], {"": 0},
    ),
    (
        True, 5, 5, 5, 5, -0.0, -0.0, "é" * 16, "é".encode() * 16, date(2026, 11, 30),
        datetime(2026, 11, 30, 10, 0, 0, 1, tzinfo=UTC), datetime(2026, 11, 30, 10, 0, 0, 1), Decimal("0.01"),
        Decimal("0.0001"), Decimal("0.0000000001"), (4, "é"), ["é"], {"é": -1},
    ),
]  # fmt: skip


def table_in(lake: Path, **partition: Any) -> IcebergTable:
    from kcli.pipeline.jobs.lake.catalogs import place_of
    from kcli.pipeline.jobs.lake.iceberg import IcebergTable

    return IcebergTable("raw.kinds", place_of(str(lake), None), **partition)


def frame_of(spark: SparkSession, rows: list[tuple[Any, ...]]) -> DataFrame:
    """Each row of its own number, in one file: Arrow's reader does not find NaN beside one other value alone."""
    return spark.createDataFrame([(n, *row) for n, row in enumerate(rows)], DDL).coalesce(1)


def known(table: IcebergTable) -> Table:
    found = table.table()
    assert found is not None
    return found


def same(one: Any, other: Any) -> bool:
    """Whether a filter `column = value` finds it."""
    if one is None or other is None:
        return one is other
    if isinstance(one, float) and (isnan(one) or isnan(other)):
        return isnan(one) and isnan(other)
    return bool(one == other)


@pytest.fixture(scope="module")
def kinds(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Table:
    """A table of every type: a commit for each row, and one of all."""
    table = table_in(tmp_path_factory.mktemp("kinds") / "lake")
    for number in range(len(ROWS)):
        table.write(frame_of(spark, ROWS[number : number + 1]), "append", None, evolve=False)
    table.write(frame_of(spark, ROWS), "append", None, evolve=False)
    return known(table)


@pytest.mark.spark
@pytest.mark.parametrize("column", COLUMNS)
def test_a_filter_finds_what_a_scan_finds(kinds: Table, column: str) -> None:
    from pyiceberg import expressions as e

    scanned = kinds.scan(selected_fields=(column,)).to_arrow()[column].to_pylist()
    assert len(scanned) == 2 * len(ROWS)
    values = [row[COLUMNS.index(column)] for row in ROWS]
    for value in values:
        wanted = sum(same(one, value) for one in scanned)
        assert wanted >= 2
        if value is None:
            condition: Any = e.IsNull(term=e.Reference(column))
        elif isinstance(value, float) and isnan(value):
            condition = e.IsNaN(term=e.Reference(column))
        else:
            condition = e.EqualTo(term=e.Reference(column), value=value)
        if value not in (inf, -inf) or column != "real":  # which pyiceberg takes for more than a float
            assert kinds.scan(row_filter=condition).to_arrow().num_rows == wanted, (column, value)
        with duckdb.connect() as connection:
            connection.execute("SET TimeZone = 'UTC'")
            names = ", ".join(f"'{name}'" for name in files_of(kinds))
            sql = f'SELECT count(*) FROM read_parquet([{names}]) WHERE "{column}" IS NOT DISTINCT FROM ?'
            assert connection.execute(sql, [value]).fetchone() == (wanted,), (column, value)
    if column == "real":
        values = [1.5, 0.0]
    plain = [one for one in scanned if one is not None and not (isinstance(one, float) and isnan(one))]
    for value in values:
        if value is None or (isinstance(value, float) and isnan(value)) or isinstance(value, bool):
            continue
        below = kinds.scan(row_filter=e.LessThan(term=e.Reference(column), value=value)).to_arrow()[column].to_pylist()
        assert len(below) == sum(one < value for one in plain), (column, value)
        above = (
            kinds.scan(row_filter=e.GreaterThanOrEqual(term=e.Reference(column), value=value))
            .to_arrow()[column]
            .to_pylist()
        )
        assert len(above) == sum(one >= value for one in plain), (column, value)
    assert kinds.scan(row_filter=e.NotNull(term=e.Reference(column))).to_arrow().num_rows == sum(
        one is not None for one in scanned
    )


@pytest.mark.spark
def test_nested_values_are_as_they_were(kinds: Table) -> None:
    rows = kinds.scan(row_filter="user.id = 4").to_arrow().to_pylist()
    assert [(row["user"], row["tags"], row["more"]) for row in rows] == 2 * [
        ({"id": 4, "name": "é"}, ["é"], [("é", -1)])
    ]
    assert kinds.scan(row_filter="user.id IS NULL").to_arrow().num_rows == 4


PARTITIONS = [
    ("yes", ""), ("num", ""), ("big", ""), ("text", ""), ("raw", ""), ("day", ""), ("at", ""), ("local", ""),
    ("money", ""), ("wide", ""), ("huge", ""), ("tiny", ""), ("real", ""),
    ("at", "year"), ("at", "month"), ("at", "day"), ("at", "hour"), ("day", "year"), ("day", "month"), ("day", "day"),
    ("local", "hour"), ("local", "day"),
]  # fmt: skip


@pytest.mark.spark
@pytest.mark.parametrize(("column", "unit"), PARTITIONS)
def test_partitions_of_every_kind_are_found(spark: SparkSession, tmp_path: Path, column: str, unit: str) -> None:
    from pyiceberg import expressions as e

    name = f"{column}_{unit}" if unit else column
    units = [(name, unit, column)] if unit else []
    rows = [row for row in ROWS if row[7] != LONG] * 2
    frame = frame_of(spark, rows)
    if unit:
        from pyspark.sql import functions as f

        from kcli.pipeline.jobs.files.export import UNITS

        frame = frame.withColumn(name, f.expr(UNITS[unit].format(column)))
    table = table_in(tmp_path / "lake", by=[name], units=units)
    table.write(frame, "append", None, evolve=False)
    table.write(frame, "append", None, evolve=False)
    lake = known(table)
    assert [str(field.transform) for field in lake.spec().fields] == [unit or "identity"]
    scanned = lake.scan(selected_fields=(column,)).to_arrow()[column].to_pylist()
    assert len(scanned) == 2 * len(rows)
    for value in {row[COLUMNS.index(column)] for row in rows} - {inf, -inf}:  # see above
        reference = e.Reference(column)
        condition: Any = e.IsNull(term=reference) if value is None else e.EqualTo(term=reference, value=value)
        wanted = sum(same(one, value) for one in scanned)
        assert wanted >= 4
        assert lake.scan(row_filter=condition).to_arrow().num_rows == wanted, value
        planned = list(lake.scan(row_filter=condition).plan_files())
        assert 0 < len(planned) < len(files_of(lake)), "others are left out"


@pytest.mark.spark
@pytest.mark.parametrize(("column", "value"), [("text", LONG), ("dbl", nan)], ids=["long", "nan"])
def test_a_partition_value_without_statistics_is_refused(
    spark: SparkSession, tmp_path: Path, column: str, value: Any
) -> None:
    table = table_in(tmp_path / "lake", by=[column])
    ddl, first = (f"{column} STRING", "a") if column == "text" else (f"{column} DOUBLE", 1.0)
    table.write(spark.createDataFrame([(first,)], ddl), "append", None, evolve=False)
    rows = spark.createDataFrame([(value,)], ddl)
    with pytest.raises(NotCommitted, match=f"the statistics of a file do not contain its partition {column}, which is"):
        table.write(rows, "append", None, evolve=False)
    assert known(table).scan().to_arrow().num_rows == 1


@pytest.mark.spark
def test_a_time_in_a_struct_becomes_a_column_and_a_table_of_others_by_it_is_refused(
    spark: SparkSession, tmp_path: Path
) -> None:
    from pyiceberg.partitioning import PartitionField, PartitionSpec
    from pyiceberg.transforms import DayTransform
    from pyspark.sql import functions as f

    frame = spark.createDataFrame([((datetime(2026, 1, 2, tzinfo=UTC),),)], "value STRUCT<at: TIMESTAMP>")
    frame = frame.withColumn("at_day", f.to_date("value.at"))
    table = table_in(tmp_path / "lake", by=["at_day"], units=[("at_day", "day", "value.at")])
    table.write(frame, "append", None, evolve=False)
    lake = known(table)
    assert lake.scan(row_filter="at_day = '2026-01-02'").to_arrow().num_rows == 1
    spec = PartitionSpec(PartitionField(lake.schema().find_field("value.at").field_id, 1000, DayTransform(), "d"))
    table.catalog.create_table("raw.others", lake.schema(), partition_spec=spec)
    from kcli.pipeline.jobs.lake.iceberg import IcebergTable

    with pytest.raises(UsageError, match=r"raw\.others is partitioned by value\.at, a field of a struct"):
        IcebergTable("raw.others", table.place).write(frame, "append", None, evolve=False)


@pytest.mark.spark
def test_a_null_in_a_column_that_must_not_be_null_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    from pyiceberg.schema import Schema
    from pyiceberg.types import LongType, NestedField, StringType

    table = table_in(tmp_path / "lake")
    table.catalog.create_namespace("raw")
    table.catalog.create_table(
        table.name, Schema(NestedField(1, "id", LongType(), required=True), NestedField(2, "note", StringType()))
    )
    table.write(spark.createDataFrame([(1, "a"), (2, None)], "id BIGINT, note STRING"), "append", None, evolve=False)
    with pytest.raises(Exception) as problem:
        table.write(spark.createDataFrame([(None, "a")], "id BIGINT, note STRING"), "append", None, evolve=False)
    from kcli.pipeline.errors import told

    said = told(problem.value)
    assert isinstance(said, KcliError)
    assert "id" in str(said)
    assert sorted(known(table).scan().to_arrow()["id"].to_pylist()) == [1, 2]


@pytest.mark.spark
def test_columns_that_came_later_and_got_wider_are_filtered_too(spark: SparkSession, tmp_path: Path) -> None:
    table = table_in(tmp_path / "lake")
    table.write(spark.createDataFrame([(1,), (2,)], "id INT"), "append", None, evolve=True)
    later = spark.createDataFrame([(3, "a"), (2**40, None)], "id BIGINT, note STRING")
    table.write(later, "append", None, evolve=True)
    lake = known(table)
    assert [str(field.field_type) for field in lake.schema().fields] == ["long", "string"]
    for condition, wanted in (
        ("id = 1", [1]), ("id >= 2", [2, 3, 2**40]), ("id > 2147483648", [2**40]), ("note = 'a'", [3]),
        ("note IS NULL", [1, 2, 2**40]),
    ):  # fmt: skip
        assert sorted(lake.scan(row_filter=condition).to_arrow()["id"].to_pylist()) == wanted
    assert len(lake.metadata.schemas) == 2
    assert len(lake.snapshots()) == 2, "columns and rows are one change"
