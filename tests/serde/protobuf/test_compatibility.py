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
        ("oneof o { int32 a = 1; int32 b = 2; }", "int32 a = 1; oneof o { int32 b = 2; }"),
        ("oneof o { int32 a = 1; int32 b = 2; }", "oneof p { int32 a = 1; int32 b = 2; }"),
        ("oneof o { int32 a = 1; int32 b = 2; }", "int32 c = 3;"),
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
        ("oneof o { int32 a = 1; int32 b = 2; }", "oneof p { int32 a = 1; }", ("ONEOF_FIELD_REMOVED", "/M/2")),
        ("oneof o { int32 a = 1; } int32 b = 2;", "oneof o { int32 a = 1; int32 b = 2; }",
         ("FIELD_MOVED_TO_EXISTING_ONEOF", "/M")),
        ("oneof o { int32 a = 1; } oneof p { int32 b = 2; }", "oneof q { int32 a = 1; int32 b = 2; }",
         ("FIELD_MOVED_TO_EXISTING_ONEOF", "/M")),
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
    package, kind = incompatibilities(moved, ProtobufSchema('syntax = "proto3"; message M { int32 a = 1; }'))
    assert (package.type, package.message) == ("PACKAGE_CHANGED", "the package is q, but was none")
    assert kind.message == "the field a is string, and was int32"
    nested = ['syntax = "proto3"; message M { message I { int32 a = 1; } }']
    nested.append(nested[0].replace("message M", "package q; message M"))
    (reason,) = incompatibilities(*map(ProtobufSchema, reversed(nested)))
    assert reason.type == "PACKAGE_CHANGED"
    away = ProtobufSchema('syntax = "proto3"; import "m.proto"; message N {M m = 1;}', [nested[0]])
    (reason,) = incompatibilities(away, ProtobufSchema(nested[0]))
    assert reason.type == "MESSAGE_REMOVED", "a file that imports a message has it under no index"


def test_a_level_says_in_which_direction() -> None:
    old, new = schema("message M {}"), schema("message M {} message More {}")
    assert check("BACKWARD", new, [old], incompatibilities) == []
    (violation,) = check("FULL", new, [old], incompatibilities)
    assert (violation.direction, violation.reason.type) == ("forward", "MESSAGE_REMOVED")


def test_messages_of_imported_files_are_compared() -> None:
    """Also where they contain themselves, and where only the values of a map are of their type."""
    text = 'syntax = "proto3"; import "n.proto"; message M { FIELD }'
    first, second = ('syntax = "proto3"; package n; message N { TYPE x = 1; N n = 2; }'.replace("TYPE", type)
                     for type in ("int32", "string"))  # fmt: skip
    for field in ("n.N a = 1;", "map<int32, n.N> a = 1; n.N b = 2;"):
        before, now = (ProtobufSchema(text.replace("FIELD", field), [imported]) for imported in (first, second))
        (reason,) = incompatibilities(now, before)
        assert (reason.type, reason.location) == ("FIELD_KIND_CHANGED", "/M/1/N/1")
        assert incompatibilities(before, before) == []
