"""A payload of one schema shown by another (Avro 1.12, "Schema Resolution"), against fastavro where it can."""

from __future__ import annotations

import io
import json
from types import ModuleType
from typing import Any

import fastavro
import pytest

from kcli.proto import faults
from kcli.schemas import SchemaRefused
from tests.each import each
from tests.proto.record_cores import CORES
from tests.serde.avro.samples import read, written

core = each("core", CORES, ids=lambda core: core.__name__.rpartition(".")[2])


def record(*fields: Any, name: str = "R", **more: Any) -> Any:
    return {"type": "record", "name": name, "fields": list(fields), **more}


def field(name: str, type: Any, **more: Any) -> Any:
    return {"name": name, "type": type, **more}


E2 = {"type": "enum", "name": "E", "symbols": ["A", "B"]}
E3 = {"type": "enum", "name": "E", "symbols": ["C", "A"], "default": "C"}
CASES: list[tuple[Any, Any, Any]] = [
    ("int", "long", 7),
    ("int", "double", 7),
    ("long", "double", 2**62 + 1),
    ("float", "double", 0.1),
    ("string", ["null", "string"], "x"),
    (["null", "int"], ["string", "long", "null"], 5),
    (["null", "int"], "long", 5),
    ({"type": "array", "items": "int"}, {"type": "array", "items": "double"}, [1, 2]),
    ({"type": "map", "values": "int"}, {"type": "map", "values": "long"}, {"a": 1}),
    (E2, {**E2, "symbols": ["B", "A"]}, "A"),
    (E2, E3, "B"),
    (record(field("a", "int"), field("b", "string")), record(field("a", "int")), {"a": 1, "b": "x"}),
    (record(field("b", "string"), field("a", "int")), record(field("a", "long")), {"a": 1, "b": "x"}),
    (record(), record(field("a", "int", default=3)), {}),
    (record(), record(field("a", ["null", "int"], default=None)), {}),
    (record(), record(field("a", {"type": "array", "items": "int"}, default=[1, 2])), {}),
    (record(), record(field("a", {"type": "map", "values": "string"}, default={"k": "v"})), {}),
    (record(field("old", "int")), record(field("new", "int", aliases=["old"])), {"old": 1}),
    (record(field("r", record(field("x", "int"), name="I"))),
     record(field("r", record(field("x", "long"), field("y", "string", default="d"), name="I"))), {"r": {"x": 1}}),
]  # fmt: skip


@core
def test_a_value_is_shown_by_the_readers_schema_as_fastavro_does(core: ModuleType) -> None:
    for writer, reader, value in CASES:
        payload = written(writer, value)
        theirs = fastavro.schemaless_reader(
            io.BytesIO(payload), fastavro.parse_schema(_copy(writer)), fastavro.parse_schema(_copy(reader))
        )
        (text,) = read(core, writer, payload, reader=reader)
        assert json.loads(str(text)) == theirs, (writer, reader)


@core
@each(
    ("writer", "reader", "payload", "text"),
    [
        ("bytes", "string", b"\2x", '"x"'),
        ("string", "bytes", b"\2x", '{"base64":"eA=="}'),
        ("int", "float", b"\x82\x80\x80\x10", "16777216.0"),
        ("long", "float", b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\1", "9.223372e+18"),
        ("string", {"type": "string", "logicalType": "uuid"}, b"\2x", '"x"'),
        ("int", {"type": "int", "logicalType": "date"}, b"\0", '"1970-01-01"'),
    ],
)
def test_promotions_that_fastavro_reads_otherwise(
    core: ModuleType, writer: Any, reader: Any, payload: bytes, text: str
) -> None:
    assert read(core, record(field("f", writer)), payload, reader=record(field("f", reader))) == [f'{{"f":{text}}}']


@core
@each(
    ("type", "default", "text"),
    [
        ("bytes", "ÿ", '{"base64":"/w=="}'),
        ({"type": "fixed", "name": "F", "size": 2}, "ab", '{"base64":"YWI="}'),
        ({"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2}, "\u0004Ò", '"12.34"'),
        ({"type": "int", "logicalType": "date"}, 1, '"1970-01-02"'),
        ({"type": "int", "logicalType": "time-millis"}, 1, '"00:00:00.001"'),
        ({"type": "long", "logicalType": "local-timestamp-micros"}, 1, '"1970-01-01T00:00:00.000001"'),
        ("float", 0.1, "0.1"),
        ("double", 3, "3.0"),
        ("double", float("nan"), '"NaN"'),
        ("double", "NaN", '"NaN"'),
        ("float", "-Infinity", '"-Infinity"'),
        (["float", "null"], float("inf"), '"Infinity"'),
        (E2, "B", '"B"'),
        ("boolean", True, "true"),
        (record(field("a", "int"), field("b", "int", default=2), name="I"), {"a": 1}, '{"a":1,"b":2}'),
    ],
)
def test_defaults_are_written_as_values_are(core: ModuleType, type: Any, default: Any, text: str) -> None:
    reader = record(field("d", type, default=default))
    assert read(core, record(), b"", reader=reader) == [f'{{"d":{text}}}']


@core
def test_a_branch_and_a_symbol_that_the_reader_has_not_are_faults_of_the_value(core: ModuleType) -> None:
    assert read(core, ["null", "string"], b"\0", b"\2\2x", reader="null") == ["null", faults.REFUSED]
    assert read(core, E2, b"\0", b"\2", reader={**E2, "symbols": ["A"]}) == ['"A"', faults.REFUSED]


@core
def test_a_field_that_the_reader_leaves_out_is_checked_and_its_faults_count(core: ModuleType) -> None:
    writer, reader = record(field("gone", "string"), field("a", "int")), record(field("a", "int"))
    assert read(core, writer, b"\2x\2", b"\2\xff\2", b"\1", b"\4x", reader=reader) == [
        '{"a":1}', '{"a":1}', faults.NEGATIVE, faults.CUT,
    ]  # fmt: skip


def order(space: str, *fields: Any, **more: Any) -> Any:
    return record(*fields, name="Order", namespace=space, **more)


TOTAL, AMOUNT = field("total", "int"), field("amount", "double")


@core
def test_S2_the_branch_of_the_full_name_comes_before_those_of_the_short_name(core: ModuleType) -> None:
    """As Avro for Java has it; fastavro takes the first of the short name."""
    half = b"\0\0\0\0\0\0\xe0\x3f"
    both = [order("shop.v1", TOTAL), order("shop.v2", AMOUNT)]
    newer = ["null", order("shop.v1", TOTAL, field("x", "int", default=3)), order("shop.v2", AMOUNT)]
    assert read(core, both, b"\2" + half, b"\0\2", reader=newer) == ['{"amount":0.5}', '{"total":1,"x":3}']
    enums = [{"type": "enum", "name": f"{space}.E", "symbols": ["A", space.upper()]} for space in "pq"]
    assert read(core, enums, b"\2\2", b"\0\2", reader=[*enums[::-1], "null"]) == ['"Q"', '"P"']
    sizes = [{"type": "fixed", "name": f"{space}.F", "size": 1} for space in "pq"]
    wrapped = [*sizes[::-1], "null"]
    assert read(core, sizes, b"\2a", reader=wrapped, wrapped=True) == ['{"q.F":"a"}']


@core
def test_then_the_alias_and_then_the_short_name_and_the_fields_of_a_record(core: ModuleType) -> None:
    writer = order("old", TOTAL)
    short, alias = order("b", TOTAL, field("s", "int", default=1)), order("c", TOTAL, aliases=["old.Order"])
    assert read(core, [writer], b"\0\2", reader=[short, alias], wrapped=True) == ['{"c.Order":{"total":1}}']
    other = record(TOTAL, name="Other")
    assert read(core, [writer], b"\0\2", reader=[other, "null"], wrapped=True) == ['{"Other":{"total":1}}']
    unlike = record(field("n", "int"), name="Unlike")
    assert read(core, [writer], b"\0\2", reader=[unlike, other], wrapped=True) == ['{"Other":{"total":1}}']


@core
def test_a_string_that_is_read_as_bytes_is_a_text_in_the_specifications_json(core: ModuleType) -> None:
    assert read(core, "string", b"\4\xc3\xa9", reader=["bytes", "null"], wrapped=True) == ['{"bytes":"Ã©"}']


@core
def test_what_cannot_be_resolved_is_a_fault_of_the_values_that_have_it(core: ModuleType) -> None:
    writer = ["null", order("s", TOTAL), "string"]
    assert read(core, writer, b"\0", b"\2\2", b"\4\2x", reader=["null", order("s", AMOUNT), "string"]) == [
        "null", faults.REFUSED, '"x"',
    ]  # fmt: skip
    items = {"type": "array", "items": "int"}
    assert read(core, items, b"\0", b"\2\2\0", reader={"type": "array", "items": "string"}) == ["[]", faults.REFUSED]
    enum = {"type": "map", "values": E2}
    assert read(core, enum, b"\0", b"\2\2k\0\0", reader={"type": "map", "values": {**E2, "name": "F"}}) == [
        "{}", faults.REFUSED,
    ]  # fmt: skip


@core
def test_a_number_keeps_the_unit_of_its_writer_and_a_decimal_is_not_read_by_another_scale(core: ModuleType) -> None:
    millis, micros = ({"type": "long", "logicalType": f"timestamp-{unit}"} for unit in ("millis", "micros"))
    assert read(core, millis, b"\2", reader=micros) == ['"1970-01-01T00:00:00.001Z"']
    two, three = ({"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": scale} for scale in (2, 3))
    with pytest.raises(SchemaRefused, match="a decimal of 3 digits after the decimal point where the writer's has 2"):
        read(core, record(field("d", two)), b"\2\1", reader=record(field("d", three)))


@each(
    ("writer", "reader", "says"),
    [
        (
            {"type": "enum", "name": "E", "symbols": ["A"]},
            {"type": "enum", "name": "F", "symbols": ["A"]},
            "has F where",
        ),
        ("string", "int", "has int where the writer's has string"),
        (record(), record(field("a", "int")), "the field a of R is in the reader's schema but not in the writer's"),
        (record(), record(field("a", "int", default="x")), "the default of the field a of R is not of its type"),
        ({"type": "array", "items": "int"}, {"type": "map", "values": "int"}, "has map where the writer's has array"),
        (record(field("a", "int")), record(field("a", "boolean")), "has boolean where the writer's has int"),
    ],
)
def test_schemas_that_do_not_go_together_say_where(writer: Any, reader: Any, says: str) -> None:
    with pytest.raises(SchemaRefused, match=says):
        read(CORES[0], writer, b"", reader=reader)


def _copy(schema: Any) -> Any:
    return json.loads(json.dumps(schema))
