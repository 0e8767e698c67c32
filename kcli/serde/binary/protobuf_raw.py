"""Decodes Protobuf without a schema: the fields of a message by number, like `protoc --decode_raw`.

Bytes become text if all of it is printable, else a message if they are a valid one, else `{"base64": …}`. A repeated
field becomes a list.
"""

from __future__ import annotations

from _json import encode_basestring
from binascii import b2a_base64
from struct import unpack_from

from kcli.proto import faults
from kcli.proto import protobuf_code as code
from kcli.proto.avro_code import RATIO, ROOM
from kcli.proto.faults import Fault
from kcli.proto.plain.protobuf_tree import Payload
from kcli.serde.schemas.payloads import PayloadReader, Unreadable

WORK = 64
"""How often the bytes of a payload may be read: nested messages are read once per level."""


class RawReader(PayloadReader):
    def json(self, data: bytes) -> bytes:
        try:
            text = _Raw(len(data)).message(data, 0)
        except Fault as fault:
            raise Unreadable(str(fault)) from None
        if len(text) > ROOM + RATIO * len(data):
            raise Unreadable(faults.FAULTS[faults.LARGE])
        return text.encode()


class _Raw:
    def __init__(self, size: int) -> None:
        self._left = 4096 + WORK * size

    def message(self, data: bytes, depth: int) -> str:
        """Raises Fault and Unreadable."""
        if depth > code.DEEPEST:
            raise Fault(faults.NESTED)
        self._left -= len(data)
        if self._left < 0:
            raise Unreadable("it has too many messages within one another")
        payload = Payload(data)
        return self._fields(payload, 0, depth)

    def _fields(self, payload: Payload, group: int, depth: int) -> str:
        if depth > code.DEEPEST:
            raise Fault(faults.NESTED)
        fields: dict[int, list[str]] = {}
        end = len(payload.data)
        while payload.at < end:
            tag = payload.varint(end)
            number, wire = tag >> 3, tag & 7
            if not 1 <= number <= code.LARGEST_NUMBER:
                raise Fault(faults.NUMBER)
            if wire == code.END:
                if number != group:
                    raise Fault(faults.GROUP)
                return _shown(fields)
            fields.setdefault(number, []).append(self._value(payload, wire, number, depth))
        if group:
            raise Fault(faults.CUT)
        return _shown(fields)

    def _value(self, payload: Payload, wire: int, number: int, depth: int) -> str:
        end = len(payload.data)
        if wire == code.VARINT:
            return str(payload.varint(end))
        if wire in (code.EIGHT, code.FOUR):
            size = 8 if wire == code.EIGHT else 4
            if end - payload.at < size:
                raise Fault(faults.CUT)
            payload.at += size
            return str(unpack_from("<Q" if size == 8 else "<I", payload.data, payload.at - size)[0])
        if wire == code.START:
            return self._fields(payload, number, depth + 1)
        if wire != code.LENGTH:
            raise Fault(faults.WIRE)
        length = payload.varint(end)
        if length > end - payload.at:
            raise Fault(faults.CUT)
        start, payload.at = payload.at, payload.at + length
        return self._bytes(payload.data[start : payload.at], depth)

    def _bytes(self, data: bytes, depth: int) -> str:
        try:
            text = data.decode()
        except UnicodeDecodeError:
            text = "\0"
        if text.isprintable():
            return encode_basestring(text)
        try:
            return self.message(data, depth + 1)
        except (Fault, Unreadable):
            return f'{{"base64":"{b2a_base64(data, newline=False).decode()}"}}'


def _shown(by_number: dict[int, list[str]]) -> str:
    fields = []
    for number, values in by_number.items():
        value = values[0] if len(values) == 1 else "[" + ",".join(values) + "]"
        fields.append(f'"{number}":{value}')
    return "{" + ",".join(fields) + "}"
