"""Texts as descriptors: what protoc makes of them, but for what says nothing about payloads."""

from __future__ import annotations

from base64 import b64decode
from typing import Any

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool

from kcli.schemas import SchemaRefused
from kcli.serde.protobuf.reader import ProtobufSchema
from kcli.serde.protobuf.serialized import NAME, serialized
from tests.each import each
from tests.serde.protobuf.samples import EDITION, OLD, ORDER, descriptors
from tests.serde.protobuf.samples import serialized as theirs
from tests.serde.protobuf.test_schema import _shape

PLAIN = "message A { enum E { X = 0; Y = -2; } repeated E e = 1; oneof o { A a = 2; } }"
OPTIONAL = 'syntax = "proto3"; message A { optional int32 x = 1; oneof o { string s = 2; } optional A a = 3; }'


def made(text: str, *references: str) -> Any:
    return FileDescriptorProto.FromString(b64decode(serialized(text, references)))


def without_rest(file: Any) -> Any:
    """What is left of protoc's descriptor."""
    kept = FileDescriptorProto()
    kept.CopyFrom(file)
    kept.name = NAME
    for name in ("options", "service"):
        kept.ClearField(name)
    for enum in kept.enum_type:
        _enum(enum)
    for message in kept.message_type:
        _message(message)
    for field in kept.extension:
        _field(field)
    return kept


def _message(message: Any) -> None:
    for name in ("reserved_range", "reserved_name", "extension_range"):
        message.ClearField(name)
    for field in (*message.field, *message.extension):
        _field(field)
    for enum in message.enum_type:
        _enum(enum)
    for nested in message.nested_type:
        _message(nested)


def _field(field: Any) -> None:
    field.ClearField("default_value")
    field.options.ClearField("deprecated")
    if not field.options.ListFields():
        field.ClearField("options")


def _enum(enum: Any) -> None:
    enum.ClearField("reserved_range")


@each("text", [ORDER, OLD, PLAIN, OPTIONAL])
def test_a_text_is_the_descriptor_that_protoc_makes_of_it(text: str) -> None:
    assert without_rest(made(text)) == without_rest(descriptors(text)[-1])


@each("text", [ORDER, OLD, EDITION, PLAIN, OPTIONAL])
def test_a_descriptor_is_the_same_types_to_kcli_and_to_google(text: str) -> None:
    ours, protoc = ProtobufSchema(serialized(text)), ProtobufSchema(theirs(text))
    assert _shape(ours) == _shape(protoc)
    pool = DescriptorPool()
    for file in descriptors(text)[:-1]:
        pool.Add(file)
    pool.Add(made(text))
    for message in ours.messages:
        assert pool.FindMessageTypeByName(message.name).full_name == message.name


def test_what_a_schema_refers_to_is_named_and_not_in_it() -> None:
    other = 'syntax = "proto3"; package shop; message Money { int64 cents = 1; }'
    text = 'syntax = "proto3"; package shop; import "money.proto"; message Order { Money price = 1; }'
    file = made(text, other)
    assert [*file.dependency] == ["money.proto"]
    assert [message.name for message in file.message_type] == ["Order"]
    assert file.message_type[0].field[0].type_name == ".shop.Money"


def test_a_descriptor_stays_as_it_is_and_a_bad_text_is_refused() -> None:
    assert serialized(theirs(ORDER)) == theirs(ORDER)
    with pytest.raises(SchemaRefused):
        serialized("message A { B b = 1; }")
