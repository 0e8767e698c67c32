"""Payloads of Protobuf made to hurt, and forms that no serializer writes but every reader takes."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from kcli.serde.protobuf.reader import ProtobufReader, ProtobufSchema
from kcli.serde.schemas.payloads import Unreadable
from tests.each import each

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
    return json.loads(ProtobufReader(SCHEMA, SCHEMA.messages[0]).json(data))


def nested(tag: int, depth: int) -> bytes:
    data = b""
    for _ in range(depth):
        size = len(data)
        length = bytes([size]) if size < 128 else bytes([size & 127 | 128, size >> 7])
        data = bytes([tag]) + length + data
    return data


ANY = b"\x0a\1M\x12"


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


@each(
    "data",
    [
        b"\x50\0" * 500_000,
        b"\x08\1" * 500_000 + b"\0",
        b"\x1a\0" * 500_000 + b"\0",
        b"\x30\1\x3a\0" * 200_000 + b"\0",
        b"\x2a\0" * 300_000 + b"\0",
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


def test_fields_that_the_schema_does_not_have_are_counted() -> None:
    reader = ProtobufReader(SCHEMA, SCHEMA.messages[0])
    reader.json(b"\xa0\x06\1\x0d\1\0\0\0\x08\1")
    assert reader.unknown == 2
