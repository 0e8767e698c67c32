"""What a value shows of its schema: frames of serializers, encodings, fields."""

from __future__ import annotations

import uuid
from typing import Any

import msgpack
import pytest

from kcli.serde.shape import FIELDS, connect_schema, encoding, fields, framing, named_in

GLUE = uuid.UUID("b7b4a7f0-9c96-4e4a-a687-fb5de9ef0c63")


@pytest.mark.parametrize(
    ("data", "name", "schema", "begins"),
    [
        (b"\x00\x00\x00\x01\x02\x06abc", "Confluent wire format", "id 258 in the schema registry", 5),
        (b"\x03\x00" + GLUE.bytes + b"x", "AWS Glue", f"version {GLUE} in the Glue registry", 18),
        (b"\x03\x05" + GLUE.bytes + b"x", "AWS Glue, zlib", f"version {GLUE} in the Glue registry", 18),
        (b"\xc3\x01" + bytes(range(8)) + b"x", "Avro single object", "CRC-64-AVRO fingerprint 0706050403020100", 10),
        (b'{"a": 1}', "", "", 0),
        (b"\x00\x00\x00\x00\x07", "", "", 0),
        (b"\x03\x02" + GLUE.bytes + b"x", "", "", 0),
        (b"", "", "", 0),
    ],
)
def test_a_frame_is_known_by_its_first_bytes(data: bytes, name: str, schema: str, begins: int) -> None:
    assert framing(data) == (name, schema, begins)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'{"a": 1}', "JSON"),
        (b"[1]", "JSON"),
        (b'"text"', "JSON"),
        (b'"text', "text (UTF-8)"),
        (b"12", "JSON"),
        (msgpack.packb({"a": 1}), "msgpack"),
        ("grüße\n".encode(), "text (UTF-8)"),
        (b"", "text (UTF-8)"),
        (b"\xff\xfe", "bytes"),
        (b"a\x01b", "bytes"),
    ],
)
def test_an_encoding_is_said_as_what_reads_it(data: bytes, expected: str) -> None:
    assert encoding(data) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"a": 1, "b": {"c": None, "d": "x"}}, [("a", "integer"), ("b", "object"), ("b.c", "null"), ("b.d", "string")]),
        ({"a": [1, 2.5, "x"]}, [("a", "array"), ("a[]", "integer | number | string")]),
        ([{"x": True}, {"y": 1}], [("[].x", "boolean"), ("[].y", "integer")]),
        (7, [("(the value)", "integer")]),
        ({}, []),
    ],
)
def test_fields_are_told_with_their_types(value: Any, expected: list[tuple[str, str]]) -> None:
    assert [one for one in fields(value) if one[0] != "[]"] == expected


def test_fields_have_an_end() -> None:
    assert len(fields({str(n): n for n in range(FIELDS * 3)})) == FIELDS
    deep: Any = 1
    for _ in range(1000):
        deep = {"a": deep}
    assert fields(deep)[-1][1] == "object"


def test_what_a_connector_declares_and_headers_name_is_found() -> None:
    assert connect_schema({"schema": {"type": "struct"}, "payload": {}}) == {"type": "struct"}
    assert connect_schema({"schema": "x", "payload": 1}) is None
    assert connect_schema([]) is None
    assert named_in([("a", b"1"), ("__value_schema_id", b"\x01")]) == [("__value_schema_id", b"\x01")]
