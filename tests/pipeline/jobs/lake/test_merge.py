"""`--merge`: rows are replaced and deleted by their key, by the last record of a batch; change events of Debezium."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from kcli.cli.main import main
from kcli.errors import KcliError
from kcli.pipeline.jobs.lake import staged as merging
from kcli.pipeline.jobs.lake.merging.latest import Merge
from tests.pipeline.jobs.lake.events import EVENTS, event, row, tombstone
from tests.pipeline.jobs.lake.readers import by_pyiceberg, table_of
from tests.pipeline.jobs.test_commands import kcli as kcli

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from tests.pipeline.topics import Topics

    Kcli = Callable[..., int]

deltalake = pytest.importorskip("deltalake", reason="pip install 'kcli-kafka[delta]'")
LINE = ("--value-format", "json", "--once", "-q", "--merge", "id", "--unwrap", "debezium")
LATER = [
    tombstone(2),
    event("u", row(1, "ann", 7.5), row(1, "ann", None)),
    event("c", None, row(3, "cyd", 4.0)),
]


def rows_of(path: Path) -> list[tuple[Any, ...]]:
    """By deltalake."""
    return sorted(tuple(one.values()) for one in deltalake.DeltaTable(path).to_pyarrow_table().to_pylist())


def test_the_last_event_of_a_key_counts_and_deletes_delete(kcli: Kcli, topics: Topics, tmp_path: Path) -> None:
    topic = topics.make(1)
    topics.fill(topic, EVENTS)
    line = ["export", topic, "lake", "--file-format", "delta", *LINE]
    assert kcli(*line) == 0
    assert rows_of(tmp_path / "lake") == [(1, "ann", 7.5), (2, "bob", 2.5)]
    topics.fill(topic, LATER)
    assert kcli(*line) == 0
    assert rows_of(tmp_path / "lake") == [(1, "ann", None), (3, "cyd", 4.0)]
    assert not list((tmp_path / "lake").glob("kcli-*")), "the rows that the merge read are deleted"


def test_events_with_their_schema_become_an_iceberg_table(kcli: Kcli, topics: Topics, tmp_path: Path) -> None:
    topic = topics.make(2)
    topics.fill(topic, [event("c", None, row(n, f"n{n}", float(n)), schema=True, partition=n % 2) for n in range(10)])
    line = ["export", topic, "raw.orders", "--file-format", "iceberg", "--warehouse", "lake", *LINE]
    line += ["--select", "value.id, value.total, date(timestamp_millis(1700000000000)) AS day", "--partition-by", "day"]
    assert kcli(*line) == 0
    gone = [event("d", row(4, "n4", 4.0), None, schema=True), tombstone(5, schema=True, partition=1)]
    topics.fill(topic, [*gone, event("u", None, row(6, "six", 60.0), schema=True)])
    assert kcli(*line) == 0
    wanted = [(n, 60.0 if n == 6 else float(n)) for n in range(10) if n not in (4, 5)]
    assert by_pyiceberg(table_of(tmp_path / "lake", "raw.orders"), "id", "total") == wanted


def records(spark: SparkSession, rows: list[tuple[Any, ...]]) -> DataFrame:
    """Rows of (partition, offset, id, total), as records after --select."""
    from pyspark.sql import functions as f

    frame = spark.createDataFrame(rows, "partition INT, offset BIGINT, id BIGINT, total DOUBLE")
    mark = f.struct(
        (f.col("total") < 0).alias("deleted"), f.lit("orders").alias("topic"), f.col("partition"), f.col("offset")
    )
    return frame.select("id", "total", mark.alias("_kcli_merge"))


def test_the_latest_of_a_key_is_by_offset_or_by_a_column(spark: SparkSession) -> None:
    from kcli.pipeline.errors import told
    from kcli.pipeline.jobs.lake.merging.latest import latest

    frame = records(spark, [(0, 1, 7, 3.0), (0, 2, 7, 2.0), (1, 9, 8, 1.0), (1, 10, 8, -1.0)])
    rows = sorted(tuple(one) for one in latest(frame, Merge(keys=("id",))).collect())
    assert rows == [(7, 2.0, False), (8, -1.0, True)]
    rows = sorted(tuple(one) for one in latest(frame, Merge(keys=("id",), order_by="total")).collect())
    assert rows == [(7, 3.0, False), (8, 1.0, False)]
    several = records(spark, [(0, 1, 7, 3.0), (1, 1, 7, 4.0)])
    assert [one["total"] for one in latest(several, Merge(keys=("id",), order_by="total")).collect()] == [4.0]
    for rows, why in (
        (
            [(0, 1, 7, 3.0), (1, 1, 7, 4.0)],
            "merge by id: the key 7 is in orders[0] and orders[1], whose offsets cannot be compared",
        ),
        ([(0, 5, None, 3.0)], "orders[0] offset 5: the key id is null there, so it identifies no row"),
    ):
        with pytest.raises(Exception) as problem:
            latest(records(spark, rows), Merge(keys=("id",))).collect()
        assert str(told(problem.value)).startswith(why)


def unwrapped_rows(spark: SparkSession, value: str, key: str = '{"id": 7}') -> list[Any]:
    from pyspark.sql import functions as f

    from kcli.pipeline.jobs.lake.merging.debezium import unwrapped

    event = "before STRUCT<id: BIGINT, note: STRING>, after STRUCT<id: BIGINT, note: STRING>, op STRING"
    frame = spark.createDataFrame(
        [("db.orders", 3, 4, key, value)], "topic STRING, partition INT, offset BIGINT, key STRING, v STRING"
    )
    return unwrapped(frame.withColumn("value", f.from_json("v", event))).select("value", "op").collect()


def test_an_event_that_is_no_change_of_a_row_ends_the_job(spark: SparkSession) -> None:
    from kcli.pipeline.errors import told

    ((value, op),) = unwrapped_rows(spark, '{"op": "d", "before": null}')
    assert (tuple(value), op) == ((7, None), "d"), "a delete without a row is by the record's key"
    for text, why in (
        ('{"op": "t"}', "op t truncates the table"),
        ('{"op": "m"}', "not a change event: op must be c, u, r or d"),
        ('{"op": "u", "after": null}', "the change event has no `after`"),
        ('{"op": "u", "after": {"id": 7, "note": "__debezium_unavailable_value"}}', "set REPLICA IDENTITY FULL"),
    ):
        with pytest.raises(Exception) as problem:
            unwrapped_rows(spark, text)
        assert str(told(problem.value)).startswith("db.orders[3] offset 4: ")
        assert why in str(told(problem.value))


def test_what_cannot_be_merged_is_refused_before_anything_is_done(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    monkeypatch.chdir(tmp_path)
    delta = ["pipeline", "export", "orders", "out", "--file-format", "delta", "--dry-run", "-b", "localhost:1"]
    for words, why in (
        (["--order-by", "n"], "--order-by requires --merge COLUMN"),
        (["--unwrap", "debezium"], "--unwrap requires --merge COLUMN"),
        (["--merge", "id,id"], "expected columns, each once"),
        (["--merge", "id", "--append"], "--append and --merge cannot be combined"),
        (["--merge", "id", "--unwrap", "debezium"], "--unwrap requires --value-format json, avro"),
        (["--merge", "id", "--value-format", "json", "--on-bad", "null"], "a bad value would look like a tombstone"),
        (
            ["--merge", "id", "--once", "--max-per-batch", "2000000"],
            "--merge handles at most 1,000,000 records at once",
        ),
        (["--merge", "id", "--file-size", "1MiB"], "--file-size cannot be used with --merge"),
        (["--merge", "id", "--file-format", "parquet"], "--merge requires --file-format delta or iceberg"),
    ):
        assert main([*delta, *words]) == 2
        assert why in capfd.readouterr().err


@pytest.mark.parametrize(("limit", "value"), [("MOST_ROWS", 999), ("MOST_BYTES", 10_000)])
def test_a_batch_that_the_driver_cannot_hold_is_refused(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, limit: str, value: int
) -> None:
    from pyspark.sql import functions as f

    from kcli.pipeline.jobs.lake.table import NotCommitted

    rows = spark.range(1000, numPartitions=3).withColumn("at", f.timestamp_millis("id"))
    found = merging.collected(rows, "lake")
    assert sorted(found["id"].to_pylist()) == list(range(1000))
    assert str(found.schema.field("at").type) == "timestamp[us, tz=UTC]"
    assert merging.collected(rows.where("id < 0"), "lake").num_rows == 0
    monkeypatch.setattr(merging, limit, value)
    with pytest.raises(NotCommitted, match="lake: a batch has more keys than the driver can merge"):
        merging.collected(rows, "lake")


def test_events_of_another_shape_are_said_to_be_none() -> None:
    pytest.importorskip("pyspark")
    from pyspark.sql.types import StructType

    from kcli.pipeline.jobs.lake.merging.debezium import event_schema

    row = StructType().add("id", "long")
    change = StructType().add("before", row).add("after", "string")
    whole = StructType().add("schema", StructType().add("a", "string")).add("payload", change)
    assert event_schema(whole, "orders").simpleString() == (
        "struct<payload:struct<before:struct<id:bigint>,after:struct<id:bigint>,op:string,ts_ms:bigint>>"
    )
    with pytest.raises(KcliError, match="the newest records of orders are not Debezium change events"):
        event_schema(row, "orders")
