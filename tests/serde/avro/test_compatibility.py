"""Which schema reads which, and why not (Avro's `SchemaCompatibility`); Apicurio's verdicts are compared in
tests/registry/test_compatibility.py."""

from __future__ import annotations

import contextlib
import io
import json
import time
from typing import Any

import fastavro
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kcli.schemas import SchemaRefused
from kcli.serde.avro import compatibility
from kcli.serde.avro.compatibility import LEVELS, Violation, check, incompatibilities
from kcli.serde.avro.parse import parse
from tests.each import each
from tests.effort import tries
from tests.proto.record_cores import CORES
from tests.serde.avro.evolution import evolutions
from tests.serde.avro.samples import read, values, written
from tests.serde.avro.test_resolve import CASES as READABLE
from tests.serde.avro.test_resolve import E2, E3, field, record

FIXED = {"type": "fixed", "name": "F", "size": 3}
INTS, TEXTS = {"type": "array", "items": "int"}, {"type": "array", "items": "string"}
NODE = record(field("v", "int"), field("next", ["null", "Node"]), name="Node")
ADDED = field("b", "int")
LACKS = "MISSING_UNION_BRANCH reader union lacking writer type:"


def reasons(reader: Any, writer: Any) -> list[str]:
    found = incompatibilities(parse(json.dumps(reader)), parse(json.dumps(writer)))
    return [f"{type} {message} at {location}" for type, location, message in found]


@each(
    ("reader", "writer", "expected"),
    [
        ("int", "string", ["TYPE_MISMATCH reader type: INT not compatible with writer type: STRING at /"]),
        ("int", "long", ["TYPE_MISMATCH reader type: INT not compatible with writer type: LONG at /"]),
        (INTS, TEXTS, ["TYPE_MISMATCH reader type: INT not compatible with writer type: STRING at /items"]),
        ({"type": "map", "values": "int"}, {"type": "map", "values": "null"},
         ["TYPE_MISMATCH reader type: INT not compatible with writer type: NULL at /values"]),
        (INTS, {"type": "map", "values": "int"},
         ["TYPE_MISMATCH reader type: ARRAY not compatible with writer type: MAP at /"]),
        (record(field("b", "int")), record(field("a", "int")),
         ["READER_FIELD_MISSING_DEFAULT_VALUE b at /fields/0"]),
        (record(field("a", "int"), field("e", {**E2, "default": "A"})), record(field("a", "int")),
         ["READER_FIELD_MISSING_DEFAULT_VALUE e at /fields/1"]),  # a default of the enum is none of the field
        (record(name="X"), record(name="Y", namespace="n"), ["NAME_MISMATCH expected: n.Y at /name"]),
        (FIXED, {**FIXED, "name": "G", "size": 4},
         ["NAME_MISMATCH expected: G at /name", "FIXED_SIZE_MISMATCH expected: 4, found: 3 at /size"]),
        (E2, {**E2, "symbols": ["D", "A", "C"]}, ["MISSING_ENUM_SYMBOLS [D, C] at /symbols"]),
        (["null", "int"], "string", [f"{LACKS} STRING at /"]),
        (["null", "int"], ["null", "string", INTS], [f"{LACKS} STRING at /1", f"{LACKS} ARRAY at /2"]),
        ("int", ["null", "int"], ["TYPE_MISMATCH reader type: INT not compatible with writer type: NULL at /0"]),
        (record(field("v", "string"), field("next", ["null", "Node"]), name="Node"), NODE, [
            "TYPE_MISMATCH reader type: STRING not compatible with writer type: INT at /fields/0/type",
        ]),
        (record(field("n", ["null", record(ADDED, name="I")])), record(field("n", ["null", record(name="I")])),
         [f"{LACKS} RECORD at /fields/0/type/1"]),
    ],
)  # fmt: skip
def test_why_not_in_the_words_of_avro(reader: Any, writer: Any, expected: list[str]) -> None:
    assert reasons(reader, writer) == expected


def test_what_is_readable() -> None:
    more = [
        (record(name="Y", namespace="other"), record(name="Y", namespace="n")),
        (record(name="X", aliases=["n.Y"]), record(name="Y", namespace="n")),
        ("bytes", "string"), ("string", "bytes"), ([], []), (E3, E2), (NODE, NODE), ("int", ["int"]),
        (record(field("new", "int", aliases=["x", "old"])), record(field("old", "int"))),
        ({"type": "int", "logicalType": "date"}, "int"),
    ]  # fmt: skip
    given = [(reader, writer) for writer, reader, _ in READABLE if not isinstance(writer, list) or reader != "long"]
    for reader, writer in given + more:
        assert reasons(reader, writer) == [], (reader, writer)


@settings(max_examples=tries(300))
@given(st.data())
def test_what_is_compatible_is_read(data: st.DataObject) -> None:
    """Any value of the older schema by the newer one, by both record cores, and by fastavro. Avro allows to read bytes
    as a string, which not all bytes are."""
    older, newer = data.draw(evolutions())
    if reasons(newer, older):
        return
    payload = written(older, _filled(data.draw, older))
    for core in CORES:
        (text,) = read(core, older, payload, reader=newer)
        assert isinstance(text, str), text
    with contextlib.suppress(UnicodeDecodeError):
        fastavro.schemaless_reader(io.BytesIO(payload), fastavro.parse_schema(older), fastavro.parse_schema(newer))


def _filled(draw: Any, schema: Any) -> Any:
    if isinstance(schema, dict) and schema.get("name") == "Node":
        value = schema["fields"][0]["type"]
        inner = {"value": draw(values(value)), "next": None}
        return {"value": draw(values(value)), "next": inner}
    return draw(values(schema))


@settings(max_examples=tries(200))
@given(evolutions())
def test_any_schema_reads_itself(pair: tuple[Any, Any]) -> None:
    for schema in pair:
        assert reasons(schema, schema) == []


OLD = record(field("a", "int"))
MORE = record(field("a", "int"), ADDED)  # no default: does not read what OLD wrote
DEFAULTED = record(field("a", "int"), field("b", "int", default=1))
EMPTY = record()


@each(
    ("level", "new", "versions", "broken"),
    [
        ("NONE", "string", [OLD], []),
        ("BACKWARD", "string", [], []),
        ("BACKWARD", MORE, [OLD], [(0, "backward")]),
        ("BACKWARD", MORE, [OLD, MORE], []),
        ("BACKWARD_TRANSITIVE", MORE, [OLD, MORE], [(0, "backward")]),
        ("BACKWARD_TRANSITIVE", DEFAULTED, [OLD, MORE], []),
        ("FORWARD", MORE, [OLD], []),
        ("FORWARD", EMPTY, [OLD], [(0, "forward")]),
        ("FORWARD", EMPTY, [OLD, DEFAULTED], [(1, "forward")]),  # of two fields one has no default
        ("FORWARD", EMPTY, [OLD, EMPTY], []),
        ("FORWARD_TRANSITIVE", EMPTY, [OLD, EMPTY], [(0, "forward")]),
        ("FULL", MORE, [OLD], [(0, "backward")]),
        ("FULL", EMPTY, [OLD], [(0, "forward")]),
        ("FULL", DEFAULTED, [OLD], []),
        ("FULL_TRANSITIVE", record(field("b", "int")), [OLD, MORE],
         [(1, "forward"), (0, "backward"), (0, "forward")]),
    ],
)  # fmt: skip
def test_what_a_level_asks(level: str, new: Any, versions: list[Any], broken: list[tuple[int, str]]) -> None:
    found = check(level, parse(json.dumps(new)), [parse(json.dumps(version)) for version in versions])
    assert [(violation.version, violation.direction) for violation in found] == broken
    assert all(isinstance(violation, Violation) and violation.reason.type for violation in found)


def test_there_are_seven_levels_and_no_other() -> None:
    assert len(LEVELS) == 7
    with pytest.raises(ValueError, match="unknown compatibility level LOOSE; the levels are NONE, BACKWARD, "):
        check("LOOSE", parse('"int"'), [])


def _chain(length: int, last: str) -> Any:
    """Each record holds the one before it, by its name."""
    return [record(field("f", f"R{number - 1}" if number else last), name=f"R{number}") for number in range(length)]


def test_names_that_chain_further_than_python_calls() -> None:
    began = time.process_time()
    assert reasons(_chain(5000, "int"), _chain(5000, "int")) == []
    found = reasons(_chain(3000, "int"), _chain(3000, "string"))
    assert len(found) == 3000  # every branch of the writer's
    assert time.process_time() - began < 3


def test_a_pair_that_proves_wrong_later_was_assumed_right_nowhere() -> None:
    """`A` and `B` hold one another. While `A` is open, `B` looks compatible; then `A` is not, so neither is `B`."""

    def both(kind: str) -> Any:
        inner = record(field("a", ["null", "A"]), name="B")
        return record(field("b", inner), field("x", kind), name="A")

    def held(kind: str) -> Any:
        return record(field("u", [both(kind), "null"]), field("b", ["B", "null"]))

    found = reasons(held("int"), held("string"))
    assert [reason.rpartition(" at ")[2] for reason in found] == ["/fields/0/type/0", "/fields/1/type/0"]


def test_too_many_pairs_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of the reader's records with each of the writer's, by fields of the same names."""
    monkeypatch.setattr(compatibility, "MOST_PAIRS", 5_000)
    kinds = ["int", "long"]
    fields = [field(f"f{number}", record(field("v", kinds[number % 2]), name=f"R{number}")) for number in range(3000)]
    with pytest.raises(SchemaRefused, match="they have more than 5,000 pairs of types"):
        reasons(record(*fields), record(*fields))


@pytest.mark.slow
def test_wide_unions_are_compared_by_name() -> None:
    wide = [record(field("f", "int"), name=f"R{number}") for number in range(5000)]
    other = [record(field("f", "int"), name=f"Q{number}") for number in range(5000)]
    began = time.process_time()
    assert reasons(wide, wide) == []
    assert len(reasons(wide, other)) == 5000
    assert time.process_time() - began < 3
