"""What changed between two schemas, and the level that the change keeps."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings

from kcli.serde.avro.compatibility import check
from kcli.serde.avro.parse import parse
from kcli.serde.schemas.difference import differences, level_kept
from tests.each import each
from tests.effort import tries
from tests.serde.avro.evolution import evolutions
from tests.serde.avro.test_resolve import E2, field, record

INNER = record(field("x", "int"), name="I")
DATE = {"type": "int", "logicalType": "date"}


def amount(precision: int, scale: int) -> Any:
    return {"type": "bytes", "logicalType": "decimal", "precision": precision, "scale": scale}


def at(unit: str) -> Any:
    return {"type": "long", "logicalType": f"timestamp-{unit}"}


def changes(old: Any, new: Any) -> list[tuple[Any, ...]]:
    return [tuple(change) for change in differences(parse(json.dumps(old)), parse(json.dumps(new)))]


@each(
    ("old", "new", "expected"),
    [
        (record(field("a", "int")), record(field("a", "int", doc="!")), []),
        (record(field("a", "int")), record(field("a", "int"), field("b", "string", default="")),
         [("b", "added", None, 'string = ""')]),
        (record(field("a", "int"), field("b", DATE)), record(field("a", "long")),
         [("b", "removed", "int (date)", None), ("a", "type", "int", "long")]),
        (record(field("old", "int")), record(field("new", "int", aliases=["old"])), [("new", "renamed", "old", "new")]),
        (record(field("a", "int", default=1)), record(field("a", "int")), [("a", "default", "1", None)]),
        (record(field("a", "int")), record(field("a", ["null", "int"])), [("a", "type", "int", "null | int")]),
        (record(field("a", {"type": "array", "items": INNER})),
         record(field("a", {"type": "array", "items": {**INNER, "fields": [field("x", "long")]}})),
         [("a[].x", "type", "int", "long")]),
        (record(field("a", ["null", {"type": "map", "values": INNER}])),
         record(field("a", ["null", {"type": "map", "values": {**INNER, "fields": []}}])),
         [("a{}.x", "removed", "int", None)]),
        (E2, {**E2, "symbols": ["B", "C"], "default": "C"}, [("", "symbols", "A", "C"), ("", "default", None, "C")]),
        ({"type": "fixed", "name": "F", "size": 2}, {"type": "fixed", "name": "G", "size": 3},
         [("", "name", "F", "G"), ("", "size", "2", "3")]),
        (DATE, "int", [("", "type", "int (date)", "int")]),
    ],
)  # fmt: skip
def test_what_changed(old: Any, new: Any, expected: list[Any]) -> None:
    assert changes(old, new) == expected


@each(
    ("old", "new", "level"),
    [
        ("int", "int", "FULL"),
        ("int", "long", "BACKWARD"),
        ("long", "int", "FORWARD"),
        ("int", "boolean", "NONE"),
        (DATE, "int", "FULL"),
        (amount(9, 2), amount(9, 2), "FULL"),
        (amount(9, 2), "bytes", "FULL"),
        (amount(9, 2), amount(9, 3), "NONE"),
        (amount(9, 2), amount(12, 2), "NONE"),
        (record(field("a", ["null", amount(9, 2)])), record(field("a", ["null", amount(9, 4)])), "NONE"),
        (at("millis"), at("micros"), "NONE"),
        (record(field("a", at("millis"))), record(field("a", at("micros"))), "NONE"),
        ({"type": "int", "logicalType": "time-millis"}, {"type": "long", "logicalType": "time-micros"}, "NONE"),
    ],
)
def test_the_level_that_a_change_keeps(old: Any, new: Any, level: str) -> None:
    assert level_kept(parse(json.dumps(old)), parse(json.dumps(new))) == level


@settings(max_examples=tries(200))
@given(evolutions())
def test_a_level_that_is_kept_is_not_violated_and_a_break_is_a_change(pair: tuple[Any, Any]) -> None:
    old, new = (parse(json.dumps(schema)) for schema in pair)
    assert check(level_kept(old, new), new, [old]) == []
    found = differences(old, new)
    if not found:
        assert level_kept(old, new) == "FULL"
    assert differences(new, new) == []
