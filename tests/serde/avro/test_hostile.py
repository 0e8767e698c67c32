"""Payloads and schemas made to hurt: each is refused at once, by both cores with the same words."""

from __future__ import annotations

import json
import time
from types import ModuleType
from typing import Any

import pytest

from kcli.proto import faults
from kcli.schemas import SchemaRefused
from kcli.serde.avro.parse import parse
from kcli.serde.avro.program import avro_reader
from tests.each import each
from tests.proto.record_cores import CORES
from tests.serde.avro.samples import read, written

core = each("core", CORES, ids=lambda core: core.__name__.rpartition(".")[2])
SECONDS = 5.0  # of CPU, for what must take milliseconds


def record(*fields: Any, name: str = "R") -> Any:
    return {
        "type": "record",
        "name": name,
        "fields": [{"name": f"f{n}", "type": type} for n, type in enumerate(fields)],
    }


def array_of(items: Any) -> Any:
    return {"type": "array", "items": items}


LIST = {"type": "record", "name": "L", "fields": [{"name": "n", "type": ["null", "L"]}]}
LONG_NAME = {"type": "record", "name": "N", "fields": [{"name": "x" * 100_000, "type": "boolean"}]}


@pytest.mark.slow
@core
@each(
    ("schema", "payload", "fault"),
    [
        ("long", b"", faults.CUT),
        ("long", b"\xff" * 10, faults.VARINT),
        ("int", b"\xff\xff\xff\xff\x1f", faults.VARINT),
        ("int", b"\x80" * 5, faults.VARINT),
        ("boolean", b"\2", faults.NO_BOOLEAN),
        ("string", b"\1", faults.NEGATIVE),
        ("string", b"\4a", faults.CUT),
        ("string", b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\1a", faults.CUT),
        ("null", b"\0", faults.LEFT),
        (["null", "int"], b"\4", faults.INDEX),
        (["null", "int"], b"\1", faults.INDEX),
        ({"type": "enum", "name": "E", "symbols": ["A"]}, b"\2", faults.INDEX),
        (array_of("int"), b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\1", faults.BLOCK),
        (array_of("int"), b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\1\0", faults.BLOCK),
        (array_of("int"), b"\6\2\2", faults.BLOCK),
        (array_of("int"), b"\3\xc8\1\2\2\0", faults.CUT),
        (array_of("null"), b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\1\0", faults.NOTHING),
        (array_of(record(*["null"] * 1000)), b"\x90\x4e\0", faults.NOTHING),
        (
            array_of({"type": "fixed", "name": "F", "size": 0}),
            b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\1\0",
            faults.NOTHING,
        ),
        (LIST, b"\2" * 5000 + b"\0", faults.DEEP),
        (array_of(LONG_NAME), b"\xa0\x8d\6" + b"\1" * 50_000 + b"\0", faults.LARGE),
        ({"type": "fixed", "name": "F", "size": 2**31 - 1}, b"\0", faults.CUT),
        ({"type": "bytes", "logicalType": "decimal", "precision": 9}, b"", faults.CUT),
        (
            record({"type": "bytes", "logicalType": "decimal", "precision": 9}),
            b"\x82\x10" + b"\1" * 1025,
            faults.DIGITS,
        ),
    ],
)
def test_a_hostile_payload_is_refused_at_once(core: ModuleType, schema: Any, payload: bytes, fault: int) -> None:
    begun = time.process_time()
    wanted = [fault] if schema != {"type": "bytes", "logicalType": "decimal", "precision": 9} else ['{"base64":""}']
    assert read(core, schema, payload) == wanted
    assert time.process_time() - begun < SECONDS


@core
def test_a_list_of_256_records_is_read(core: ModuleType) -> None:
    (text,) = read(core, LIST, b"\2" * 255 + b"\0")
    assert isinstance(text, str)
    assert text.count("{") == 256


@core
def test_a_million_nulls_are_read(core: ModuleType) -> None:
    (text,) = read(core, array_of("null"), written(array_of("null"), [None] * 1000))
    assert json.loads(str(text)) == [None] * 1000


def test_every_fault_has_its_words() -> None:
    assert len(faults.FAULTS) - 1 == faults.RANGE
    assert len(set(faults.FAULTS)) == len(faults.FAULTS)


def nested(depth: int) -> str:
    return '{"type":"array","items":' * depth + '"int"' + "}" * depth


@each(
    ("text", "says"),
    [
        ("", "its text is not JSON"),
        ("{", "its text is not JSON"),
        ("7", "a type is a name, a list or an object, not 7"),
        ('"x"', "unknown type x"),
        ("{}", "a type has no name"),
        ('{"type":"array"}', "an array has no items"),
        ('{"type":"record","name":"R"}', "the record R has no list of fields"),
        ('{"type":"record","fields":[]}', "a type record has no name"),
        ('{"type":"record","name":"R","fields":[{"name":"a"}]}', "the field a of R has no type"),
        ('{"type":"record","name":"R","fields":[{"name":"a","type":"int"},{"name":"a","type":"int"}]}', "two fields"),
        ('{"type":"fixed","name":"F","size":-1}', "the fixed F has no size"),
        ('{"type":"enum","name":"E","symbols":[1]}', "the enum E has no list of symbols"),
        ('["int","int"]', "a union has two branches int"),
        ('["int",["null"]]', "a union is a branch of a union"),
        (nested(257), "types are nested more than 256 deep"),
        (nested(5000), "types are nested more than 256 deep"),
        (
            json.dumps([{"type": "fixed", "name": f"F{n}", "size": 1} for n in range(10_001)]),
            "more than 10000 named types",
        ),
        (" " * (4 << 20) + '"int"', "longer than 4 MiB"),
    ],
)
def test_a_schema_that_is_none_says_why(text: str, says: str) -> None:
    begun = time.process_time()
    with pytest.raises(SchemaRefused, match=says):
        parse(text)
    assert time.process_time() - begun < SECONDS


def test_a_chain_of_thousands_of_types_is_compiled_without_recursion() -> None:
    chain: list[Any] = [{"type": "record", "name": "T0", "fields": []}]
    for number in range(1, 9_000):
        chain.append(record(f"T{number - 1}", name=f"T{number}"))
    begun = time.process_time()
    avro_reader(parse(json.dumps(chain)))
    assert time.process_time() - begun < SECONDS


def test_defaults_that_multiply_are_refused() -> None:
    names = [record(*["int"] * 10, name="T0")]
    for number in range(1, 9):
        names.append(record(*[f"T{number - 1}"] * 10, name=f"T{number}"))
    for one in names:
        for field in one["fields"]:
            field["default"] = 0 if field["type"] == "int" else {}
    definitions = [json.dumps(one) for one in names]
    reader = {"type": "record", "name": "R", "fields": [{"name": "x", "type": "T8", "default": {}}]}
    begun = time.process_time()
    with pytest.raises(SchemaRefused, match="the default of the field x"):
        avro_reader(parse(json.dumps(record(name="R"))), parse(json.dumps(reader), definitions))
    assert time.process_time() - begun < SECONDS


@pytest.mark.slow
def test_a_record_of_many_fields_is_read_as_another_in_linear_time() -> None:
    wide = parse(json.dumps(record(*["int"] * 30_000)))
    begun = time.process_time()
    avro_reader(wide, parse(json.dumps(record(*["long"] * 30_000))))
    assert time.process_time() - begun < SECONDS
