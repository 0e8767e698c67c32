"""Records written with a newer schema than the reader's: which records lose fields, and which fields."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyspark", reason="pip install 'kcli-kafka[spark,spark-java]'")

import fastavro
import pyarrow as pa

from kcli.pipeline.formats.formats import Unknown
from kcli.pipeline.schemas.fields import field_of
from kcli.pipeline.schemas.sealed import Known, SealedSchemas
from kcli.schemas import AVRO, JSON, PROTOBUF, Schema
from tests.pipeline.schemas.sealing import NO_HEADERS, frame
from tests.serde.protobuf.samples import type_of

if TYPE_CHECKING:
    from collections.abc import Sequence


def unknown(form: str, kind: str, texts: list[str], values: Sequence[bytes | None], reader: int = 2) -> dict[int, str]:
    """The fields that get lost, by row. `texts` are the schemas 1, 2 and 3 of one subject."""
    known = [
        Known(schema=Schema(kind=kind, text=text, id=n, subject="s", version=n)) for n, text in enumerate(texts, 1)
    ]
    written = tuple((frame(one.schema.id, b""), one) for one in known)
    sealed = SealedSchemas(form=form, reader=known[reader - 1], written=written)
    found = Unknown()
    made, errors = field_of(sealed, found)(pa.array(values, pa.binary()), NO_HEADERS)
    assert errors == {}
    assert made.to_pylist() == field_of(sealed)(pa.array(values, pa.binary()), NO_HEADERS)[0].to_pylist()
    return found.by_row()


def avro(*fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}, *fields]}


LINE = {"type": "record", "name": "Line", "fields": [{"name": "sku", "type": "string"}]}
MORE = {**LINE, "fields": [*LINE["fields"], {"name": "n", "type": "int", "default": 0}]}
LINES = {"name": "lines", "type": ["null", {"type": "array", "items": LINE}], "default": None}
NEWER: list[dict[str, Any]] = [
    {"name": "lines", "type": ["null", {"type": "array", "items": MORE}], "default": None},
    {"name": "note", "type": ["null", "string"], "default": None},
    {"name": "old", "type": "string", "default": ""},
]


def test_of_avro_the_fields_that_a_newer_schema_has_and_no_alias_of_the_reader() -> None:
    schemas = [
        avro({"name": "gone", "type": "string"}),
        avro(LINES, {"name": "renamed", "type": "string", "aliases": ["old"], "default": ""}),
        avro(*NEWER),
    ]

    def record(number: int, value: dict[str, Any]) -> bytes:
        out = io.BytesIO()
        fastavro.schemaless_writer(out, fastavro.parse_schema(schemas[number - 1]), value)
        return frame(number, out.getvalue())

    values = [
        record(1, {"id": 1, "gone": "x"}),  # removed since: the subject chose that
        record(2, {"id": 2, "lines": [{"sku": "a"}]}),
        None,
        record(3, {"id": 3, "lines": [{"sku": "a", "n": 1}], "note": "n", "old": "o"}),
    ]
    assert unknown("avro", AVRO, [json.dumps(one) for one in schemas], values) == {3: "lines[].n, note"}
    assert unknown("avro", AVRO, [json.dumps(one) for one in schemas], values[:2], reader=3) == {}


MESSAGES = [
    'syntax = "proto3"; message Order { int64 id = 1; string gone = 9; }',
    'syntax = "proto3"; message Order { message Line { string sku = 1; } int64 id = 1; repeated Line lines = 2; }',
    'syntax = "proto3"; message Order { message Line { string sku = 1; int32 n = 2; } int64 id = 1; '
    "repeated Line lines = 2; string note = 3; }",
]


def test_of_protobuf_records_that_have_fields_of_a_newer_schema() -> None:
    from google.protobuf.json_format import ParseDict

    def record(number: int, value: Any) -> bytes:
        made = ParseDict(value, type_of("Order", MESSAGES[number - 1])())
        return frame(number, b"\0" + bytes(made.SerializeToString()))

    values = [
        record(1, {"id": 1, "gone": "x"}),
        record(2, {"id": 2, "lines": [{"sku": "a"}]}),
        record(3, {"id": 3}),
        record(3, {"id": 4, "note": "n"}),
        record(3, {"id": 5, "lines": [{"n": 1}]}),
    ]
    said = "lines.n, note"
    assert unknown("protobuf", PROTOBUF, MESSAGES, values) == {3: said, 4: said}


def test_of_json_schema_the_fields_of_records_whose_schema_is_newer() -> None:
    def schema(*names: str) -> str:
        return json.dumps({"type": "object", "properties": {name: {"type": "integer"} for name in names}})

    values = [frame(1, b'{"id":1,"gone":1}'), frame(2, b'{"id":2}'), frame(3, b'{"id":3}'), frame(3, b'{"note":1}')]
    assert unknown("json-schema", JSON, [schema("id", "gone"), schema("id"), schema("id", "note")], values) == {
        3: "note"
    }
