"""Parses a Protobuf payload to a tree with the content of each field, by number.

A scalar is an int, float, bool, str or bytes, a message a dict, a repeated field a list and a map a dict. Fields may
come in any order and repeatedly: the last scalar counts, messages are merged. Fields that the schema lacks, or has with
another wire type, are skipped and counted.
"""

from __future__ import annotations

from struct import Struct

from kcli.proto import faults
from kcli.proto import protobuf_code as code
from kcli.proto.faults import Fault
from kcli.proto.plain.avro_texts import replaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Tree = dict[int, Any]
    from array import array
    from collections.abc import Mapping, Sequence


# A program of `protobuf_code` as messages, fields and enums, for plain Python.


class Field:
    """A field of a message; `text` is its name and the colon after it, as JSON."""

    __slots__ = (
        "closed",
        "entry",
        "kind",
        "lossy",
        "message",
        "names",
        "null",
        "number",
        "oneof",
        "presence",
        "repeated",
        "text",
    )

    def __init__(self, number: int, kind: int, flags: int, text: str, oneof: int) -> None:
        self.number, self.kind, self.text, self.oneof = number, kind, text, oneof
        self.repeated = bool(flags & code.REPEATED)
        self.presence = bool(flags & code.PRESENCE)
        self.closed = bool(flags & code.CLOSED)
        self.null = bool(flags & code.NULL)
        self.lossy = bool(flags & code.LOSSY)
        self.entry = bool(flags & code.MAP)
        self.message: Message | None = None
        self.names: Mapping[int, str] = {}


class Message:
    """A message: its fields by number, and which well-known message it is."""

    __slots__ = ("fields", "known")

    def __init__(self, known: int) -> None:
        self.known = known
        self.fields: dict[int, Field] = {}


class Program:
    """The messages of a program by number; `names` has those that an Any can contain, by full name."""

    def __init__(self, program: array[int], texts: Sequence[bytes], names: Mapping[bytes, int]) -> None:
        places = program[code.MESSAGES : code.MESSAGES + program[0]]
        self.messages = [Message(program[place]) for place in places]
        self.names = names
        enums: dict[int, Mapping[int, str]] = {}
        for message, place in zip(self.messages, places, strict=True):
            for at in range(place + 2, place + 2 + code.FIELD * program[place + 1], code.FIELD):
                number, kind, flags, text, type, oneof, _ = program[at : at + code.FIELD]
                field = message.fields[number] = Field(number, kind, flags, texts[text].decode(), oneof)
                if kind in (code.MESSAGE, code.GROUP):
                    field.message = self.messages[type]
                elif type >= 0:
                    if type not in enums:
                        enums[type] = _enum(program, texts, type)
                    field.names = enums[type]


def _enum(program: array[int], texts: Sequence[bytes], place: int) -> Mapping[int, str]:
    pairs = program[place + 1 : place + 1 + 2 * program[place]]
    return {number: texts[text].decode() for number, text in zip(pairs[::2], pairs[1::2], strict=True)}


_WIDE, _SHORT = 1 << 64, 1 << 32


def _int64(value: int) -> int:
    return value - _WIDE if value >> 63 else value


def _int32(value: int) -> int:
    value &= 0xFFFFFFFF
    return value - _SHORT if value >> 31 else value


def _sint32(value: int) -> int:
    value &= 0xFFFFFFFF
    return (value >> 1) ^ -(value & 1)


VARINTS: dict[int, Callable[[int], int]] = {
    code.INT64: _int64,
    code.UINT64: int,
    code.INT32: _int32,
    code.UINT32: lambda value: value & 0xFFFFFFFF,
    code.BOOL: bool,
    code.ENUM: _int32,
    code.SINT32: _sint32,
    code.SINT64: lambda value: (value >> 1) ^ -(value & 1),
}
FIXED = {
    code.DOUBLE: Struct("<d"),
    code.FLOAT: Struct("<f"),
    code.FIXED64: Struct("<Q"),
    code.FIXED32: Struct("<I"),
    code.SFIXED32: Struct("<i"),
    code.SFIXED64: Struct("<q"),
}
ZERO = {code.DOUBLE: 0.0, code.FLOAT: 0.0, code.BOOL: False, code.STRING: "", code.BYTES: b""}
"""The value of a missing scalar; 0 for all others."""


class Payload:
    """A payload being read."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0
        self.unknown = 0

    def tree(self, message: Message) -> Tree:
        """Parse all of it as a message. Raises Fault."""
        tree: Tree = {}
        self._message(message, tree, len(self.data), 0, 0)
        return tree

    def varint(self, end: int) -> int:
        value = 0
        for shift in range(0, 70, 7):
            if self.at >= end:
                raise Fault(faults.CUT)
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value & (_WIDE - 1)
        raise Fault(faults.VARINT)

    def _length(self, end: int) -> int:
        """Return where a length-prefixed value ends."""
        length = self.varint(end)
        if length > end - self.at:
            raise Fault(faults.CUT)
        return self.at + length

    def _fixed(self, size: int, end: int) -> int:
        start, self.at = self.at, self.at + size
        if self.at > end:
            raise Fault(faults.CUT)
        return start

    def _message(self, message: Message, tree: Tree, end: int, group: int, depth: int) -> None:
        """Parse fields into the tree, up to the end, or to the end of the group of this number."""
        if depth > code.DEEPEST:
            raise Fault(faults.NESTED)
        fields = message.fields
        while self.at < end:
            tag = self.varint(end)
            number, wire = tag >> 3, tag & 7
            if not 1 <= number <= code.LARGEST_NUMBER:
                raise Fault(faults.NUMBER)
            if wire == code.END:
                if number != group:
                    raise Fault(faults.GROUP)
                return
            field = fields.get(number)
            if field is None or not self._take(field, message, tree, wire, end, depth):
                self.unknown += 1
                self._skip(wire, number, end, depth)
        if group:
            raise Fault(faults.CUT)

    def _take(self, field: Field, message: Message, tree: Tree, wire: int, end: int, depth: int) -> bool:
        """Parse a field's value into the tree. Returns False without reading for another wire type than the field's."""
        number, kind = field.number, field.kind
        if wire != code.WIRE[kind]:
            if wire != code.LENGTH or not field.repeated or code.WIRE[kind] in (code.START, code.LENGTH):
                return False
            self._packed(field, tree, end)
            return True
        if field.message is None:
            value = self._scalar(field, end)
            if field.closed and value not in field.names:
                self.unknown += 1
                return True
        elif field.entry:
            self._entry(field.message, tree.setdefault(number, {}), self._length(end), depth + 1)
            return True
        else:
            value = {} if field.repeated else tree.get(number, {})
            stop, group = (end, number) if kind == code.GROUP else (self._length(end), 0)
            self._message(field.message, value, stop, group, depth + 1)
        if field.oneof >= 0:
            for other in [other for other in tree if other != number and message.fields[other].oneof == field.oneof]:
                del tree[other]
        if field.repeated:
            tree.setdefault(number, []).append(value)
        else:
            tree[number] = value
        return True

    def _scalar(self, field: Field, end: int) -> Any:
        kind = field.kind
        if kind in VARINTS:
            return VARINTS[kind](self.varint(end))
        if kind in FIXED:
            format = FIXED[kind]
            return format.unpack_from(self.data, self._fixed(format.size, end))[0]
        stop = self._length(end)
        start, self.at = self.at, stop
        if kind == code.BYTES:
            return self.data[start:stop]
        text = self.data[start:stop]
        try:
            return text.decode()
        except UnicodeDecodeError:
            if field.lossy:
                return replaced(text).decode()
            raise Fault(faults.TEXT) from None

    def _packed(self, field: Field, tree: Tree, end: int) -> None:
        stop = self._length(end)
        values = tree.setdefault(field.number, [])
        closed = field.names if field.closed else None
        while self.at < stop:
            value = self._scalar(field, stop)
            if closed is None or value in closed:
                values.append(value)
            else:
                self.unknown += 1

    def _entry(self, entry: Message, values: dict[Any, Any], end: int, depth: int) -> None:
        """Parse a map entry; missing parts are 0 or empty."""
        pair: Tree = {}
        before = self.unknown
        self._message(entry, pair, end, 0, depth)
        value = entry.fields[2]
        if value.closed and 2 not in pair and self.unknown > before:
            return  # a number that its enum lacks: the whole entry is unknown
        empty: Any = {} if value.message is not None else ZERO.get(value.kind, 0)
        key = pair.get(1, ZERO.get(entry.fields[1].kind, 0))
        values.pop(key, None)
        values[key] = pair.get(2, empty)

    def _skip(self, wire: int, number: int, end: int, depth: int) -> None:
        """Skip a field that the schema lacks; groups are skipped without recursion."""
        open_groups: list[int] = []
        while True:
            if wire == code.VARINT:
                self.varint(end)
            elif wire == code.EIGHT:
                self._fixed(8, end)
            elif wire == code.FOUR:
                self._fixed(4, end)
            elif wire == code.LENGTH:
                self.at = self._length(end)
            elif wire == code.START:
                open_groups.append(number)
                if depth + len(open_groups) > code.DEEPEST:
                    raise Fault(faults.NESTED)
            elif wire == code.END:
                if not open_groups or open_groups.pop() != number:
                    raise Fault(faults.GROUP)
            else:
                raise Fault(faults.WIRE)
            if not open_groups:
                return
            tag = self.varint(end)
            number, wire = tag >> 3, tag & 7
