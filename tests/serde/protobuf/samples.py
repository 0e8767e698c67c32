"""Schemas compiled by protoc (grpcio-tools), and Google's messages of them: random ones, and their JSON."""

from __future__ import annotations

import json
import tempfile
from base64 import b64encode
from functools import cache
from pathlib import Path
from typing import Any

import grpc_tools
from google.protobuf import descriptor_pb2, json_format
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from grpc_tools import protoc
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from kcli.proto import protobuf_code
from kcli.proto.faults import FAULTS, Fault
from kcli.serde.protobuf.reader import ProtobufSchema
from kcli.serde.schemas.payloads import Unreadable
from tests.effort import tries
from tests.proto.record_cores import CORES

ORDER = """
syntax = "proto3";
package shop;
import "google/protobuf/timestamp.proto";
import "google/protobuf/duration.proto";
import "google/protobuf/any.proto";
import "google/protobuf/struct.proto";
import "google/protobuf/wrappers.proto";
import "google/protobuf/field_mask.proto";
import "google/protobuf/empty.proto";
/* A shop's order;
   with everything. */
option java_package = "com.shop"; // and an option
enum State { option allow_alias = true; NEW = 0; PAID = 1; DONE = 1; LOST = -3; }
message Order {
  reserved 100 to 110, 200; reserved "old";
  int64 order_id = 1; uint64 u64 = 2; sint64 s64 = 3; fixed64 f64 = 4; sfixed64 sf64 = 5;
  int32 i32 = 6; uint32 u32 = 7; sint32 s32 = 8; fixed32 f32 = 9; sfixed32 sf32 = 10;
  double amount = 11; float half = 12; bool paid = 13; string who = 14; bytes raw = 15;
  State state = 16;
  optional int32 maybe = 17;
  Person person = 18;
  message Person { string full_name = 1 [json_name = "Name"]; repeated Person friends = 2;
    message Deep { int32 x = 1; } }
  repeated int32 packed = 19; repeated sint64 loose = 20 [packed = false, deprecated = true];
  repeated string tags = 21; repeated Person people = 22; repeated State states = 23;
  map<string, int32> counts = 24; map<int64, Person> by_id = 25;
  map<bool, State> flags = 26; map<fixed32, double> w = 27;
  oneof choice { string text = 28; int32 number = 29; Person whom = 30; google.protobuf.Empty none = 31; }
  google.protobuf.Timestamp at = 32; google.protobuf.Duration took = 33; google.protobuf.Any extra = 34;
  google.protobuf.Struct data = 35; google.protobuf.Value value = 36; google.protobuf.ListValue list = 37;
  google.protobuf.Int64Value wide = 38; google.protobuf.StringValue word = 39; google.protobuf.BytesValue blob = 40;
  google.protobuf.FloatValue single = 41; google.protobuf.BoolValue yes = 42; google.protobuf.FieldMask mask = 43;
  google.protobuf.NullValue nil = 44; repeated google.protobuf.Timestamp times = 45; repeated bytes blobs = 46;
  .shop.Order.Person.Deep deep = 47; repeated double doubles = 48; repeated bool bools = 49; Order again = 536870911;
}
message Second { message First { int32 a = 1; } int32 b = 1; }
service Shop { rpc Buy (Order) returns (stream Second) { option deprecated = true; } }
"""
OLD = """
syntax = 'proto2';
package old.shop;
message Item {
  required string name = 1 [default = "x\\"};"];
  optional int32 count = 2 [default = -7];
  repeated int32 sizes = 3; repeated int32 tight = 4 [packed=true];
  optional group Place = 5 { optional string street = 1; repeated group Floor = 2 { optional int32 level = 1; } }
  enum Color { RED = 1; BLUE = 0x10; }
  optional Color color = 6; repeated Color colors = 7; enum Zero { NONE = 0; SOME = 5; } map<string, Zero> named = 8;
  oneof what { int32 a = 9; group Other = 10 { optional bool b = 1; } }
  extensions 100 to max;
  extend Item { optional string note = 101; }
}
extend Item { repeated int32 more = 100; optional Item inner = 102; }
"""
EDITION = """
edition = "2023";
package ed;
option features.field_presence = IMPLICIT;
enum Closed { option features.enum_type = CLOSED; ZERO = 0; ONE = 1; }
message M {
  int32 plain = 1; int32 explicit = 2 [features.field_presence = EXPLICIT];
  M delimited = 3 [features.message_encoding = DELIMITED]; repeated int32 loose = 4
    [features.repeated_field_encoding = EXPANDED];
  Closed closed = 5 [features.field_presence = EXPLICIT]; repeated Closed several = 6;
}
"""


@cache
def descriptors(*files: str) -> tuple[descriptor_pb2.FileDescriptorProto, ...]:
    """The texts as protoc compiles them, under the names 0.proto, 1.proto, …: each may import those before."""
    with tempfile.TemporaryDirectory() as folder:
        for number, text in enumerate(files):
            Path(folder, f"{number}.proto").write_text(text)
        target = Path(folder, "set")
        include = Path(grpc_tools.__file__).with_name("_proto")
        words = ["protoc", f"-I{folder}", f"-I{include}", "--include_imports", f"--descriptor_set_out={target}"]
        assert protoc.main([*words, *(f"{number}.proto" for number in range(len(files)))]) == 0
        found = descriptor_pb2.FileDescriptorSet.FromString(target.read_bytes())
    return tuple(found.file)


@cache
def pool(*files: str) -> DescriptorPool:
    made = DescriptorPool()
    for file in descriptors(*files):
        made.Add(file)
    return made


def serialized(*files: str) -> str:
    """The last file's descriptor as base64."""
    name = f"{len(files) - 1}.proto"
    (file,) = (file for file in descriptors(*files) if file.name == name)
    return b64encode(file.SerializeToString()).decode()


def type_of(name: str, *files: str) -> Any:
    return GetMessageClass(pool(*files).FindMessageTypeByName(name))


def readers(schema: ProtobufSchema, name: str = "", *, camel: bool = False) -> list[Any]:
    """A reader of each record core for bare payloads of a message."""
    program = schema.program(camel=camel)
    number = program.numbers[id(schema.message(name))]
    made = program.code, program.texts, program.names, protobuf_code.BARE
    return [core.ProtobufReader(*made, lambda *_: number) for core in CORES]


def our_json(schema: ProtobufSchema, data: bytes, name: str = "", *, camel: bool = False) -> Any:
    """A payload as both record cores show it, to the byte. Raises Unreadable, for which they have the same reason."""
    found: list[bytes | int] = []
    for reader in readers(schema, name, camel=camel):
        try:
            found.append(reader.json(data))
        except Fault as fault:
            found.append(fault.number)
        found.append(reader.unknown)
    assert found == found[:2] * len(CORES), (found, data)
    if isinstance(found[0], int):
        raise Unreadable(FAULTS[found[0]])
    return json.loads(found[0])


def their_json(message: Message, *files: str, camel: bool = False) -> Any:
    text = json_format.MessageToJson(message, preserving_proto_field_name=not camel, descriptor_pool=pool(*files))
    return json.loads(text, parse_float=float)


RANDOM = settings(
    max_examples=tries(60),
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate],
)
"""Shrinking a message takes minutes."""
KIND = FieldDescriptor
_RANGES = {
    **dict.fromkeys((KIND.TYPE_INT32, KIND.TYPE_SINT32, KIND.TYPE_SFIXED32), (-(2**31), 2**31 - 1)),
    **dict.fromkeys((KIND.TYPE_INT64, KIND.TYPE_SINT64, KIND.TYPE_SFIXED64), (-(2**63), 2**63 - 1)),
    **dict.fromkeys((KIND.TYPE_UINT32, KIND.TYPE_FIXED32), (0, 2**32 - 1)),
    **dict.fromkeys((KIND.TYPE_UINT64, KIND.TYPE_FIXED64), (0, 2**64 - 1)),
}
_SINGLES = st.floats(width=32, allow_subnormal=False)
"""Google writes at least six digits where they say no more: 1.4013e-45 for 1e-45."""
_TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


def scalars(field: FieldDescriptor) -> st.SearchStrategy[Any]:
    if field.type in _RANGES:
        return st.one_of(st.just(0), st.integers(*_RANGES[field.type]))
    if field.type == KIND.TYPE_ENUM:
        numbers = [value.number for value in field.enum_type.values]
        if field.enum_type.full_name == "google.protobuf.NullValue":
            return st.just(0)
        return st.sampled_from(numbers if field.enum_type.is_closed else [*numbers, 77])
    return {
        KIND.TYPE_DOUBLE: st.floats(), KIND.TYPE_FLOAT: _SINGLES, KIND.TYPE_BOOL: st.booleans(),
        KIND.TYPE_STRING: _TEXTS, KIND.TYPE_BYTES: st.binary(max_size=5),
    }[field.type]  # fmt: skip


@st.composite
def fill(draw: st.DrawFn, message: Message, depth: int = 2) -> Message:
    """Random fields into a message; well-known types hold what has a JSON."""
    name = message.DESCRIPTOR.full_name
    if name == "google.protobuf.Any":
        inner = draw(st.sampled_from(["shop.Second", "google.protobuf.Timestamp"]))
        made = draw(fill(type_of(inner, ORDER)(), 1))
        message.Pack(made)
        return message
    if name in ("google.protobuf.Timestamp", "google.protobuf.Duration"):
        least, most = (-62135596800, 253402300799) if name.endswith("Timestamp") else (0, 315576000000)
        message.seconds = draw(st.integers(least, most))
        nanos = st.sampled_from([0, 1, 5000, 120_000_000, 999_999_999])
        message.nanos = draw(nanos)
        return message
    if name == "google.protobuf.FieldMask":
        message.paths.extend(draw(st.lists(st.sampled_from(["a_b", "c.d_e", "x"]), max_size=2)))
        return message
    if name in ("google.protobuf.Struct", "google.protobuf.Value", "google.protobuf.ListValue"):
        json_format.ParseDict(draw(_structs(name)), message)
        return message
    for field in message.DESCRIPTOR.fields:
        if draw(st.integers(0, 2)) == 0 or field.is_required:
            _set(draw, message, field, depth)
    return message


def _structs(name: str) -> st.SearchStrategy[Any]:
    values = st.recursive(
        st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | _TEXTS,
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_TEXTS, inner, max_size=2), max_leaves=4,
    )  # fmt: skip
    if name.endswith("Struct"):
        return st.dictionaries(_TEXTS, values, max_size=2)
    return st.lists(values, max_size=2) if name.endswith("ListValue") else values


def _set(draw: st.DrawFn, message: Message, field: FieldDescriptor, depth: int) -> None:
    kind: Descriptor | None = field.message_type
    target = getattr(message, field.name)
    if kind is not None and kind.GetOptions().map_entry:
        key, value = kind.fields
        for _ in range(draw(st.integers(0, 2))):
            name = draw(scalars(key))
            if value.message_type is None:
                target[name] = draw(scalars(value))
            elif depth:
                draw(fill(target[name], depth - 1))
    elif field.is_repeated:
        for _ in range(draw(st.integers(0, 2))):
            if kind is None:
                target.append(draw(scalars(field)))
            elif depth:
                draw(fill(target.add(), depth - 1))
    elif kind is None:
        setattr(message, field.name, draw(scalars(field)))
    elif depth:
        target.SetInParent()
        draw(fill(target, depth - 1))


def messages(name: str, *files: str) -> st.SearchStrategy[Message]:
    return st.builds(type_of(name, *files)).flatmap(fill)
