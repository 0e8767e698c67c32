"""Which schemas are valid, as Avro for Java has it; tests/interop/avro asks it about thousands."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kcli.schemas import SchemaRefused
from kcli.serde.avro.parse import parse
from kcli.serde.avro.strict import parse_strictly
from tests.each import each
from tests.serde.avro.test_resolve import field, record

E = {"type": "enum", "name": "E", "symbols": ["A", "B"]}
F = {"type": "fixed", "name": "F", "size": 2}
INNER = record(field("x", "int"), field("y", "int", default=1), name="I")


@each(
    ("schema", "says"),
    [
        (
            record(field("a", "string", default=None)),
            "the default of the field a of R, null, is not of the type string",
        ),
        (record(field("a", "int", default=1.0)), "the default of the field a of R, 1.0, is not of the type int"),
        (record(field("a", "int", default=2**31)), "is not of the type int"),
        (record(field("a", "long", default=2**63)), "is not of the type long"),
        (record(field("a", "boolean", default=1)), "is not of the type boolean"),
        (record(field("a", "int", default=True)), "is not of the type int"),
        (record(field("a", ["null", "int"], default="x")), r"is not of any of its branches \(null, int\)"),
        (record(field("a", {"type": "array", "items": "int"}, default=[1, "x"])), "is not of the type array"),
        (record(field("a", {"type": "map", "values": "int"}, default={"k": None})), "is not of the type map"),
        (record(field("a", INNER, default={})), "is not of the type I"),
        (record(field("r", record(field("a", "int", default="x"), name="I"))), "the default of the field a of I"),
        ({"type": "array", "items": record(field("a", "int", default="x"))}, "the default of the field a of R"),
        ({"type": "map", "values": [record(field("a", "int", default="x"))]}, "the default of the field a of R"),
        ({**E, "symbols": ["A", "A"]}, "the enum E has the symbol A twice"),
        ({**E, "symbols": ["A-B"]}, '"A-B" is not a symbol of an enum'),
        ({**E, "default": "C"}, "the default of the enum E, C, is not one of its symbols"),
        ({**F, "size": -1}, "the fixed F has no size"),
        ({**F, "size": "2"}, "the fixed F has no size"),
        (record(field("a", "double", default=float("nan"))), 'NaN is not JSON; write "NaN"'),
        (record(aliases=["a.x-y"]), '"a.x-y" is not a name'),
        (record(name="int"), "a record has the name of the primitive type int"),
        (record(name="R-x"), '"R-x" is not a name'),
        (record(name="R", namespace="a.1b"), '"a.1b.R" is not a name'),
        (record(field("a-b", "int")), '"a-b" in R is not the name of a field'),
    ],
)
def test_S6_what_no_reader_of_java_takes_in(schema: Any, says: str) -> None:
    with pytest.raises(SchemaRefused, match=says):
        parse_strictly(json.dumps(schema))


@each(
    "schema",
    [
        record(field("a", ["null", "string"], default=None), field("b", ["null", "string"], default="x")),
        record(field("a", "float", default=1), field("b", "bytes", default="ÿ"), field("c", E, default="B")),
        record(field("a", "double", default="NaN"), field("b", ["string", "null"], default=None)),
        record(field("a", INNER, default={"x": 1}), field("b", {"type": "array", "items": "I"}, default=[])),
        record(field("é_1", "int"), name="Été", namespace="a.b"),
        {"type": "record", "name": "L", "fields": [{"name": "n", "type": ["null", "L"], "default": None}]},
        {"type": "fixed", "name": "a.int", "size": 0},
    ],
)
def test_what_is_valid(schema: Any) -> None:
    parse_strictly(json.dumps(schema))


def test_what_is_invalid_is_read_all_the_same() -> None:
    assert parse(json.dumps(record(field("a", "string", default=None), name="R-x"))).name == "R-x"
