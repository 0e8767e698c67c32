"""Schemas of Protobuf: texts and descriptors, what they import, and those that are refused."""

from __future__ import annotations

import json
import time
from typing import Any

import google.type
import pytest
from google.protobuf.descriptor import Descriptor, EnumDescriptor
from google.protobuf.descriptor_pool import Default

from kcli.schemas import SchemaRefused
from kcli.serde.protobuf.indexes import read_indexes
from kcli.serde.protobuf.reader import IndexedReader, ProtobufReader, ProtobufSchema
from kcli.serde.protobuf.schema.types import Enum, Message, message_at
from kcli.serde.schemas.payloads import Unreadable
from tests.each import each
from tests.serde.protobuf.samples import OLD, ORDER, descriptors, serialized

SECONDS = 5.0  # of CPU, for what must take milliseconds
THREE = 'syntax = "proto3";'


def read(text: str, data: bytes, *references: str, message: str = "") -> Any:
    schema = ProtobufSchema(text, references)
    return json.loads(ProtobufReader(schema, schema.message(message)).json(data))


def test_a_text_and_its_descriptor_are_the_same_types() -> None:
    for text in (ORDER, OLD):
        one, other = ProtobufSchema(text), ProtobufSchema(serialized(text))
        known = _shape(other)  # of a descriptor, which does not show its imports, all that are built in
        assert _shape(one) == {name: known[name] for name in one.types}


def _shape(schema: ProtobufSchema) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, type in schema.types.items():
        if isinstance(type, Enum):
            found[name] = type.names, type.numbers, type.closed
        else:
            found[name] = type.entry, sorted(
                (
                    number, one.name, one.json_name, one.kind, one.label == "repeated", one.oneof, one.packed,
                    type.entry or one.presence, one.type and one.type.name,
                )
                for number, one in type.fields.items()
            )  # fmt: skip
    return found


def test_files_of_google_and_confluent_are_built_in() -> None:
    from confluent_kafka.schema_registry.confluent import meta_pb2
    from confluent_kafka.schema_registry.confluent.type import decimal_pb2
    from google.protobuf import api_pb2, struct_pb2, wrappers_pb2
    from google.type import datetime_pb2, interval_pb2, money_pb2, phone_number_pb2, postal_address_pb2

    assert google.type
    assert meta_pb2.DESCRIPTOR
    assert decimal_pb2.DESCRIPTOR
    assert api_pb2
    assert struct_pb2
    assert wrappers_pb2
    text = THREE + 'import "google/protobuf/any.proto"; import "google/type/money.proto"; message M {}'
    known = ProtobufSchema(text).types
    assert len(known) > 50
    assert datetime_pb2
    assert interval_pb2
    assert money_pb2
    assert phone_number_pb2
    assert postal_address_pb2
    compared = 0
    for name, type in known.items():
        try:
            theirs: Any = (
                Default().FindEnumTypeByName(name) if isinstance(type, Enum) else Default().FindMessageTypeByName(name)
            )
        except KeyError:
            continue
        compared += 1
        if isinstance(theirs, EnumDescriptor):
            assert isinstance(type, Enum)
            assert type.numbers == {value.name: value.number for value in theirs.values}
        elif not name.endswith(("Proto", "Options", "FeatureSet")):  # of the descriptor only what is read
            assert isinstance(theirs, Descriptor)
            assert isinstance(type, Message)
            assert {(one.name, one.number, one.kind, one.repeated) for one in type.fields.values()} == {
                (one.name, one.number, one.type, one.is_repeated) for one in theirs.fields
            }
    assert compared > 45


def test_imports_are_the_references() -> None:
    base = THREE + "package a.b; message Base { int32 x = 1; message In { int32 y = 1; } enum E { Z = 0; O = 1; } }"
    using = THREE + (
        'package a; import "base.proto"; message Use { b.Base base = 1; b.Base.In in = 2; .a.b.Base.E e = 3; }'
    )
    payload = b"\x0a\2\x08\7\x12\2\x08\1\x18\1"
    shown = {"base": {"x": 7}, "in": {"y": 1}, "e": "O"}
    assert read(using, payload, base) == shown
    using = using.replace('import "base.proto"', 'import "0.proto"')
    base64, of_base = serialized(base, using), serialized(base)
    assert read(base64, payload, of_base) == read(base64, payload, base) == read(using, payload, of_base) == shown
    with pytest.raises(SchemaRefused, match=r"b\.Base, the type of base, is in none of its files"):
        ProtobufSchema(using)


def test_the_innermost_scope_counts() -> None:
    text = THREE + "package p; message A { int32 x = 1; } message B { message A { int32 y = 1; } A a = 1; p.A b = 2; }"
    assert read(text, b"\x0a\2\x08\1\x12\2\x08\1", message="B") == {"a": {"y": 1}, "b": {"x": 1}}


def test_messages_by_name() -> None:
    schema = ProtobufSchema(ORDER)
    assert schema.message("") is schema.message("Order") is schema.message("shop.Order")
    assert schema.message("shop.Order.Person").name == "shop.Order.Person"
    with pytest.raises(SchemaRefused, match=r"no message shop\.Ordre; did you mean shop\.Order"):
        schema.message("shop.Ordre")


def test_indexes_count_messages_as_java_does_else_as_python() -> None:
    """The entry of a map is a message of a descriptor, and none of a text."""
    text = THREE + "message M { map<string, int32> a = 1; message One {} map<string, int32> b = 2; message Two {} }"
    for form in (text, serialized(text)):
        messages = ProtobufSchema(form).messages
        names = [found and found.name for found in (message_at(messages, (0, number)) for number in range(5))]
        assert names == ["M.One", "M.Two", "M.BEntry", "M.Two", None]
    (file,) = descriptors(text)
    assert [one.name for one in file.message_type[0].nested_type] == ["AEntry", "One", "BEntry", "Two"]


@each(("path", "data"), [((0,), b"\0"), ((1,), b"\2\2"), ((1, 0), b"\4\2\0"), ((300, 2, 1), b"\6\xd8\4\4\2")])
def test_indexes_are_zigzag_varints(path: tuple[int, ...], data: bytes) -> None:
    assert read_indexes(data + b"rest") == (path, len(data))
    for end in range(len(data)):
        with pytest.raises(Unreadable):
            read_indexes(data[:end])


def test_the_first_message_may_be_written_long() -> None:
    assert read_indexes(b"\2\0x") == ((0,), 2)


@each("data", [b"\1", b"\x82\1" + bytes(65), b"\2\1", b"\xff\xff\xff\xff\xff\xff"])
def test_indexes_that_are_none(data: bytes) -> None:
    with pytest.raises(Unreadable):
        IndexedReader(ProtobufSchema(ORDER)).json(data)


@each(
    ("text", "says"),
    [
        ("", "it declares no message"),
        (THREE, "it declares no message"),
        ("message M {", "line 1: a name is missing before the end"),
        ("message M }{", r"line 1: \{ is missing before }"),
        ("\n\nmessage M { int32 = 1; }", "line 3: a name is missing before ="),
        ("message M { int32 a = b; }", "a number is missing before b"),
        ("message M { int32 a = 0; }", "0 is not a valid number for M.a"),
        ("message M { int32 a = 1; int32 b = 1; }", "the number 1 twice: a and b"),
        ("message M { Other a = 1; }", "Other, the type of a, is in none of its files"),
        ("message M { map<float, int32> a = 1; }", "float is not a valid type for map keys"),
        ('syntax = "proto9"; message M {}', "the syntax proto9 is unknown"),
        ("message M {} ~", "unexpected '~'"),
        ("message M {} /* no end", "unexpected"),
        ("hello { }", "line 1: unexpected hello"),
        ("aGVsbG8=", "its descriptor cannot be read"),
        ("a b c", "neither the text of a .proto file nor a descriptor"),
        ("message A {" * 40 + "}" * 40, "nested more than 32 deep"),
        ("message M { int32 a = 1; }" + " " * (4 << 20), "longer than 4 MiB"),
        ("".join(f"message M{n} {{}}" for n in range(10_001)), "more than 10,000 types"),
    ],
)
def test_schemas_that_are_refused(text: str, says: str) -> None:
    with pytest.raises(SchemaRefused, match=f"the Protobuf schema is not used: .*({says})"):
        ProtobufSchema(text).message("")


@pytest.mark.slow
@each(
    "text",
    [
        "message M {" + "/*" * 200_000,
        "message M { int32 a = 1 [default = " + "(" * 500_000,
        '"' * 1_000_000,
        "a" * 1_000_000 + "b",
        "message M { option x = " + "{" * 500_000 + "; }",
        "\\" * 1_000_000,
        "message M {" + "x." * 300_000,
    ],
    ids=lambda text: text[:12],
)
def test_schemas_made_to_hurt_are_refused_at_once(text: str) -> None:
    began = time.process_time()
    with pytest.raises(SchemaRefused):
        ProtobufSchema(text)
    assert time.process_time() - began < SECONDS
