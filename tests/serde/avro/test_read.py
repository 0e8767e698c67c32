"""Avro payloads as JSON, against fastavro: every schema and value it can make, in both record cores."""

from __future__ import annotations

import json
from math import isfinite
from types import ModuleType
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kcli.proto.faults import FAULTS
from tests.each import each
from tests.proto.record_cores import CORES
from tests.serde.avro.samples import read, same, schemas, shown, values, written

BIG_DECIMAL = {"type": "bytes", "logicalType": "big-decimal"}
core = each("core", CORES, ids=lambda core: core.__name__.rpartition(".")[2])


@core
@given(data=st.data(), schema=schemas())
def test_what_fastavro_writes_is_read_as_json(core: ModuleType, data: st.DataObject, schema: Any) -> None:
    if schema == "bytes":  # see test_a_schema_of_bytes_alone
        return
    value = data.draw(values(schema))
    (text,) = read(core, schema, written(schema, value))
    assert isinstance(text, str), FAULTS[int(text)]
    assert same(schema, json.loads(text), shown(schema, value))


@core
@given(data=st.data(), schema=schemas(), junk=st.binary(max_size=30))
def test_no_payload_is_too_strange_and_the_cores_agree(
    core: ModuleType, data: st.DataObject, schema: Any, junk: bytes
) -> None:
    whole = written(schema, data.draw(values(schema)))
    cut = [whole[:size] for size in range(len(whole))]
    flips = [
        whole[:at] + bytes((whole[at] ^ 1 << bit,)) + whole[at + 1 :] for at in range(len(whole)) for bit in (0, 7)
    ]
    payloads = [*cut, *flips, whole + b"\0", junk]
    found = read(core, schema, *payloads)
    assert found == read(CORES[0], schema, *payloads)
    for text in found:
        if isinstance(text, str):
            json.loads(text)


@core
@each(
    ("schema", "payload", "text"),
    [
        ("int", "d8" "04", "300"),
        ("long", "ffffffffffffffffff01", "-9223372036854775808"),
        ("float", "cdcccc3d", "0.1"),
        ("float", "0000804b", "16777216.0"),
        ("float", "ffff7f7f", "3.4028235e+38"),
        ("float", "01000000", "1e-45"),
        ("float", "00000080", "-0.0"),
        ("double", "9a9999999999b93f", "0.1"),
        ("double", "000000000000f87f", '"NaN"'),
        ("double", "000000000000f0ff", '"-Infinity"'),
        ("double", "fb89ea1da3594f45", "7.58e+25"),
        ("string", "06c3a922", '"é\\""'),
        ("string", "0e41ff42eda0bde2", '"A\ufffdB\ufffd\ufffd"'),
        ({"type": "map", "values": "int"}, "0202ff0200", '{"\ufffd":1}'),
        ({"type": "int", "logicalType": "date"}, "00", '"1970-01-01"'),
        ({"type": "int", "logicalType": "date"}, "01", '"1969-12-31"'),
        ({"type": "int", "logicalType": "date"}, "feffffff0f", '"+5881580-07-11"'),
        ({"type": "int", "logicalType": "date"}, "ffffffff0f", '"-5877641-06-23"'),
        ({"type": "int", "logicalType": "time-millis"}, "02", '"00:00:00.001"'),
        ({"type": "int", "logicalType": "time-millis"}, "01", "-1"),
        ({"type": "long", "logicalType": "time-micros"}, "feffbadd8305", '"23:59:59.999999"'),
        ({"type": "long", "logicalType": "timestamp-millis"}, "01", '"1969-12-31T23:59:59.999Z"'),
        ({"type": "long", "logicalType": "local-timestamp-micros"}, "02", '"1970-01-01T00:00:00.000001"'),
        ({"type": "long", "logicalType": "timestamp-nanos"}, "02", '"1970-01-01T00:00:00.000000001Z"'),
        ({"type": "long", "logicalType": "timestamp-millis"}, "ffffffffffffffffff01",
         '"-292275055-05-16T16:47:04.192Z"'),
        ({"type": "string", "logicalType": "uuid"}, "0278", '"x"'),
        ({"type": "int", "logicalType": "timestamp-millis"}, "02", "1"),
        ({"type": "fixed", "name": "F", "size": 16, "logicalType": "uuid"}, "00112233445566778899aabbccddeeff",
         '"00112233-4455-6677-8899-aabbccddeeff"'),
        ({"type": "fixed", "name": "F", "size": 12, "logicalType": "duration"}, "010000000200000003000000",
         '{"months":1,"days":2,"millis":3}'),
        ({"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}, "0404d2", '"12.34"'),
        (BIG_DECIMAL, "080404d204", '"12.34"'), (BIG_DECIMAL, "0602ff02", '"-0.1"'), (BIG_DECIMAL, "06020000", '"0"'),
        (BIG_DECIMAL, "06020505", '"5E+3"'), (BIG_DECIMAL, "0602050e", '"5E-7"'),
        (BIG_DECIMAL, "02ff", '{"base64":"/w=="}'), (BIG_DECIMAL, "00", '{"base64":""}'),
        (BIG_DECIMAL, "0a0404d20400", '{"base64":"BATSBAA="}'),
        ({"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}, "02ff", '"-0.01"'),
        ({"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}, "00", '"0.00"'),
        ({"type": "bytes", "logicalType": "decimal", "precision": 9}, "0204", '"4"'),
        ({"type": "bytes", "logicalType": "decimal", "precision": 40, "scale": 30}, "0204",
         '"0.000000000000000000000000000004"'),
        ({"type": "bytes", "logicalType": "decimal", "precision": 40, "scale": 3}, "12008000000000000000",
         '"9223372036854775.808"'),
        ({"type": "bytes", "logicalType": "decimal", "precision": 40, "scale": 1}, "108000000000000000",
         '"-922337203685477580.8"'),
        ({"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 99}, "0204", '{"base64":"BA=="}'),
    ],
)  # fmt: skip
def test_types_and_their_texts(core: ModuleType, schema: Any, payload: str, text: str) -> None:
    """In a record, where "bytes" has its length."""
    wrapped = {"type": "record", "name": "R", "fields": [{"name": "f", "type": schema}]}
    assert read(core, wrapped, bytes.fromhex(payload)) == [f'{{"f":{text}}}']


@core
@given(
    number=st.floats() | st.floats(width=32) | st.decimals(places=3, allow_nan=False, allow_infinity=False).map(float)
)
def test_floats_are_the_shortest_text(core: ModuleType, number: float) -> None:
    (text,) = read(core, "double", written("double", number))
    assert text == (repr(number) if isfinite(number) else json.dumps(shown("double", number)))


@core
@given(number=st.integers(-(2**63), 2**63 - 1))
def test_calendars_agree(core: ModuleType, number: int) -> None:
    for name in ("timestamp-millis", "timestamp-micros", "timestamp-nanos"):
        schema = {"type": "long", "logicalType": name}
        assert read(core, schema, written("long", number)) == read(CORES[0], schema, written("long", number))


@core
@given(days=st.dates())
def test_a_date_is_the_one_of_the_calendar(core: ModuleType, days: Any) -> None:
    schema = {"type": "int", "logicalType": "date"}
    assert read(core, schema, written(schema, days)) == [f'"{days.isoformat()}"']


@core
def test_a_schema_of_bytes_alone_is_written_without_a_length_as_java_does(core: ModuleType) -> None:
    assert read(core, "bytes", b"\x01\x02", b"") == ['{"base64":"AQI="}', '{"base64":""}']


@core
def test_a_type_may_contain_itself(core: ModuleType) -> None:
    fields = [{"name": "v", "type": "int"}, {"name": "n", "type": ["null", "Node"]}]
    node = {"type": "record", "name": "Node", "fields": fields}
    assert read(core, node, b"\2\2\4\0") == ['{"v":1,"n":{"v":2,"n":null}}']


@core
def test_a_block_may_say_its_size(core: ModuleType) -> None:
    schema = {"type": "array", "items": "int"}
    assert read(core, schema, b"\3\4\2\4\2\6\0") == ["[1,2,3]"]


@core
def test_the_specifications_own_json(core: ModuleType) -> None:
    union = ["null", "bytes", {"type": "fixed", "name": "a.F", "size": 1}]
    date = {"type": "int", "logicalType": "date"}
    schema = {"type": "record", "name": "R", "fields": [{"name": "u", "type": union}, {"name": "t", "type": date}]}
    payloads = b"\0\2", b"\2\4\xff\x22\2", b"\4\xe9\2"
    assert read(core, schema, *payloads, wrapped=True) == [
        '{"u":null,"t":1}',
        '{"u":{"bytes":"ÿ\\""},"t":1}',
        '{"u":{"a.F":"é"},"t":1}',
    ]


@core
def test_numbers_of_logical_types_on_request(core: ModuleType) -> None:
    assert read(core, {"type": "int", "logicalType": "date"}, b"\2", logical=False) == ["1"]
