"""Avro payloads as Arrow arrays hold what fastavro reads, for every schema and value that it can make."""

from __future__ import annotations

import io
import json
from array import array
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

pytest.importorskip("pyarrow", reason="pip install 'kcli-kafka[spark]'")

import fastavro
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from kcli.pipeline.formats.avro_arrow import AvroColumns
from kcli.serde.avro.columns import Column, column_reader, columns_of
from kcli.serde.avro.parse import parse
from tests.each import each
from tests.serde.avro.samples import schemas, values, written


def arrow(schema: Any, *payloads: bytes | None, reader: Any = None, skip: int = 0) -> tuple[pa.Array, dict[int, str]]:
    writer = parse(json.dumps(schema))
    to = writer if reader is None else parse(json.dumps(reader))
    column = columns_of(to)
    # a slice: what is before and behind it is not read
    cells = pa.array([b"before", *payloads, b"behind"], pa.binary()).slice(1, len(payloads))
    zeros, skips = array("i", [0] * len(payloads)), array("i", [skip] * len(payloads))
    made, errors = AvroColumns(column).read(cells, skips, zeros, [column_reader(writer, to, column)])
    made.validate(full=True)
    return made, errors


def cell(column: Column, value: Any, schema: Any) -> Any:
    """A value of fastavro as the column has it."""
    if value is None:
        return None
    if isinstance(schema, list):
        branches = [branch for branch in schema if branch != "null"]
        if not column.members:
            return cell(column, value, branches[0])
        taken = next(number for number, branch in enumerate(branches) if fits(branch, value))
        return {
            part.name: cell(part, value, branches[number]) if number == taken else None
            for number, part in enumerate(column.parts)
        }
    if column.kind == "array":
        return [cell(column.parts[0], item, schema["items"]) for item in value]
    if column.kind == "map":
        return [(name, cell(column.parts[1], item, schema["values"])) for name, item in value.items()]
    if column.kind == "struct":
        fields = zip(column.parts, schema["fields"], strict=True)
        return {part.name: cell(part, value[part.name], field["type"]) for part, field in fields}
    return value


def fits(branch: Any, value: Any) -> bool:
    kinds = {"boolean": bool, "long": int, "string": str, "bytes": bytes, "array": list, "map": dict}
    return type(value) is kinds[branch if isinstance(branch, str) else branch["type"]]


@given(data=st.data(), schema=schemas())
def test_columns_hold_what_fastavro_reads(data: st.DataObject, schema: Any) -> None:
    if schema == "bytes":  # which Java writes without a length
        return
    column = columns_of(parse(json.dumps(schema)))
    given_values = data.draw(st.lists(values(schema), max_size=5))
    payloads = [written(schema, value) for value in given_values]
    made, errors = arrow(schema, *payloads, None)
    assert errors == {}
    theirs = [fastavro.schemaless_reader(io.BytesIO(one), fastavro.parse_schema(json.loads(json.dumps(schema))))
              for one in payloads]  # fmt: skip
    assert repr(made.to_pylist()) == repr([*[cell(column, value, schema) for value in theirs], None])  # NaN is NaN


def test_a_batch_without_rows_is_a_column_without_rows() -> None:
    assert arrow("long") == (pa.array([], pa.int64()), {})


def logical(type: str, known_as: str, **more: Any) -> Any:
    return {"type": type, "logicalType": known_as, **more}


FIELDS: dict[str, tuple[Any, Any, Any]] = {
    "day": (logical("int", "date"), date(1969, 12, 31), pa.date32()),
    "milli": (logical("long", "timestamp-millis"), datetime(2026, 1, 2, 3, 4, 5, 6000, UTC), pa.timestamp("us", "UTC")),
    "micro": (logical("long", "timestamp-micros"), datetime(1960, 1, 2, 3, 4, 5, 6, UTC), pa.timestamp("us", "UTC")),
    "local": (logical("long", "local-timestamp-micros"), datetime(2026, 1, 2, 3, 4, 5, 6), pa.timestamp("us")),
    "price": (logical("bytes", "decimal", precision=38, scale=4), Decimal("-12345678901234567890.1234"),
              pa.decimal128(38, 4)),
    "fix": (logical("fixed", "decimal", name="D", size=5, precision=9, scale=2), Decimal("-0.07"),
            pa.decimal128(9, 2)),
    "id": (logical("string", "uuid"), UUID("00112233-4455-6677-8899-aabbccddeeff"), pa.string()),
    "maybe": (["null", logical("int", "date")], None, pa.date32()),
}  # fmt: skip


def test_logical_types_are_sparks_types() -> None:
    fields = [{"name": name, "type": type} for name, (type, _, _) in FIELDS.items()]
    schema = {"type": "record", "name": "R", "fields": fields}
    made, errors = arrow(schema, written(schema, {name: value for name, (_, value, _) in FIELDS.items()}))
    assert errors == {}
    assert made.type == pa.struct([(name, type) for name, (_, _, type) in FIELDS.items()])
    expected = {name: value for name, (_, value, _) in FIELDS.items()}
    assert made[0].as_py() == expected | {"id": str(expected["id"])}


V1 = {"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}, {"name": "gone", "type": "string"}]}
V2 = {
    "type": "record",
    "name": "R",
    "fields": [
        {"name": "list", "type": {"type": "array", "items": ["null", "long"]}, "default": [None, 1]},
        {"name": "a", "type": "long"},
        {"name": "inner", "type": ["null", V1 | {"name": "I"}], "default": None},
        {"name": "text", "type": "bytes", "default": "ÿ"},
    ],
}


@each(
    ("payload", "row", "error"),
    [
        (written(V1, {"a": 1, "gone": "x"}), {"list": [None, 1], "a": 1, "inner": None, "text": b"\xff"}, None),
        (b"\2", None, "the payload ends in the middle of a value"),
        (b"\2\1", None, "a length is negative"),
    ],
)
def test_records_of_an_older_schema_are_those_of_the_readers(payload: bytes, row: Any, error: str | None) -> None:
    made, errors = arrow(V1, b"\0\0\0\0\1" + payload, reader=V2, skip=5)
    assert made.to_pylist() == [row]
    assert errors.get(0) == error
