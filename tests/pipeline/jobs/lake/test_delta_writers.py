"""Delta tables by both writers, deltalake in the driver and Delta's own in Spark: the same promises for each, read by
deltalake, DuckDB and Spark."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from kcli.errors import UsageError
from kcli.pipeline.jobs.lake.merging.latest import DELETED, Merge
from kcli.pipeline.jobs.lake.table import NotCommitted
from tests.pipeline.jobs.lake.test_delta_commits import commit_of, rows_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

deltalake = pytest.importorskip("deltalake", reason="pip install 'kcli-kafka[delta]'")
duckdb = pytest.importorskip("duckdb", reason="pip install --group dev")
pytestmark = [pytest.mark.spark, pytest.mark.process, pytest.mark.timeout(600)]

EVERY = (
    "b BOOLEAN, i8 TINYINT, i16 SMALLINT, i32 INT, i64 BIGINT, f32 FLOAT, f64 DOUBLE, dec DECIMAL(12,2), s STRING, "
    "bin BINARY, d DATE, ts TIMESTAMP, ntz TIMESTAMP_NTZ, part STRING, st STRUCT<a: INT>, arr ARRAY<INT>"
)
FILTERED = "b i8 i16 i32 i64 f32 f64 dec s bin d ts ntz part".split()
BY_FILES = ("b",)
"""Delta's own writer makes no range of booleans, which deltalake's dataset (1.6.6) takes for a range of null: it finds
nothing. Its QueryBuilder and readers of the files do."""


@pytest.fixture(autouse=True)
def jars(spark: SparkSession) -> None:
    if "delta" not in (spark.conf.get("spark.sql.extensions", "") or ""):
        pytest.skip("Delta's own jars are needed, for Spark 4.2")


@pytest.fixture(params=["library", "spark"])
def make(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Makes the table of a place, by one of the writers."""
    from kcli.pipeline.jobs.lake.delta import DeltaTable
    from kcli.pipeline.jobs.lake.delta_spark import SparkDeltaTable

    return DeltaTable if request.param == "library" else SparkDeltaTable


def row(n: int) -> tuple[Any, ...]:
    """The n-th of 117 rows: each column has nulls, and values far apart in different files."""
    if n % 7 == 6:
        return (*[None] * 13, "p0", None, None)
    at = datetime(1969, 12, 31, 23, 59, 59, 999_999) + timedelta(days=97 * n, microseconds=n)
    return (
        n % 2 == 0, n % 100 - 50, n * 100 - 5000, n * 10_000_000, -n * 10**15, n / 4, n * 1e300 if n % 3 else -0.0,
        Decimal(n * 1000 - 5) / 100, "aé\U0001f600"[n % 3] * (n % 40), bytes([n, 255, 0]),
        date(1969, 12, 31) + timedelta(days=31 * n), at.replace(tzinfo=UTC), at, f"p{n % 2}", (n,), [n, None],
    )  # fmt: skip


def frame(spark: SparkSession, numbers: range) -> DataFrame:
    return spark.createDataFrame([row(n) for n in numbers], EVERY).coalesce(1)


@pytest.mark.parametrize("by", [(), ("part",)])
def test_filters_on_every_column_find_what_a_scan_finds(
    make: Callable[..., Any], spark: SparkSession, tmp_path: Path, by: tuple[str, ...]
) -> None:
    from kcli.pipeline.jobs.lake.delta import DeltaTable

    table = make(str(tmp_path / "t"), by=by)
    for epoch, first in enumerate((0, 39, 78)):
        table.write(frame(spark, range(first, first + 39)), "append", commit_of(epoch, f"{epoch}"), evolve=False)
    found = deltalake.DeltaTable(tmp_path / "t").to_pyarrow_dataset()
    scan = found.to_table()
    assert scan.num_rows == 117
    assert sorted(scan["i64"].drop_null().to_pylist()) == sorted(-n * 10**15 for n in range(117) if n % 7 != 6)
    for name in FILTERED:
        if name in BY_FILES and make is not DeltaTable:
            continue
        values = [value for n in (0, 1, 50, 116) if (value := scan.column(name)[n]).is_valid]
        filters = [pc.field(name).is_null(), pc.field(name).is_valid()]
        filters += [test(pc.field(name), value) for value in values for test in (pc.equal, pc.less, pc.greater_equal)]
        for one in filters:
            assert found.count_rows(filter=one) == scan.filter(one).num_rows, f"deltalake's dataset: {one}"
    query = deltalake.QueryBuilder().register("t", deltalake.DeltaTable(tmp_path / "t"))
    (yes,) = pa.table(query.execute("SELECT count(*) AS n FROM t WHERE b = true").read_all())["n"].to_pylist()
    assert yes == pc.sum(scan["b"]).as_py()
    _by_duckdb(
        found, scan, deltalake.DeltaTable(tmp_path / "t").file_uris(), BY_FILES if make is not DeltaTable else ()
    )
    _by_spark(spark, tmp_path / "t", scan)


def _by_duckdb(found: Any, scan: pa.Table, uris: list[str], by_files: tuple[str, ...]) -> None:
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.register("found", found)
        connection.register("scan", scan)
        files = f"read_parquet({uris})"
        for name in FILTERED:
            there = files if name in by_files else "found"
            for test in ("IS NULL", "= ?", "< ?", ">= ?"):
                sql = f"SELECT count(*) FROM {{}} WHERE {name} {test}"
                for value in [scan.column(name)[n].as_py() for n in (0, 50, 115)] if "?" in test else [None]:
                    given = [] if value is None else [value]
                    counts = [connection.execute(sql.format(one), given).fetchone() for one in (there, "scan")]
                    assert counts[0] == counts[1], f"DuckDB: {name} {test} {value}"


def _by_spark(spark: SparkSession, place: Path, scan: pa.Table) -> None:
    from pyspark.sql import functions as f

    rows = spark.read.format("delta").load(str(place))
    kept = [one.asDict() for one in rows.collect()]
    assert len(kept) == scan.num_rows
    for name in FILTERED:
        values = sorted({one[name] for one in kept if one[name] is not None})
        middle = values[len(values) // 2]
        assert rows.where(f.col(name) == f.lit(middle)).count() == sum(one[name] == middle for one in kept), name
        assert rows.where(f.col(name).isNull()).count() == sum(one[name] is None for one in kept), name
        more = sum(one[name] is not None and one[name] >= middle for one in kept)
        assert rows.where(f.col(name) >= f.lit(middle)).count() == more, name


def numbers(spark: SparkSession, *values: int | None) -> DataFrame:
    return spark.createDataFrame([(value,) for value in values], "id BIGINT").coalesce(1)


def constrained(spark: SparkSession, place: Path, more: str = "", properties: str = "") -> None:
    spark.sql(f"CREATE TABLE delta.`{place}` (id BIGINT NOT NULL {more}) USING delta {properties}")


def test_constraints_of_the_table_hold(make: Callable[..., Any], spark: SparkSession, tmp_path: Path) -> None:
    place = tmp_path / "t"
    constrained(spark, place, properties="TBLPROPERTIES ('delta.appendOnly' = 'true')")
    spark.sql(f"ALTER TABLE delta.`{place}` ADD CONSTRAINT positive CHECK (id > 0)")
    table = make(str(place))
    table.write(numbers(spark, 1, 2), "append", commit_of(0, "a"), evolve=False)
    before = deltalake.DeltaTable(place).version()
    with pytest.raises(NotCommitted, match=r"(?s)t: .*id > 0.*nothing was committed"):
        table.write(numbers(spark, 3, -5), "append", commit_of(1, "b"), evolve=False)
    with pytest.raises(NotCommitted, match=r"(?si)t: .*null.*nothing was committed"):
        table.write(numbers(spark, 3, None), "append", commit_of(1, "c"), evolve=False)
    with pytest.raises(NotCommitted, match="is append-only"):
        table.write(numbers(spark, 3), "overwrite", None, evolve=False)
    assert deltalake.DeltaTable(place).version() == before
    assert not list(place.glob("*.kcli*"))
    table.write(numbers(spark, 3), "append", commit_of(1, "d"), evolve=False)
    assert rows_of(place) == [(1,), (2,), (3,)]


def test_delta_makes_generated_columns(make: Callable[..., Any], spark: SparkSession, tmp_path: Path) -> None:
    constrained(spark, tmp_path / "t", ", twice BIGINT GENERATED ALWAYS AS (id * 2)")
    make(str(tmp_path / "t")).write(numbers(spark, 1, 2), "append", commit_of(0, "a"), evolve=False)
    assert rows_of(tmp_path / "t") == [(1, 2), (2, 4)]


def test_the_second_driver_is_refused(make: Callable[..., Any], spark: SparkSession, tmp_path: Path) -> None:
    one, two = make(str(tmp_path / "t")), make(str(tmp_path / "t"))
    one.write(numbers(spark, 1), "error", commit_of(0, "one"), evolve=False)
    two.write(numbers(spark, 2), "append", commit_of(1, "two"), evolve=False)
    with pytest.raises(NotCommitted, match="another process uses the checkpoint"):
        one.write(numbers(spark, 9), "append", commit_of(1, "one"), evolve=False)
    assert rows_of(tmp_path / "t") == [(1,), (2,)]
    assert two.last("q").id == "two"


def test_what_delta_passes_over_without_a_word_is_not_taken_for_a_commit(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kcli.pipeline.jobs.lake.delta_spark import SparkDeltaTable

    one, two = SparkDeltaTable(str(tmp_path / "t")), SparkDeltaTable(str(tmp_path / "t"))
    one.write(numbers(spark, 1), "append", commit_of(0, "one"), evolve=False)
    number = one._next(commit_of(1, "one"))  # looked at the table, and was held up there
    two.write(numbers(spark, 2), "append", commit_of(1, "two"), evolve=False)
    monkeypatch.setattr(one, "_next", lambda commit: number)
    with pytest.raises(NotCommitted, match="committed a batch first"):
        one.write(numbers(spark, 9), "append", commit_of(1, "one"), evolve=False)
    changes = numbers(spark, 9).selectExpr("id", f"false AS {DELETED}")
    with pytest.raises(NotCommitted, match="committed a batch first"):
        one.merge(changes, Merge(keys=("id",)), commit_of(1, "one"), evolve=False)
    assert rows_of(tmp_path / "t") == [(1,), (2,)]


def test_restores_are_followed(make: Callable[..., Any], spark: SparkSession, tmp_path: Path) -> None:
    table, place = make(str(tmp_path / "t")), tmp_path / "t"
    for epoch in range(3):
        table.write(numbers(spark, epoch), "append", commit_of(epoch, "a"), evolve=False)
    spark.sql(f"RESTORE TABLE delta.`{place}` TO VERSION AS OF 1")
    assert table.last("q").epoch == 1
    table.write(numbers(spark, 7), "append", commit_of(2, "b"), evolve=False)
    assert rows_of(place) == [(0,), (1,), (7,)]


def test_either_writer_continues_what_the_other_began(spark: SparkSession, tmp_path: Path) -> None:
    from kcli.pipeline.jobs.lake.delta import DeltaTable
    from kcli.pipeline.jobs.lake.delta_spark import SparkDeltaTable

    place = str(tmp_path / "t")
    for epoch, kind in enumerate((DeltaTable, SparkDeltaTable, SparkDeltaTable, DeltaTable, SparkDeltaTable)):
        table: Any = kind(place)
        last = table.last("q")
        assert (-1 if last is None else last.epoch) == epoch - 1
        table.write(numbers(spark, epoch), "append", commit_of(epoch, "a"), evolve=False)
    assert rows_of(tmp_path / "t") == [(n,) for n in range(5)]


def changes(spark: SparkSession, *rows: tuple[int, str, float | None, bool]) -> DataFrame:
    return spark.createDataFrame(list(rows), f"id BIGINT, at STRING, n DOUBLE, {DELETED} BOOLEAN")


def test_rows_are_merged_by_their_key(make: Callable[..., Any], spark: SparkSession, tmp_path: Path) -> None:
    table, place, merge = make(str(tmp_path / "t")), tmp_path / "t", Merge(keys=("id",), order_by="n")
    first = changes(spark, (1, "a", 5.0, False), (2, "a", 5.0, False), (3, "a", None, False), (9, "a", 1.0, True))
    table.merge(first, merge, commit_of(0, "a"), evolve=False)
    assert rows_of(place) == [(1, "a", 5.0), (2, "a", 5.0), (3, "a", None)]
    table.merge(changes(spark, (1, "b", 4.0, False), (2, "b", 6.0, True), (4, "b", 1.0, False)), merge,
                commit_of(1, "b"), evolve=False)  # fmt: skip
    assert rows_of(place) == [(1, "a", 5.0), (3, "a", None), (4, "b", 1.0)]
    table.merge(changes(spark, (1, "c", 4.0, False), (8, "c", 4.0, True)), merge, commit_of(2, "c"), evolve=False)
    assert rows_of(place) == [(1, "a", 5.0), (3, "a", None), (4, "b", 1.0)]
    assert table.last("q").epoch == 2, "a batch that changes nothing is a commit too"
    more = changes(spark, (4, "d", 9.0, False)).withColumn("note", __import__("pyspark").sql.functions.lit("x"))
    table.merge(more, merge, commit_of(3, "d"), evolve=True)
    assert rows_of(place) == [(1, "a", 5.0, None), (3, "a", None, None), (4, "d", 9.0, "x")]
    assert table.last("q").epoch == 3
    names = ("userMetadata", "txnAppId", "txnVersion")
    assert not [key for key in spark.conf.getAll if key.rpartition(".")[2] in names], "the settings are undone"


def test_columns_are_added_and_others_refused(make: Callable[..., Any], spark: SparkSession, tmp_path: Path) -> None:
    table, place = make(str(tmp_path / "t")), tmp_path / "t"
    table.write(numbers(spark, 1), "append", commit_of(0, "a"), evolve=False)
    more = spark.sql("SELECT 2L AS id, 'x' AS note, named_struct('a', 1) AS st")
    with pytest.raises(UsageError, match="note is missing there and string here"):
        table.check(more, evolve=False)
    table.write(more, "append", commit_of(1, "b"), evolve=True)
    deeper = spark.sql("SELECT 3L AS id, 'y' AS note, named_struct('a', 1, 'b', 2) AS st")
    table.write(deeper, "append", commit_of(2, "c"), evolve=True)
    table.write(numbers(spark, 4), "append", commit_of(3, "d"), evolve=True)
    assert [one[:2] for one in rows_of(place)] == [(1, None), (2, "x"), (3, "y"), (4, None)]
    assert rows_of(place)[2][2] == {"a": 1, "b": 2}
    with pytest.raises(UsageError, match="id is bigint there and string here"):
        table.write(spark.sql("SELECT 'x' AS id"), "append", commit_of(4, "e"), evolve=True)


def test_small_files_are_merged_when_it_is_due(make: Callable[..., Any], spark: SparkSession, tmp_path: Path) -> None:
    table, place = make(str(tmp_path / "t")), tmp_path / "t"
    for epoch in range(4):
        table.write(numbers(spark, epoch), "append", commit_of(epoch, "a"), evolve=False)
    table.compact(3600)
    assert len(deltalake.DeltaTable(place).file_uris()) == 4
    table.compact(0)
    assert len(deltalake.DeltaTable(place).file_uris()) == 1
    table.write(numbers(spark, 4), "append", commit_of(4, "a"), evolve=False)
    table.compact(3600)
    assert len(deltalake.DeltaTable(place).file_uris()) == 2
    assert rows_of(place) == [(n,) for n in range(5)]
