"""Encodes google.protobuf's well-known messages from their special JSON: the reverse of `known_json`."""

from __future__ import annotations

import re
from datetime import date
from math import isfinite

from kcli.proto import protobuf_code as code
from kcli.proto.protobuf_code import FIRST, LAST, LONGEST_DURATION, NANOS
from kcli.proto.varint import encode_unsigned
from kcli.serde.avro.exact import BadValue, shown
from kcli.serde.protobuf.program import WRAPPERS
from kcli.serde.protobuf.scalars import ENCODE, is_zero
from kcli.serde.protobuf.schema.types import Message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.serde.protobuf.write import ProtobufWriter, WriteKnown

_TIME = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d\d):?(\d\d))", re.ASCII
)
_DURATION = re.compile(r"(-?)(\d{1,12})(?:\.(\d{1,9}))?s", re.ASCII)
EPOCH = date(1970, 1, 1).toordinal()


def _timestamp(writer: ProtobufWriter, value: object, depth: int) -> bytes:
    match = _TIME.fullmatch(value) if type(value) is str else None
    try:
        if match is None:
            raise ValueError
        year, month, day, hour, minute, second = map(int, match.groups()[:6])
        if hour > 23 or minute > 59 or second > 59:
            raise ValueError
        seconds = (date(year, month, day).toordinal() - EPOCH) * 86_400 + hour * 3600 + minute * 60 + second
        if match[8]:
            seconds -= int(match[8] + "1") * (int(match[9]) * 3600 + int(match[10]) * 60)
        if not FIRST <= seconds <= LAST:
            raise ValueError
    except ValueError:
        raise BadValue(f"{shown(value)} is not a time such as 2026-11-24T10:20:30.5Z") from None
    return _seconds(seconds, int((match[7] or "").ljust(9, "0")))


def _duration(writer: ProtobufWriter, value: object, depth: int) -> bytes:
    match = _DURATION.fullmatch(value) if type(value) is str else None
    if match is None or int(match[2]) > LONGEST_DURATION:
        raise BadValue(f"{shown(value)} is not a duration such as 1.5s")
    sign = -1 if match[1] else 1
    return _seconds(sign * int(match[2]), sign * int((match[3] or "").ljust(9, "0")))


def _seconds(seconds: int, nanos: int) -> bytes:
    assert abs(nanos) < NANOS
    parts = ((8, seconds), (16, nanos))
    return b"".join(encode_unsigned(tag) + encode_unsigned(number & code.MASK) for tag, number in parts if number)


def _field_mask(writer: ProtobufWriter, value: object, depth: int) -> bytes:
    if type(value) is not str:
        raise BadValue(f"{shown(value)} is not a field mask such as user.name,id")
    paths = [re.sub("[A-Z]", lambda match: "_" + match[0].lower(), path) for path in value.split(",") if path]
    return b"".join(b"\x0a" + ENCODE[code.STRING](path) for path in paths)


def _wrapper(kind: int) -> WriteKnown:
    tag = encode_unsigned(8 | code.WIRE[kind])

    def write(writer: ProtobufWriter, value: object, depth: int) -> bytes:
        data = ENCODE[kind](value)
        return b"" if is_zero(data) else tag + data

    return write


def _struct(writer: ProtobufWriter, value: object, depth: int) -> bytes:
    if type(value) is not dict:
        raise BadValue(f"{shown(value)} is not an object")
    parts = []
    for name, inner in value.items():
        try:
            entry = b"\x0a" + ENCODE[code.STRING](name) + b"\x12" + _sized(_value(writer, inner, depth + 2))
        except BadValue as bad:
            raise bad.within(f".{name}") from None
        parts.append(b"\x0a" + _sized(entry))
    return b"".join(parts)


def _list(writer: ProtobufWriter, value: object, depth: int) -> bytes:
    if type(value) is not list:
        raise BadValue(f"{shown(value)} is not a list")
    return b"".join(b"\x0a" + _sized(_value(writer, inner, depth + 1)) for inner in value)


def _value(writer: ProtobufWriter, value: object, depth: int) -> bytes:
    if depth > code.DEEPEST:
        raise BadValue(f"values are nested more than {code.DEEPEST} deep")
    if value is None:
        return b"\x08\0"
    if isinstance(value, bool):
        return b"\x20" + ENCODE[code.BOOL](value)
    if isinstance(value, int | float):
        if not isfinite(value):
            raise BadValue("a google.protobuf.Value is a finite number")
        return b"\x11" + ENCODE[code.DOUBLE](value)
    if isinstance(value, str):
        return b"\x1a" + ENCODE[code.STRING](value)
    if isinstance(value, dict):
        return b"\x2a" + _sized(_struct(writer, value, depth + 1))
    return b"\x32" + _sized(_list(writer, value, depth + 1))


def _any(writer: ProtobufWriter, value: object, depth: int) -> bytes:
    if type(value) is not dict:
        raise BadValue(f"{shown(value)} is not an object with @type")
    if not value:
        return b""
    url = value.get("@type")
    if type(url) is not str:
        raise BadValue('an Any has a "@type"')
    message = writer.types.get(url.rpartition("/")[2])
    rest = {name: inner for name, inner in value.items() if name != "@type"}
    if not isinstance(message, Message):
        if set(rest) != {"value"}:
            raise BadValue(f"the schema has no message {url}: write its bytes as base64 in value")
        data = ENCODE[code.BYTES](rest["value"])
    elif message.name in KNOWN:
        data = _sized(writer.message(message, rest.get("value"), depth + 1))
    else:
        data = _sized(writer.message(message, rest, depth + 1))
    return b"\x0a" + ENCODE[code.STRING](url) + (b"" if data == b"\0" else b"\x12" + data)


def _sized(data: bytes) -> bytes:
    return encode_unsigned(len(data)) + data


KNOWN: dict[str, WriteKnown] = {
    "google.protobuf.Timestamp": _timestamp,
    "google.protobuf.Duration": _duration,
    "google.protobuf.FieldMask": _field_mask,
    "google.protobuf.Struct": _struct,
    "google.protobuf.ListValue": _list,
    "google.protobuf.Value": _value,
    "google.protobuf.Any": _any,
    **{f"google.protobuf.{name}Value": _wrapper(kind) for name, kind in WRAPPERS.items()},
}
