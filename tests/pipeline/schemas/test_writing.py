"""Columns written by a schema of a registry: what confluent-kafka's deserializers and kcli itself read again."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyspark", reason="pip install 'kcli-kafka[spark,spark-java]'")

import pyarrow as pa
from confluent_kafka.schema_registry.avro import AvroDeserializer
from confluent_kafka.serialization import MessageField, SerializationContext

from kcli.errors import UsageError
from kcli.pipeline.errors import told
from kcli.pipeline.schemas.sealed import Known, SealedSchemas
from kcli.pipeline.schemas.writing import BadRow, FramedField, check_rules
from kcli.registry.settings import RegistrySettings
from kcli.schemas import JSON, PROTOBUF, Schema
from tests.pipeline.schemas.sealing import read
from tests.pipeline.schemas.test_protobuf import EMPTY, INDEXES, ROW
from tests.pipeline.schemas.test_protobuf import ORDER as PROTO

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.pipeline.schemas.registries import Registry
    from tests.pipeline.topics import Topics


def logical(type: str, known_as: str, **more: Any) -> Any:
    return {"type": type, "logicalType": known_as, **more}


FIELDS: dict[str, Any] = {
    "id": "long",
    "note": ["null", "string"],
    "price": logical("bytes", "decimal", precision=9, scale=2),
    "day": logical("int", "date"),
    "at": logical("long", "timestamp-millis"),
    "raw": "bytes",
    "tags": {"type": "map", "values": "double"},
    "lines": {"type": "array", "items": {"type": "record", "name": "Line", "fields": [{"name": "n", "type": "int"}]}},
}
ORDER = {"type": "record", "name": "Order", "fields": [{"name": name, "type": type} for name, type in FIELDS.items()]}
VALUE = {
    "id": 7, "note": None, "price": Decimal("12.30"), "day": date(2026, 11, 25),
    "at": datetime(2026, 11, 25, 12, 0, 0, 1000, UTC), "raw": b"\0\xff", "tags": {"a": 0.5}, "lines": [{"n": 1}],
}  # fmt: skip
SQL = (
    "SELECT CAST('k' AS BINARY) AS key, named_struct('id', 7L, 'note', CAST(NULL AS STRING), 'price', 12.30BD, "
    "'day', DATE'2026-11-25', 'at', TIMESTAMP'2026-11-25 12:00:00.001', 'raw', X'00FF', 'tags', map('a', 0.5D), "
    "'lines', array(named_struct('n', 1))) AS value UNION ALL SELECT CAST('t' AS BINARY), NULL"
)


def options(topics: Topics, registry: Registry, topic: str) -> dict[str, str]:
    given = {"kafka.bootstrap.servers": topics.bootstrap, "topic": topic, "valueFormat": "avro"}
    return given | {"schemaRegistry": registry.url}


def test_a_struct_is_avro_of_the_latest_schema_of_the_subject(
    spark: SparkSession, topics: Topics, registry: Registry
) -> None:
    topic = topics.make()
    number = registry.register(f"{topic}-value", ORDER)
    frame = spark.sql(SQL)
    frame.write.format("kcli").mode("append").options(**options(topics, registry, topic)).save()
    found = {record.key: record.value for _, record in topics.read(topic)}
    assert found[b"t"] is None
    assert found[b"k"][:5] == b"\0" + number.to_bytes(4, "big")
    theirs = AvroDeserializer(registry.client)(found[b"k"], SerializationContext(topic, MessageField.VALUE))
    assert theirs == VALUE


def test_a_row_that_the_schema_does_not_have_ends_the_job(
    spark: SparkSession, topics: Topics, registry: Registry
) -> None:
    topic = topics.make()
    registry.register(f"{topic}-value", ORDER)
    frame = spark.sql("SELECT named_struct('id', 'x') AS value")
    with pytest.raises(Exception) as found:
        frame.write.format("kcli").mode("append").options(**options(topics, registry, topic)).save()
    error = told(found.value)
    assert f"a row's value does not match {topic}-value version 1: id:" in str(error)
    assert topics.read(topic) == []


def test_messages_of_protobuf_are_read_again() -> None:
    known = Known(schema=Schema(kind=PROTOBUF, text=PROTO, id=7))
    made, _ = read("protobuf", PROTOBUF, PROTO, {7: PROTO}, message="Order")
    rows = pa.array([ROW | {"more": None}, None, EMPTY], made.type)
    frames = FramedField(SealedSchemas(form="protobuf", reader=known, message="Order")).frames(rows)
    assert frames[2].as_py() == b"\0\0\0\0\7" + INDEXES
    again, errors = read("protobuf", PROTOBUF, PROTO, {7: PROTO}, *frames.to_pylist(), message="Order")
    assert errors == {}
    assert again.to_pylist() == rows.to_pylist()


def test_a_property_that_a_row_does_not_have_is_left_out_of_its_json() -> None:
    """Reading makes null of it, and its schema may take no null; one that is required may be null."""
    line = {"type": "object", "properties": {"sku": {"type": "string"}, "n": {"type": "integer"}}, "required": ["n"]}
    schema = {
        "type": "object", "definitions": {"line": line}, "required": ["id", "user"],
        "properties": {
            "id": {"type": "integer"}, "user": {"type": ["string", "null"]}, "total": {"type": "number"},
            "lines": {"type": "array", "items": {"$ref": "#/definitions/line"}},
            "one": {"oneOf": [{"type": "null"}, {"$ref": "#/definitions/line"}]},
            "counts": {"type": "object", "additionalProperties": {"type": ["integer", "null"]}},
        },
    }  # fmt: skip
    known = Known(schema=Schema(kind=JSON, text=json.dumps(schema), id=7))
    values: list[Any] = [
        {"id": 1, "user": None},
        {"id": 2, "user": "u", "total": 0.5, "lines": [{"n": 1}, {"sku": "a", "n": 2}], "one": {"n": 3},
         "counts": {"x": None, "y": 1}},
    ]  # fmt: skip
    payloads = [b"\0\0\0\0\7" + json.dumps(value).encode() for value in values]
    rows, errors = read("json-schema", JSON, json.dumps(schema), {7: json.dumps(schema)}, *payloads)
    assert errors == {}
    frames = FramedField(SealedSchemas(form="json-schema", reader=known)).frames(rows)
    assert [json.loads(frame[5:]) for frame in frames.to_pylist()] == values


def test_a_number_that_a_schema_cannot_hold_is_no_value_of_it() -> None:
    schema = Schema(
        text='{"type":"record","name":"R","fields":[{"name":"n","type":"int"}]}', id=1, subject="r", version=1
    )
    field = FramedField(SealedSchemas(reader=Known(schema=schema)))
    with pytest.raises(BadRow, match="r version 1: n:"):
        field.frames(pa.array([{"n": 2**40}]))


def test_a_schema_with_rules_for_writing_is_refused() -> None:
    rule = {"name": "ssn", "kind": "TRANSFORM", "mode": "WRITEREAD", "type": "ENCRYPT", "tags": ["PII"]}
    schema = Schema(text='"string"', subject="r", version=1, rule_set=json.dumps({"domainRules": [rule]}))
    with pytest.raises(UsageError, match=r"r version 1 has the rule ssn \(ENCRYPT\) for writing"):
        check_rules(schema)


def test_a_schema_of_glue_is_named_by_its_uuid() -> None:
    text, guid = (
        '{"type":"record","name":"R","fields":[{"name":"n","type":"int"}]}',
        "00112233-4455-6677-8899-aabbccddeeff",
    )
    known, glue = Known(schema=Schema(text=text, guid=guid)), RegistrySettings(kind="glue")
    frames = FramedField(SealedSchemas(reader=known, settings=glue)).frames(pa.array([{"n": 1}]))
    assert frames.to_pylist() == [b"\3\0" + bytes.fromhex(guid.replace("-", "")) + b"\2"]
    with pytest.raises(UsageError, match=r"schema 00112233-.* has no id, which the record's frame needs"):
        FramedField(SealedSchemas(reader=known))
