"""Payloads of random messages, read as Google's library shows them."""

from __future__ import annotations

import ast
import struct
from contextlib import suppress
from typing import Any

import pytest
from google.protobuf import json_format
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError, Message
from google.protobuf.unknown_fields import UnknownFieldSet
from hypothesis import given
from hypothesis import strategies as st

from kcli.proto.plain.protobuf_tree import Payload
from kcli.serde.protobuf.reader import ProtobufSchema
from kcli.serde.schemas.payloads import Unreadable
from tests.each import each
from tests.serde.protobuf.samples import (
    EDITION,
    OLD,
    ORDER,
    RANDOM,
    messages,
    our_json,
    serialized,
    their_json,
    type_of,
)

FILES = {"shop.Order": ORDER, "old.shop.Item": OLD, "ed.M": EDITION}
SMALLEST = 2.0**-126
"""A float below it has fewer digits, and Google's library prints more of them than it takes."""
LENIENT = "a field has a number that Protobuf does not have"
"""Google's library for Python reads the number 0 in a message without fields (upb); Java's does not."""
SCHEMAS = {name: (ProtobufSchema(text), ProtobufSchema(serialized(text))) for name, text in FILES.items()}


def read(name: str, data: bytes, form: int = 0, *, camel: bool = False) -> Any:
    return our_json(SCHEMAS[name][form], data, name, camel=camel)


def same(ours: Any, theirs: Any) -> bool:
    """NaN is a string in both; numbers are equal by value, and by their sign."""
    return repr(_plain(ours)) == repr(_plain(theirs))


def _replaced(value: Any) -> Any:
    """Text of proto2 that is not UTF-8 as Java shows it; Google's Python library shows it as a literal of bytes."""
    if isinstance(value, dict):
        return {_replaced(key): _replaced(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_replaced(inner) for inner in value]
    if isinstance(value, str) and value[:2] in ("b'", 'b"'):
        with suppress(ValueError, SyntaxError):
            return ast.literal_eval(value).decode("utf-8", "replace")
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in sorted(value.items())}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    if isinstance(value, float) and 0 < abs(value) < SMALLEST:
        return struct.unpack("<f", struct.pack("<f", value))[0]  # 5.9e-44 and 5.88545e-44 are one float
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


@pytest.mark.slow
@each("name", list(FILES))
@given(st.data())
@RANDOM
def test_random_messages_are_shown_as_by_google(name: str, data: st.DataObject) -> None:
    message = data.draw(messages(name, FILES[name]))
    payload = message.SerializeToString()
    for form in (0, 1):
        for camel in (False, True):
            ours, theirs = read(name, payload, form, camel=camel), their_json(message, FILES[name], camel=camel)
            assert same(ours, theirs), (ours, theirs)


@pytest.mark.long
@each("name", list(FILES))
@given(st.data())
@RANDOM
def test_fields_in_any_order_and_again_are_merged_as_by_google(name: str, data: st.DataObject) -> None:
    """Payloads one after another are one: the last scalar counts, messages are merged, a oneof has one field."""
    several = [data.draw(messages(name, FILES[name])).SerializeToString() for _ in range(3)]
    parts = data.draw(st.permutations([part for payload in several for part in fields(payload)]))
    payload = b"".join(parts)
    message = type_of(name, FILES[name]).FromString(payload)
    ours, theirs = read(name, payload), their_json(message, FILES[name])
    assert same(ours, theirs), (ours, theirs)


@pytest.mark.parametrize("bits", [1, 2, 3, 0x7FFFFF, 0x800000])
def test_the_smallest_floats_are_read_back(bits: int) -> None:
    stored = bits.to_bytes(4, "little")
    shown = read("shop.Order", b"\xca\x02\x05\x0d" + stored)["single"]
    assert struct.pack("<f", shown) == stored


def fields(payload: bytes) -> list[bytes]:
    """The fields of a payload, each its bytes."""
    read = Payload(payload)
    found = []
    while read.at < len(payload):
        begin = read.at
        tag = read.varint(len(payload))
        read._skip(tag & 7, tag >> 3, len(payload), 0)
        found.append(payload[begin : read.at])
    return found


def hides_entries(message: Message) -> bool:
    """Whether Google's library for Python shows less than is there: an entry of a map with a field that it does not
    know is unknown to it as a whole. Java's shows the entry, as we do."""
    maps = {field.number for field in message.DESCRIPTOR.fields if _is_map(field)}
    if any(unknown.field_number in maps for unknown in UnknownFieldSet(message)):
        return True
    within: list[Message] = []
    for field, value in message.ListFields():
        if field.message_type is not None:
            parts = list(value.values()) if _is_map(field) else [value] if isinstance(value, Message) else list(value)
            within += [part for part in parts if isinstance(part, Message)]
    return any(map(hides_entries, within))


def _is_map(field: FieldDescriptor) -> bool:
    return field.message_type is not None and bool(field.message_type.GetOptions().map_entry)


def test_an_entry_of_a_map_with_an_unknown_field_is_shown() -> None:
    payload = bytes.fromhex("c201050a01355000")  # counts, whose value's tag was changed from 2 to 10
    assert read("shop.Order", payload) == {"counts": {"5": 0}}
    assert hides_entries(type_of("shop.Order", FILES["shop.Order"]).FromString(payload))


@pytest.mark.slow
@each("name", list(FILES))
@given(st.data())
@RANDOM
def test_what_is_cut_or_changed_is_read_as_by_google_or_refused(name: str, data: st.DataObject) -> None:
    """What Google's library reads and shows is shown; what it refuses is refused, but for what is within an Any."""
    payload = bytearray(data.draw(messages(name, FILES[name])).SerializeToString())
    for _ in range(data.draw(st.integers(0, 3))):
        if payload:
            payload[data.draw(st.integers(0, len(payload) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    payload = payload[: data.draw(st.integers(0, len(payload)))]
    try:
        ours = read(name, bytes(payload))
    except Unreadable as refused:
        if str(refused) != LENIENT:
            with pytest.raises(DecodeError):
                type_of(name, FILES[name]).FromString(bytes(payload))
        return
    message = type_of(name, FILES[name]).FromString(bytes(payload))
    if hides_entries(message):
        return
    with suppress(json_format.SerializeToJsonError, TypeError, DecodeError):  # an Any of nonsense, a time after 9999
        assert same(ours, _replaced(their_json(message, FILES[name])))
