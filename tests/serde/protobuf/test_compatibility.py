"""Which Protobuf schema reads what another one wrote."""

from __future__ import annotations

from kcli.serde.avro.compatibility import check
from kcli.serde.protobuf.compatibility import incompatibilities
from kcli.serde.protobuf.reader import ProtobufSchema
from tests.each import each


def schema(body: str, syntax: str = "proto3") -> ProtobufSchema:
    return ProtobufSchema(f'syntax = "{syntax}"; package p; enum E {{ A = 0; }} message N {{ int32 x = 1; }} {body}')


def types(before: str, now: str, syntax: str = "proto3") -> list[tuple[str, str]]:
    found = incompatibilities(schema(now, syntax), schema(before, syntax))
    return [(reason.type, reason.location) for reason in found]


@each(
    ("before", "now"),
    [
        ("int32 a = 1;", "int64 b = 1; string c = 2;"),
        ("int32 a = 1;", "bool a = 1;"),
        ("E a = 1;", "uint32 a = 1;"),
        ("string a = 1;", "bytes a = 1;"),
        ("string a = 1;", "repeated string a = 1;"),
        ("repeated N a = 1;", "N a = 1;"),
        ("fixed32 a = 1; sint32 b = 2;", "sfixed32 a = 1; sint64 b = 2;"),
        ("map<string, int32> a = 1;", "map<string, int64> a = 1;"),
        ("int32 a = 1; int32 b = 2;", "int32 a = 1;"),
        ("int32 a = 1;", "oneof o { int32 a = 1; int32 b = 2; }"),
    ],
)
def test_what_is_compatible(before: str, now: str) -> None:
    assert types(f"message M {{ {before} }}", f"message M {{ {now} }}") == []


@each(
    ("before", "now", "found"),
    [
        ("int32 a = 1;", "string a = 1;", ("FIELD_KIND_CHANGED", "/M/1")),
        ("int32 a = 1;", "sint32 a = 1;", ("FIELD_KIND_CHANGED", "/M/1")),
        ("int32 a = 1;", "fixed32 a = 1;", ("FIELD_KIND_CHANGED", "/M/1")),
        ("N a = 1;", "bytes a = 1;", ("FIELD_KIND_CHANGED", "/M/1")),
        ("N a = 1;", "M a = 1;", ("FIELD_KIND_CHANGED", "/M/1")),
        ("map<string, int32> a = 1;", "map<string, string> a = 1;", ("FIELD_KIND_CHANGED", "/M/1")),
        ("map<string, N> a = 1;", "repeated N a = 1;", ("FIELD_KIND_CHANGED", "/M/1")),
        ("int32 a = 1;", "repeated int32 a = 1;", ("FIELD_NUMERIC_LABEL_CHANGED", "/M/1")),
        ("oneof o { int32 a = 1; int32 b = 2; }", "oneof o { int32 a = 1; }", ("ONEOF_FIELD_REMOVED", "/M/2")),
        ("int32 a = 1; int32 b = 2;", "oneof o { int32 a = 1; int32 b = 2; }",
         ("MULTIPLE_FIELDS_MOVED_TO_ONEOF", "/M")),
        ("message I { int32 x = 1; }", "int32 a = 1;", ("MESSAGE_REMOVED", "/M/I")),
    ],
)  # fmt: skip
def test_what_is_not(before: str, now: str, found: tuple[str, str]) -> None:
    assert types(f"message M {{ {before} }}", f"message M {{ {now} }}") == [found]


def test_messages_and_required_fields() -> None:
    assert types("message M {}", "") == [("MESSAGE_REMOVED", "/M")]
    required = "message M { required int32 a = 1; }"
    assert types("message M {}", required, "proto2") == [("REQUIRED_FIELD_ADDED", "/M/1")]
    assert types(required, "message M {}", "proto2") == [("REQUIRED_FIELD_REMOVED", "/M/1")]
    moved = ProtobufSchema('syntax = "proto3"; package q; message M { string a = 1; }')
    (reason,) = incompatibilities(moved, ProtobufSchema('syntax = "proto3"; message M { int32 a = 1; }'))
    assert reason.message == "the field a is string, and was int32"


def test_a_level_says_in_which_direction() -> None:
    old, new = schema("message M {}"), schema("message M {} message More {}")
    assert check("BACKWARD", new, [old], incompatibilities) == []
    (violation,) = check("FULL", new, [old], incompatibilities)
    assert (violation.direction, violation.reason.type) == ("forward", "MESSAGE_REMOVED")
