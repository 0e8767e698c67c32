"""Payloads of Protobuf made to hurt, and forms that no serializer writes but every reader takes."""

from __future__ import annotations

import time
from array import array
from base64 import b64encode
from typing import Any

import pytest
from google.protobuf import descriptor_pb2, json_format, struct_pb2

from kcli.proto import protobuf_code as code
from kcli.proto.faults import CUT, FAULTS, FEW_INDEXES, INDEXES, NO_MESSAGE, VARINT, Fault
from kcli.serde.protobuf.reader import IndexedReader, NumberedReader, ProtobufSchema
from kcli.serde.schemas.payloads import Unreadable
from tests.each import each
from tests.effort import tries
from tests.proto.record_cores import CORES
from tests.serde.protobuf.samples import our_json, readers

TEXT = """
syntax = "proto3";
import "google/protobuf/any.proto";
message M {
  int32 i = 1; string s = 2; M m = 3; repeated int32 r = 4; map<string, M> t = 5; oneof o { int32 a = 6; M b = 7; }
  uint64 u = 8; google.protobuf.Any any = 9; repeated bool NAME = 10; double d = 11; bool y = 12;
  repeated string w = 13;
  sint32 z = 14;
}
""".replace("NAME", "x" * 100_000)
SCHEMA = ProtobufSchema(TEXT)
SECONDS = 5.0  # of CPU, for what must take milliseconds


def read(data: bytes) -> Any:
    return our_json(SCHEMA, data)


def nested(tag: int, depth: int) -> bytes:
    data = b""
    for _ in range(depth):
        size = len(data)
        length = bytes([size]) if size < 128 else bytes([size & 127 | 128, size >> 7])
        data = bytes([tag]) + length + data
    return data


ANY = b"\x0a\1M\x12"


@each("syntax", ['syntax = "proto2";', 'edition = "2023"; option features.utf8_validation = NONE;'])
def test_text_of_proto2_that_is_not_utf8_is_replaced_as_by_java(syntax: str) -> None:
    """Google's library for Python hands out its bytes. In proto3 both refuse the message."""
    label = "optional" if "proto2" in syntax else ""
    schema = ProtobufSchema(
        f"{syntax} message M {{{label} string s = 1; repeated string r = 2; map<string, int32> m = 3;}}"
    )
    data = b"\x0a\3a\xffb\x12\3\xed\xa0\xbd\x12\1x\x1a\5\x0a\1\xfe\x10\1"
    assert our_json(schema, data) == {"s": "a\ufffdb", "r": ["\ufffd", "x"], "m": {"\ufffd": 1}}
    with pytest.raises(Unreadable, match="not UTF-8"):
        our_json(ProtobufSchema('edition = "2023"; message M {string s = 1;}'), data[:5])


@each(
    ("data", "says"),
    [
        (b"\x08", "ends in the middle"),
        (b"\x08" + b"\xff" * 10, "longer than its type"),
        (b"\x80" * 11, "longer than its type"),
        (b"\x00", "a number that Protobuf does not have"),
        (b"\xfa\xff\xff\xff\xff\x0f", "a number that Protobuf does not have"),
        (b"\x0e", "wire type that Protobuf does not have"),
        (b"\x0f", "wire type that Protobuf does not have"),
        (b"\x12\x7fab", "ends in the middle"),
        (b"\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\1", "ends in the middle"),
        (b"\x12\1\xff", "not UTF-8"),
        (b"\x59abc", "ends in the middle"),
        (b"\x22\1\xff", "ends in the middle"),
        (b"\xa3\x06", "ends in the middle"),
        (b"\xa3\x06\xac\x06", "a group ends that did not begin"),
        (b"\xa4\x06", "a group ends that did not begin"),
        (b"\xa3\x06" * 200, "nested more than 100 deep"),
        (nested(0x1A, 120), "nested more than 100 deep"),
        (nested(0x2A, 1) + b"\x2a\3\x12\2\x1a", "ends in the middle"),
    ],
)
def test_payloads_that_are_refused(data: bytes, says: str) -> None:
    with pytest.raises(Unreadable, match=says):
        read(data)


@each(
    ("data", "shown"),
    [
        (b"", {}),
        (b"\x08\0\x12\0", {}),
        (b"\x08\1\x08\2", {"i": 2}),
        (b"\x1a\2\x08\1\x1a\4\x12\2ab", {"m": {"i": 1, "s": "ab"}}),
        (b"\x20\1\x22\2\2\3\x20\4", {"r": [1, 2, 3, 4]}),
        (b"\x30\1\x3a\0", {"b": {}}),
        (b"\x3a\2\x08\5\x30\0", {"a": 0}),
        (b"\x3a\2\x08\5\x3a\2\x12\0", {"b": {"i": 5}}),
        (b"\x2a\0\x2a\3\x0a\1k\x2a\3\x0a\1k", {"t": {"": {}, "k": {}}}),
        (b"\xa0\x06\1\xa5\x06abcd\xa1\x06abcdefgh\xa2\x06\1x\xa3\x06\x08\1\xa4\x06\x08\7", {"i": 7}),
        (b"\x0d\1\0\0\0\x08\1", {"i": 1}),
        (b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\1", {"i": -1}),
        (b"\x08\xff\xff\xff\xff\x0f", {"i": -1}),
        (b"\x40\xff\xff\xff\xff\xff\xff\xff\xff\xff\1", {"u": "18446744073709551615"}),
        (b"\x60\x80\x80\1", {"y": True}),
        (b"\x59" + b"\0" * 7 + b"\x80", {"d": -0.0}),
        (b"\x70\3", {"z": -2}),
        (nested(0x1A, 3), {"m": {"m": {"m": {}}}}),
        (b"\x4a\7" + ANY + b"\2\x08\7", {"any": {"@type": "M", "i": 7}}),
        (b"\x4a\7" + ANY + b"\2\x08\xff", {"any": {"@type": "M", "value": "CP8="}}),
        (b"\x4a\3\x0a\1X", {"any": {"@type": "X", "value": ""}}),
    ],
)
def test_what_every_reader_takes(data: bytes, shown: Any) -> None:
    assert read(data) == shown


def test_an_any_within_an_any_is_bounded() -> None:
    data = b""
    for _ in range(150):
        inner = ANY + length(len(data)) + data
        data = b"\x4a" + length(len(inner)) + inner
    with pytest.raises(Unreadable, match="nested more than 100 deep"):
        read(data)


def length(size: int) -> bytes:
    out = bytearray()
    while size > 127:
        out.append(size & 127 | 128)
        size >>= 7
    return bytes([*out, size])


@pytest.mark.long
@each(
    "data",
    [
        b"\x50\0" * tries(500_000),
        b"\x08\1" * tries(500_000) + b"\0",
        b"\x1a\0" * tries(500_000) + b"\0",
        b"\x30\1\x3a\0" * tries(200_000) + b"\0",
        b"\x2a\0" * tries(300_000) + b"\0",
        b"\x52" + length(1_000_000) + bytes(1_000_000),
    ],
    ids=lambda data: data[:4].hex(),
)
def test_large_payloads_take_linear_time(data: bytes) -> None:
    began = time.process_time()
    if data.endswith(b"\0") and data[0] != 0x50 and data[0] != 0x52:
        with pytest.raises(Unreadable):
            read(data)
    else:
        read(data)
    assert time.process_time() - began < SECONDS


def test_json_that_would_be_huge_is_refused() -> None:
    """A name of 100,000 characters for two bytes each: within a message that is repeated."""
    data = b"".join(b"\x2a" + length(len(entry)) + entry for entry in _entries(20_000))
    with pytest.raises(Unreadable, match="larger than 16 MiB"):
        read(data)


def _entries(count: int) -> list[bytes]:
    return [b"\x0a\4%04d" % n + b"\x12\2\x50\1" for n in range(min(count, 9999))]


@each(
    ("data", "shown"),
    [
        (b"\0\x08\7", '{"i":7}'),
        (b"\2\0\x08\7", '{"i":7}'),
        (b"\2\2\x08\7", '{"n":7}'),
        (b"\x80\0\x08\7", '{"i":7}'),
        (b"\4\x0a\2p.\x08", FAULTS[NO_MESSAGE]),
        (b"\5\x0a\3p.N\x08\7", '{"n":7}'),
        (b"\5\x0a\3p.O\x08\7", FAULTS[NO_MESSAGE]),
        (b"\5\x0a\3p-N\x08\7", FAULTS[INDEXES]),
        (b"\2\4\x08\7", FAULTS[NO_MESSAGE]),
        (b"\2", FAULTS[FEW_INDEXES]),
        (b"", FAULTS[FEW_INDEXES]),
        (b"\x82\1" + bytes(65), FAULTS[INDEXES]),
        (b"\1", FAULTS[INDEXES]),
        (b"\0\x08", FAULTS[CUT]),
    ],
)
def test_what_is_before_a_payload(data: bytes, shown: str) -> None:
    """Confluent's indexes, or a name as Apicurio's serializer writes it."""
    schema = ProtobufSchema('syntax = "proto3"; package p; message M { int32 i = 1; } message N { int32 n = 1; }')
    assert in_all_cores(schema, code.BY_INDEXES, IndexedReader(schema)._find, data) == shown


@each(
    ("data", "shown"),
    [(b"\0\x08\7", '{"a":7}'), (b"\1\x08\7", '{"z":7}'), (b"\2", FAULTS[NO_MESSAGE]), (b"\x80", FAULTS[CUT]),
     (b"\xff" * 12, FAULTS[VARINT]), (b"\x81\0", "{}")],
)  # fmt: skip
def test_glues_number_of_a_message(data: bytes, shown: str) -> None:
    schema = ProtobufSchema('syntax = "proto3"; message Z { int32 z = 1; } message A { int32 a = 1; }')
    assert in_all_cores(schema, code.BY_NUMBER, NumberedReader(schema, camel=False)._find, data) == shown


def in_all_cores(schema: ProtobufSchema, front: int, find: Any, data: bytes) -> str:
    """What the record cores make of a payload, alone and as a row of a column."""
    program = schema.program()
    found = set[str]()
    for core in CORES:
        reader = core.ProtobufReader(program.code, program.texts, program.names, front, find)
        try:
            found.add(reader.json(data).decode())
        except Fault as fault:
            found.add(str(fault))
        column = memoryview(array("B", b"x" + data)[:])
        one, zero = array("i", [1]), array("i", [0])
        spans, faults = core.payload_json(column, one, array("i", [len(data)]), zero, zero, [reader])
        found.add(FAULTS[faults[0][1]] if faults else bytes(spans.data).decode())
        assert bytes(spans.data) == data or not faults
    (shown,) = found
    return shown


def test_a_message_is_not_googles_by_its_name_alone() -> None:
    """A schema may declare a google.protobuf.Timestamp of its own, with other fields."""
    for name, field in (("Timestamp", "string seconds"), ("Struct", "int32 fields"), ("Value", "int32 null_value"),
                        ("ListValue", "int32 values"), ("Any", "bytes type_url"), ("Int64Value", "string value"),
                        ("FieldMask", "string paths")):  # fmt: skip
        schema = ProtobufSchema(f'syntax = "proto3"; package google.protobuf; message {name} {{ {field} = 1; }}')
        assert our_json(schema, b"\x0a\1x" if "int32" not in field else b"\x08\1", name)


@each("entry", ["", "\x0a\3key\x18\1 \1(\x01"])
def test_the_entry_of_a_map_without_a_key_or_a_value_is_a_message(entry: str) -> None:
    """A descriptor may say anything."""
    file = descriptor_pb2.FileDescriptorProto(name="x.proto", syntax="proto3")
    message = file.message_type.add(name="M")
    message.nested_type.add(name="E").options.map_entry = True
    if entry:
        message.nested_type[0].field.add(name="key", number=1, label=1, type=1)
        message.nested_type[0].field.add(name="value", number=2, label=1, type=5)
    message.field.add(name="m", number=1, label=3, type=11, type_name=".M.E")
    message.field.add(name="g", number=2, label=1, type=10)
    message.field.add(name="n", number=3, label=1, type=11)
    message.field.add(name="e", number=4, label=1, type=14)
    schema = ProtobufSchema(b64encode(file.SerializeToString()).decode())
    assert our_json(schema, b"\x0a\0\x1a\1x\x20\5", "M") == {"m": [{}], "n": "eA==", "e": 5}


def test_fields_that_the_schema_does_not_have_are_counted() -> None:
    for reader in readers(SCHEMA):
        reader.json(b"\xa0\x06\1\x0d\1\0\0\0\x08\1")
        assert reader.unknown == 2


def test_a_value_that_is_no_finite_number_is_no_text() -> None:
    """Google's libraries do not write its JSON: "Infinity" would be read as a text."""
    head = 'syntax = "proto3"; import "google/protobuf/struct.proto"; '
    schema = ProtobufSchema(head + "message M {google.protobuf.Value v = 1; google.protobuf.ListValue l = 2;}")
    for number, text in ((float("inf"), "Infinity"), (float("-inf"), "-Infinity"), (float("nan"), "NaN")):
        value = struct_pb2.Value(number_value=number)
        with pytest.raises(ValueError, match="Fail to serialize"):
            json_format.MessageToJson(value)
        data = value.SerializeToString()
        assert our_json(schema, b"\x0a\x09" + data) == {"v": {"number_value": text}}
    listed = struct_pb2.ListValue(
        values=[value, struct_pb2.Value(string_value="NaN"), struct_pb2.Value(number_value=1)]
    )
    data = listed.SerializeToString()
    assert our_json(schema, bytes((0x12, len(data))) + data) == {"l": [{"number_value": "NaN"}, "NaN", 1.0]}
