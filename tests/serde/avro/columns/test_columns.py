"""Payloads as columns: both record cores fill the same buffers, refuse the same payloads with the same words, and the
columns are those that Spark's `from_avro` has."""

from __future__ import annotations

import json
import time
from struct import pack
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcli.proto import faults
from kcli.schemas import SchemaRefused
from kcli.serde.avro.columns import Column, columns_of
from kcli.serde.avro.parse import parse
from tests.each import each
from tests.proto.record_cores import CORES
from tests.serde.avro.columns.samples import columns
from tests.serde.avro.evolution import evolutions
from tests.serde.avro.samples import schemas, values, written

core = each("core", CORES, ids=lambda core: core.__name__.rpartition(".")[2])
SECONDS = 5.0  # of CPU, for what must take milliseconds


def record(*fields: Any, name: str = "R") -> Any:
    named = [{"name": f"f{n}", "type": type} for n, type in enumerate(fields)]
    return {"type": "record", "name": name, "fields": named}


def array_of(items: Any) -> Any:
    return {"type": "array", "items": items}


def decimal(precision: int, scale: int = 0, kind: str = "bytes") -> Any:
    return {"type": kind, "logicalType": "decimal", "precision": precision, "scale": scale}


@given(data=st.data(), schema=schemas(), junk=st.binary(max_size=30))
def test_the_cores_fill_the_same_columns_whatever_the_payload(data: st.DataObject, schema: Any, junk: bytes) -> None:
    whole = written(schema, data.draw(values(schema)))
    flips = [
        whole[:at] + bytes((whole[at] ^ 1 << bit,)) + whole[at + 1 :] for at in range(len(whole)) for bit in (0, 7)
    ]
    payloads = [whole, None, *[whole[:size] for size in range(len(whole))], *flips, whole + b"\0", junk, whole]
    first, *others = [columns(core, schema, *payloads)[1:] for core in CORES]
    assert all(other == first for other in others)
    assert 0 not in first[1]
    assert len(payloads) - 1 not in first[1]


@given(data=st.data(), pair=evolutions())
def test_the_cores_agree_where_a_schema_is_read_by_another(data: st.DataObject, pair: tuple[Any, Any]) -> None:
    older, newer = pair
    payloads = [b"", b"\0", b"\2\2\2", b"\0" * 30]
    try:
        first, *others = [columns(core, older, *payloads, reader=newer)[1:] for core in CORES]
    except SchemaRefused:
        return
    assert all(other == first for other in others)


@each("texts", [[3], [0] * 400 + [500], [200] * 300 + [0], [7, 70, 0]])
def test_the_cores_fill_the_same_long_columns_with_bad_rows_between_nulls(texts: list[int]) -> None:
    """Texts become longer or shorter than the first rows let expect; what a bad row began is taken back."""
    schema = record(["null", "string"], "boolean", array_of(["null", "string"]), ["null", "long"], "string")
    payloads: list[bytes | None] = []
    for n in range(1200):
        text, parts = "x" * texts[n % len(texts)], [None, "y"] if n % 2 else ["z"]
        row = {"f0": text if n % 3 else None, "f1": n % 4 == 0, "f2": parts, "f3": n if n % 5 else None, "f4": text}
        whole = written(schema, row)
        payloads.append(None if n % 11 == 0 else whole[:-1] if n % 7 == 0 else whole)
    first, *others = [columns(core, schema, *payloads)[1:] for core in CORES]
    assert all(other == first for other in others)
    assert sorted(first[1]) == [n for n in range(1200) if n % 7 == 0 and n % 11]


@core
@each(
    ("schema", "payload", "fault"),
    [
        ("long", b"", faults.CUT),
        ("long", b"\xff" * 10, faults.VARINT),
        ("int", b"\xff\xff\xff\xff\x1f", faults.VARINT),
        ("boolean", b"\2", faults.NO_BOOLEAN),
        ("float", b"123", faults.CUT),
        ("double", b"1234567", faults.CUT),
        ("string", b"\1", faults.NEGATIVE),
        ("string", b"\4a", faults.CUT),
        ("int", b"\0\0", faults.LEFT),
        (["null", "int"], b"\4", faults.INDEX),
        ({"type": "enum", "name": "E", "symbols": ["A"]}, b"\2", faults.INDEX),
        (array_of("int"), b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\1", faults.BLOCK),
        (array_of("int"), b"\3\xc8\1\2\2\0", faults.CUT),
        (array_of("null"), b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\1\0", faults.NOTHING),
        (array_of({"type": "fixed", "name": "F", "size": 0}), b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\1\0",
         faults.NOTHING),
        (record(decimal(9)), b"\x82\x10" + b"\1" * 1025, faults.DIGITS),
        (record(decimal(40)), b"\x82\x10" + b"\1" * 1025, faults.DIGITS),
        (record(decimal(3)), b"\4\x03\xe8", faults.PRECISION),
        (record(decimal(3)), b"\4\xfc\x18", faults.PRECISION),
        (record(decimal(38)), b"\x20\x80" + b"\0" * 15, faults.PRECISION),
        (record(decimal(38)), b"\x22\0\x80" + b"\0" * 15, faults.PRECISION),
        ({"type": "long", "logicalType": "timestamp-millis"}, b"\xfe" + b"\xff" * 8 + b"\1", faults.RANGE),
        ({"type": "fixed", "name": "F", "size": 16, "logicalType": "uuid"}, b"\0" * 15, faults.CUT),
    ],
)  # fmt: skip
def test_a_bad_payload_is_a_null_with_a_fault_and_its_neighbours_stay(
    core: ModuleType, schema: Any, payload: bytes, fault: int
) -> None:
    begun = time.process_time()
    _, buffers, found = columns(core, schema, payload, None, payload)
    assert found == {0: fault, 2: fault}
    assert buffers[0][:2] == (3, b"\0")
    assert time.process_time() - begun < SECONDS


@core
@each(
    ("schema", "payload", "cell"),
    [
        ({"type": "int", "logicalType": "date"}, b"\1", pack("<i", -1)),
        ({"type": "int", "logicalType": "time-millis"}, b"\2", pack("<i", 1)),
        ({"type": "long", "logicalType": "time-micros"}, b"\2", pack("<q", 1)),
        ({"type": "long", "logicalType": "timestamp-millis"}, b"\1", pack("<q", -1000)),
        ({"type": "long", "logicalType": "timestamp-micros"}, b"\1", pack("<q", -1)),
        ({"type": "long", "logicalType": "timestamp-nanos"}, b"\1", pack("<q", -1)),
        ({"type": "long", "logicalType": "local-timestamp-millis"}, b"\2", pack("<q", 1000)),
        (record(decimal(4, 2)), b"\4\xfb\x2e", (-1234).to_bytes(16, "little", signed=True)),
        (record(decimal(4, 2)), b"\0", bytes(16)),
        (record(decimal(38)), b"\x24\xff\xff\xff" + b"\xff" * 15, (-1).to_bytes(16, "little", signed=True)),
        (record(decimal(40, 1)), b"\4\xfb\x2e", b"-123.4"),
        (record({**decimal(4, 2, "fixed"), "name": "F", "size": 3}), b"\0\x04\xd2",
         (1234).to_bytes(16, "little", signed=True)),
        ({"type": "fixed", "name": "F", "size": 16, "logicalType": "uuid"}, bytes.fromhex("0011" * 8),
         b"00110011-0011-0011-0011-001100110011"),
        ({"type": "fixed", "name": "F", "size": 12, "logicalType": "duration"}, bytes(range(12)), bytes(range(12))),
        ("bytes", b"raw", b"raw"),
        (["int", "long"], b"\0\2", pack("<q", 1)),
        (["double", "float"], b"\2\0\0\x80\x3f", pack("<d", 1.0)),
    ],
)  # fmt: skip
def test_logical_types_and_unions_of_numbers_are_cells(
    core: ModuleType, schema: Any, payload: bytes, cell: bytes
) -> None:
    _, buffers, found = columns(core, schema, payload)
    assert found == {}
    _, _, data, text = buffers[-1]
    assert (data if text is None else text) == cell


@core
@each(
    ("writer", "reader", "payload", "cell"),
    [
        ("int", "long", b"\2", pack("<q", 1)),
        ("int", "float", b"\x82\x80\x80\x10", pack("<f", 16777216.0)),
        ("long", "double", b"\2", pack("<d", 1.0)),
        ("long", "float", b"\2", pack("<f", 1.0)),
        ("float", "double", b"\0\0\x80\x3f", pack("<d", 1.0)),
        ("string", "bytes", b"\2x", b"x"),
        ("bytes", "string", b"\2x", b"x"),
        ("int", {"type": "long", "logicalType": "timestamp-millis"}, b"\2", pack("<q", 1000)),
        ({"type": "long", "logicalType": "timestamp-millis"}, {"type": "long", "logicalType": "timestamp-micros"},
         b"\2", pack("<q", 1000)),
        ({"type": "enum", "name": "E", "symbols": ["A", "B"]},
         {"type": "enum", "name": "E", "symbols": ["C"], "default": "C"}, b"\2", b"C"),
    ],
)  # fmt: skip
def test_a_value_is_read_as_the_readers_type(
    core: ModuleType, writer: Any, reader: Any, payload: bytes, cell: bytes
) -> None:
    _, buffers, found = columns(core, record(writer), payload, reader=record(reader))
    assert found == {}
    assert (buffers[1][2] if buffers[1][3] is None else buffers[1][3]) == cell


@pytest.mark.slow
@core
def test_nulls_symbols_and_defaults_that_would_fill_the_memory_are_faults(core: ModuleType) -> None:
    items = b"\xa0\x8d\6" + b"\0" * 50_001
    for wide in (["null", record(*["long"] * 5000)], {"type": "enum", "name": "E", "symbols": ["x" * 100_000]}):
        assert columns(core, array_of(wide), items)[2] == {0: faults.BULKY}
    added = {"name": "f0", "type": "string", "default": "x" * 100_000}
    reader = array_of({"type": "record", "name": "R", "fields": [added]})
    payload = b"\x80\x89\x7a" + b"\0"  # a million records of no bytes
    _, _, found = columns(core, array_of(record()), payload, reader=reader)
    assert found == {0: faults.BULKY}


def shown(column: Column) -> Any:
    if column.kind == "array":
        return [shown(column.parts[0])]
    if column.kind == "map":
        return {"": shown(column.parts[1])}
    if column.kind == "struct":
        return {part.name: shown(part) for part in column.parts}
    return f"{column.kind}({column.precision},{column.scale})" if column.kind == "decimal" else column.kind


@each(
    ("schema", "kinds"),
    [
        (["null", "int"], "int"),
        (["string"], "string"),
        (["null"], "null"),
        (["int", "null", "long"], "long"),
        (["int", "string"], {"member0": "int", "member1": "string"}),
        (["null", "int", record("long")], {"member0": "int", "member1": {"f0": "long"}}),
        (array_of(["null", {"type": "map", "values": "bytes"}]), [{"": "binary"}]),
        (decimal(38, 3), "decimal(38,3)"),
        (decimal(39, 3), "string"),
        ({"type": "long", "logicalType": "timestamp-nanos"}, "long"),
    ],
)
def test_the_columns_are_those_of_from_avro(schema: Any, kinds: Any) -> None:
    assert shown(columns_of(parse(json.dumps(schema)))) == kinds


LIST = {"type": "record", "name": "L", "fields": [{"name": "n", "type": ["null", "L"], "default": None}]}


def test_a_record_that_contains_itself_is_refused_and_passed_over() -> None:
    with pytest.raises(SchemaRefused, match="the record L contains itself"):
        columns_of(parse(json.dumps(LIST)))
    writer = {"type": "record", "name": "R", "fields": [{"name": "l", "type": LIST}, {"name": "f0", "type": "int"}]}
    for core in CORES:
        _, buffers, found = columns(core, writer, b"\2\2\0\4", b"\2" * 300 + b"\0\4", reader=record("int"))
        assert found == {1: faults.DEEP}
        assert buffers[1][2] == pack("<ii", 2, 0)


def test_columns_that_multiply_are_refused_at_once() -> None:
    names = [record(*["int"] * 10, name="T0")]
    names += [record(*[f"T{number - 1}"] * 10, name=f"T{number}") for number in range(1, 9)]
    begun = time.process_time()
    with pytest.raises(SchemaRefused, match="more than 10,000 columns"):
        columns_of(parse(json.dumps(names[-1]), [json.dumps(one) for one in names[:-1]]))
    assert time.process_time() - begun < SECONDS


def test_decimals_of_another_scale_are_refused() -> None:
    with pytest.raises(SchemaRefused, match="3 digits after the decimal point where the writer's has 2"):
        columns(CORES[0], record(decimal(9, 2)), b"", reader=record(decimal(9, 3)))


@core
@each(
    ("payload", "cell"),
    [
        (b"\2\xff", "\ufffd"),
        (b"\x06\xed\xa0\x80", "\ufffd"),
        (b"\x14abcdefghi\xff", "abcdefghi\ufffd"),
        (b"\x80\1" + b"\xfe" * 32 + b"x" * 32, "\ufffd" * 32 + "x" * 32),
    ],
)
def test_text_that_is_not_utf8_is_replaced(core: ModuleType, payload: bytes, cell: str) -> None:
    _, buffers, found = columns(core, "string", payload, b"\2y")
    assert found == {}
    assert buffers[0][3] == cell.encode() + b"y"
    _, buffers, found = columns(core, {"type": "map", "values": "int"}, b"\2" + payload + b"\2\0")
    assert found == {}
    assert cell.encode() in [part for buffer in buffers for part in buffer if isinstance(part, bytes)]
