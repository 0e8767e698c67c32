"""`valueFormat=avro`: what confluent-kafka's serializer wrote is typed columns, whatever schema each record has."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyspark", reason="pip install 'kcli-kafka[spark,spark-java]'")

from kcli.pipeline.errors import told

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import DataFrame, DataFrameReader, SparkSession

    from tests.pipeline.schemas.registries import Registry
    from tests.pipeline.topics import Topics


def field(name: str, type: Any, **more: Any) -> Any:
    return {"name": name, "type": type, **more}


def order(*fields: Any) -> Any:
    return {"type": "record", "name": "Order", "namespace": "shop", "fields": list(fields)}


ID, NOTE = field("id", "long"), field("note", ["null", "string"], default=None)
PRICE = field("price", {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}, default="\0")
AT = field("at", ["null", {"type": "long", "logicalType": "timestamp-millis"}], default=None)
V1, V2 = order(ID, NOTE), order(field("id", "long"), PRICE, AT)
NOON = datetime(2026, 11, 25, 12, 0, 0, 123000, UTC)


def reader(spark: SparkSession, topics: Topics, registry: Registry, topic: str, **options: str) -> DataFrameReader:
    given = {"kafka.bootstrap.servers": topics.bootstrap, "subscribe": topic, "valueFormat": "avro"}
    found = spark.read.format("kcli").options(**given, schemaRegistry=registry.url)
    return found.options(**options)


def fails(frame: Callable[[], DataFrame]) -> tuple[str, int]:
    with pytest.raises(Exception) as found:
        frame().collect()
    error = told(found.value)
    return str(error), error.exit_code


@pytest.fixture
def filled(topics: Topics, registry: Registry) -> str:
    """A topic with records of two schemas, a tombstone between them."""
    topic = topics.make()
    first = registry.avro(topic, V1, {"id": 1, "note": "x"}, {"id": 2, "note": None})
    second = registry.avro(topic, V2, {"id": 3, "price": Decimal("12.34"), "at": NOON})
    topics.fill(topic, [(0, None, b"k", value, ()) for value in [*first, None, *second]])
    return topic


def rows(frame: DataFrame) -> list[Any]:
    return [None if row.value is None else row.value.asDict(True) for row in frame.orderBy("offset").collect()]


def test_records_of_two_schemas_are_columns_of_the_latest(
    spark: SparkSession, topics: Topics, registry: Registry, filled: str
) -> None:
    frame = reader(spark, topics, registry, filled).load()
    assert frame.schema["value"].dataType.simpleString() == "struct<id:bigint,price:decimal(9,2),at:timestamp>"
    frame = frame.selectExpr("offset", "struct(value.id, value.price, unix_millis(value.at) AS at) AS value")
    assert rows(frame.where("value.id IS NOT NULL")) == [
        {"id": 1, "price": Decimal("0.00"), "at": None},
        {"id": 2, "price": Decimal("0.00"), "at": None},
        {"id": 3, "price": Decimal("12.34"), "at": round(NOON.timestamp() * 1000)},
    ]


def test_a_reader_may_be_an_id_or_a_file(
    spark: SparkSession, topics: Topics, registry: Registry, filled: str, tmp_path: Path
) -> None:
    older = registry.register(f"{filled}-value", V1)
    by_id = reader(spark, topics, registry, filled, readerSchema=f"id:{older}").load()
    assert rows(by_id) == [{"id": 1, "note": "x"}, {"id": 2, "note": None}, None, {"id": 3, "note": None}]
    (tmp_path / "own.avsc").write_text('{"type":"record","name":"Order","fields":[{"name":"id","type":"double"}]}')
    own = reader(spark, topics, registry, filled, readerSchema=f"file:{tmp_path}/own.avsc").load()
    assert rows(own) == [{"id": 1.0}, {"id": 2.0}, None, {"id": 3.0}]


def test_a_bad_record_fails_is_null_or_is_kept(
    spark: SparkSession, topics: Topics, registry: Registry, filled: str, tmp_path: Path
) -> None:
    (whole,) = registry.avro(filled, V2, {"id": 4, "price": Decimal(1), "at": None})
    bad = [b"plain", b"\0\0\x0f\x42\x40abc", whole[:-1]]
    topics.fill(filled, [(0, None, None, value, ()) for value in bad])
    sentence, code = fails(lambda: reader(spark, topics, registry, filled).load())
    assert f"{filled}[0] offset 4: bad value: no schema id is in front of it" in sentence
    assert code == 1
    columns = {"columns": "offset,value,valueError", "onBad": "null", "quarantine": str(tmp_path / "bad")}
    found = reader(spark, topics, registry, filled, **columns).load().where("offset > 3").orderBy("offset").collect()
    assert [row.value for row in found] == [None] * 3
    assert found[0].valueError == "no schema id is in front of it"
    assert "1000000" in found[1].valueError
    assert found[2].valueError == "the payload ends in the middle of a value"
    kept = spark.read.parquet(str(tmp_path / "bad")).orderBy("offset").collect()
    assert [(row.offset, bytes(row.value)) for row in kept] == [(4 + n, value) for n, value in enumerate(bad)]
    aside = {"onBad": "quarantine", "quarantine": str(tmp_path / "aside")}
    good = reader(spark, topics, registry, filled, **aside).load().orderBy("offset").collect()
    assert [row.offset for row in good] == [0, 1, 2, 3]
    assert spark.read.parquet(str(tmp_path / "aside")).count() == 3


def test_a_schema_that_is_new_while_a_stream_runs_is_looked_up(
    spark: SparkSession, topics: Topics, registry: Registry, filled: str, tmp_path: Path
) -> None:
    options = {"kafka.bootstrap.servers": topics.bootstrap, "subscribe": filled, "valueFormat": "avro"}
    options |= {"schema.registry.url": registry.url, "startingOffsets": "earliest"}
    stream = spark.readStream.format("kcli").options(**options).load().selectExpr("offset", "value.id AS id")
    query = stream.writeStream.format("memory").queryName("ids").option("checkpointLocation", str(tmp_path)).start()
    try:
        query.processAllAvailable()
        newer = order(field("more", "string", default=""), ID, AT)
        topics.fill(filled, [(0, None, None, registry.avro(filled, newer, {"id": 9, "more": "y", "at": None})[0], ())])
        deadline = time.monotonic() + 30
        while spark.table("ids").count() < 5 and query.exception() is None and time.monotonic() < deadline:
            query.processAllAvailable()
    finally:
        query.stop()
    ids = [row.id for row in spark.sql("SELECT id FROM ids ORDER BY offset").collect()]
    assert ids == [1, 2, None, 3, 9]


def test_a_schema_that_a_header_names_is_found(
    spark: SparkSession, topics: Topics, registry: Registry, filled: str
) -> None:
    number = registry.register(f"{filled}-value", V1)
    bare = registry.avro(filled, V1, {"id": 5, "note": "h"})[0][5:]
    header = ("__value_schema_id", b"\0" + number.to_bytes(4, "big"))
    topics.fill(filled, [(0, None, None, bare, [("a", b"1"), header])])
    found = reader(spark, topics, registry, filled, readerSchema=f"id:{number}").load()
    assert rows(found)[-1] == {"id": 5, "note": "h"}


def test_keys_are_columns_too(spark: SparkSession, topics: Topics, registry: Registry, filled: str) -> None:
    registry.register("keys", '"long"')
    number = registry.register("keys", '"long"')
    topics.fill(filled, [(0, None, b"\0" + number.to_bytes(4, "big") + b"\x0e", None, ())])
    options = {"keyFormat": "avro", "keySubject": "keys", "valueFormat": "binary", "columns": "key,offset"}
    found = reader(spark, topics, registry, filled, onBad="null", **options).load()
    assert found.schema["key"].dataType.simpleString() == "bigint"
    assert [row.key for row in found.orderBy("offset").collect()][-1] == 7


def test_what_is_missing_is_one_sentence(spark: SparkSession, topics: Topics, registry: Registry, filled: str) -> None:
    sentence, code = fails(lambda: reader(spark, topics, registry, filled, valueSubject="none-such").load())
    assert "none-such" in sentence
    assert code == 1
    other = registry.register("other", '{"type":"object"}', "JSON")
    sentence, code = fails(lambda: reader(spark, topics, registry, filled, readerSchema=f"id:{other}").load())
    assert sentence.endswith("is JSON, but option valueFormat is avro")
    assert code == 2
    given = {"kafka.bootstrap.servers": topics.bootstrap, "subscribe": filled, "valueFormat": "avro"}
    sentence, code = fails(lambda: spark.read.format("kcli").options(**given).load())
    assert sentence.startswith("option valueFormat avro requires schemaRegistry")
    assert code == 2
