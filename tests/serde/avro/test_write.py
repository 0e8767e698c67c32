"""Plain JSON as Avro: what is shown is written back byte for byte, and equal to what fastavro writes."""

from __future__ import annotations

import json
import re
from struct import pack
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcli.schemas import SchemaRefused
from kcli.serde.avro.exact import BadValue, read_json
from kcli.serde.avro.parse import parse
from kcli.serde.avro.write import AvroWriter
from tests.each import each
from tests.proto.record_cores import CORES
from tests.serde.avro.samples import read, schemas, shown, values, written
from tests.serde.avro.test_resolve import field, record

DECIMAL = {"type": "fixed", "name": "F", "size": 16, "logicalType": "decimal", "precision": 4, "scale": 2}
LEAVES = st.none() | st.booleans() | st.integers() | st.text() | st.floats()
JSON = st.recursive(LEAVES, lambda one: st.lists(one) | st.dictionaries(st.text(), one), max_leaves=8)


def write(schema: Any, text: str, **options: Any) -> bytes:
    return AvroWriter(parse(json.dumps(schema)), **options).write(read_json(text))


@given(data=st.data(), schema=schemas())
def test_what_is_shown_is_written_back(data: st.DataObject, schema: Any) -> None:
    if schema == "bytes":
        return
    value = data.draw(values(schema))
    payload = written(schema, value)
    assert write(schema, json.dumps(shown(schema, value))) == payload
    (text,) = read(CORES[-1], schema, payload)
    assert write(schema, str(text)) == payload


@each(
    ("schema", "text"),
    [
        ({"type": "int", "logicalType": "date"}, '"2026-11-24"'),
        ({"type": "int", "logicalType": "date"}, '"0001-01-01"'),
        ({"type": "int", "logicalType": "time-millis"}, '"23:59:59.999"'),
        ({"type": "long", "logicalType": "time-micros"}, '"00:00:00.000001"'),
        ({"type": "long", "logicalType": "timestamp-millis"}, '"2026-11-24T01:02:03.004Z"'),
        ({"type": "long", "logicalType": "timestamp-nanos"}, '"1969-12-31T23:59:59.999999999Z"'),
        ({"type": "long", "logicalType": "local-timestamp-micros"}, '"2026-11-24T01:02:03.000004"'),
        ({"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}, '"-12.34"'),
        ({"type": "bytes", "logicalType": "decimal", "precision": 40, "scale": 3}, '"9223372036854775.808"'),
        ({"type": "bytes", "logicalType": "big-decimal"}, '"-12.340"'),
        ({"type": "bytes", "logicalType": "big-decimal"}, '"1.28E+9"'),
        ({"type": "fixed", "name": "F", "size": 9, "logicalType": "decimal", "precision": 20}, '"-129"'),
        ({"type": "fixed", "name": "F", "size": 16, "logicalType": "uuid"}, '"00112233-4455-6677-8899-aabbccddeeff"'),
        ({"type": "fixed", "name": "F", "size": 12, "logicalType": "duration"}, '{"months":1,"days":2,"millis":3}'),
    ],
)
def test_logical_types_are_written_back(schema: Any, text: str) -> None:
    wrapped = record(field("f", schema))
    assert read(CORES[-1], wrapped, write(wrapped, f'{{"f":{text}}}')) == [f'{{"f":{text}}}']


@each(
    ("schema", "text", "same"),
    [
        ({"type": "long", "logicalType": "timestamp-millis"}, '"2026-11-24T02:02:03+01:00"', '"2026-11-24T01:02:03Z"'),
        ({"type": "long", "logicalType": "timestamp-millis"}, "0", '"1970-01-01T00:00:00.000Z"'),
        ({"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}, "12.34", '"12.340"'),
        ({"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}, "12", '"1.2e1"'),
        ("double", "3", "3.0"),
        ("bytes", '"é"', '{"base64":"w6k="}'),
        (["null", "double", "long"], "3", '{"long":3}'),
        (["null", "int", "long"], "3", '{"int":3}'),
        (["null", "int", "long"], "3000000000", '{"long":3000000000}'),
        (["string", {"type": "enum", "name": "E", "symbols": ["A"]}], '"A"', '{"E":"A"}'),
        (["string", {"type": "enum", "name": "E", "symbols": ["A"]}], '"B"', '{"string":"B"}'),
        (["string", {"type": "int", "logicalType": "date"}], '"2026-11-24"', '{"int":"2026-11-24"}'),
        ([record(field("a", "int"), name="X"), record(field("b", "int"), name="Y")], '{"b":1}', '{"Y":{"b":1}}'),
        ([{"type": "map", "values": "int"}, record(field("a", "int"))], '{"a":1}', '{"R":{"a":1}}'),
        (record(field("a", "int", default=7), field("b", "bytes", default="ÿ")), "{}", '{"a":7,"b":{"base64":"/w=="}}'),
        (record(field("u", ["null", "int"], default=None)), "{}", '{"u":null}'),
    ],
)
def test_two_texts_of_one_value(schema: Any, text: str, same: str) -> None:
    wrapped = record(field("f", schema), name="Outer")
    assert write(wrapped, f'{{"f":{text}}}') == write(wrapped, f'{{"f":{same}}}')


def test_the_specifications_own_json() -> None:
    schema = record(field("u", ["null", "bytes"]), field("d", {"type": "int", "logicalType": "date"}))
    payload = b"\2\4\xff\x22\2"
    (text,) = read(CORES[-1], schema, payload, wrapped=True)
    assert text == '{"u":{"bytes":"ÿ\\""},"d":1}'
    assert write(schema, text, specified=True) == payload


@each(
    ("schema", "text", "payload"),
    [
        (["float", "double"], "3.141592653589793", b"\2\x18\x2d\x44\x54\xfb\x21\x09\x40"),
        (["float", "double"], "0.1", b"\2\x9a\x99\x99\x99\x99\x99\xb9\x3f"),
        (["float", "double"], "0.5", b"\0\0\0\0\x3f"),
        (["float", "double"], "16777217", b"\2\0\0\0\x10\0\0\x70\x41"),
        (["float", "null"], "0.1", b"\0\xcd\xcc\xcc\x3d"),
        (["float", "double"], "1e39", b"\2" + pack("<d", 1e39)),
        ("double", "0e-400", bytes(8)),
        (["null", "bytes"], '{"bytes":"\u00ff"}', b"\2\2\xff"),
        (["null", {"type": "fixed", "name": "n.F", "size": 1}], '{"n.F":"\u00ff"}', b"\2\xff"),
        (["null", "bytes"], '{"bytes":{"base64":"/w=="}}', b"\2\2\xff"),
        (["null", "bytes"], '{"base64":"/w=="}', b"\2\2\xff"),
    ],
)
def test_S4_S5_numbers_and_bytes_are_stored_as_they_are(schema: Any, text: str, payload: bytes) -> None:
    assert write(record(field("v", schema)), f'{{"v":{text}}}') == payload


@each(
    ("schema", "text", "payload"),
    [
        (["null", "int"], '{"int":5}', b"\2\n"),
        (["null", "int"], "null", b"\0"),
        ([{"type": "map", "values": "int"}, "int"], '{"int":5}', b"\2\n"),
        ([{"type": "map", "values": "int"}, "int"], '{"map":{"int":5}}', b"\0\2\6int\n\0"),
        (["null", "int"], "5", '5 does not name its branch: write {"BRANCH": …} with one of null, int'),
        (["int"], "null", "null does not name its branch"),
    ],
)
def test_the_specifications_json_names_the_branch_of_a_union(schema: Any, text: str, payload: bytes | str) -> None:
    if isinstance(payload, str):
        with pytest.raises(BadValue, match=re.escape(payload)):
            write(schema, text, specified=True)
    else:
        assert write(schema, text, specified=True) == payload


def test_a_schema_of_bytes_alone_has_no_length() -> None:
    assert write("bytes", '{"base64":"AQI="}') == b"\1\2"


@each(
    ("schema", "text", "says"),
    [
        ("int", '"x"', '"x" is not an int'),
        ("int", "1.0", "1.0 is not an int"),
        ("int", "true", "true is not an int"),
        ("int", "2147483648", "does not fit in int"),
        ("float", "1e39", "1e39 does not fit in float"),
        ("float", "16777217", "does not fit in float: it would be stored as another number"),
        ("float", "1e-50", "does not fit in float"),
        ("double", "9007199254740993", "does not fit in double"),
        ("double", "1e400", "1e400 does not fit in double"),
        ("double", "-0.001e-400", "does not fit in double"),
        (["null", "double"], "9007199254740993", "9007199254740993 is none of null, double"),
        (["null", "double"], "1e400", "1e400 is none of null, double"),
        (["null", "bytes"], '{"bytes":"\u0100"}', "is no text of this kind"),
        ("string", '"\\ud800"', "unpaired surrogate"),
        (record(field("a", "int")), "{}", "has the field a, which is missing and has no default"),
        (record(field("amount", "int", default=1)), '{"amuont":1}', "has no field amuont; did you mean amount?"),
        (record(field("items", {"type": "array", "items": record(field("price", "double"), name="I")})),
         '{"items":[{"price":1},{"price":"x"}]}', r'items\[1\].price: "x" is not a double'),
        ({"type": "map", "values": "int"}, '{"k":null}', "k: null is not an int"),
        (["null", "int"], '"x"', '"x" is none of null, int'),
        ([record(field("a", "int"), name="X"), record(field("a", "long"), name="Y")], '{"a":1}', "it fits X and Y"),
        ({"type": "enum", "name": "E", "symbols": ["A"]}, '"B"', '"B" is not a symbol of E: A'),
        ({"type": "fixed", "name": "F", "size": 2}, '"abc"', "it has 3 bytes, not 2"),
        ("bytes", '{"base64":"!"}', "is not base64"),
        ({"type": "int", "logicalType": "date"}, '"2026-02-30"', "is not a calendar date"),
        ({"type": "long", "logicalType": "timestamp-millis"}, '"2026-02-03T00:00:00"', "has no zone"),
        ({"type": "long", "logicalType": "timestamp-millis"}, '"2026-02-03T00:00:00.0001Z"', "more than 3 digits"),
        (DECIMAL, '"1.234"', "more than 2 digits"),
        (DECIMAL, '"123"', "more than 4 digits"),
        (DECIMAL, '"1e999999"', "is not a decimal"),
    ],
)  # fmt: skip
def test_what_does_not_fit_says_where_and_why(schema: Any, text: str, says: str) -> None:
    with pytest.raises(BadValue, match=says):
        write(schema, text)


@given(schema=schemas(), value=JSON)
def test_any_json_is_written_or_refused_by_one_kind_of_error(schema: Any, value: Any) -> None:
    try:
        payload = AvroWriter(parse(json.dumps(schema))).write(value)
    except BadValue:
        return
    (text,) = read(CORES[-1], schema, payload)
    assert isinstance(text, str)


def test_a_default_that_is_none_refuses_the_schema() -> None:
    with pytest.raises(SchemaRefused, match="the default of the field a of R is not of its type"):
        write(record(field("a", "int", default="x")), "{}")


def test_values_that_are_nested_too_deeply() -> None:
    node = {"type": "record", "name": "L", "fields": [{"name": "n", "type": ["null", "L"]}]}
    with pytest.raises(ValueError, match="nested too deeply"):
        write(node, '{"n":' * 3000 + "null" + "}" * 3000)
