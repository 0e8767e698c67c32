"""Converts a Protobuf tree to JSON by proto3's canonical mapping: 64-bit integers and bytes (base64) are strings, enums
their names, and a field without presence is omitted if it is 0 or empty. Fields are in the order of their numbers."""

from __future__ import annotations

from _json import encode_basestring
from binascii import b2a_base64
from math import copysign, isfinite

from kcli.proto import faults
from kcli.proto import protobuf_code as code
from kcli.proto.avro_code import RATIO, ROOM
from kcli.proto.faults import Fault
from kcli.proto.plain.avro_texts import double, single, timestamp
from kcli.proto.plain.protobuf_tree import ZERO, Payload

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from kcli.proto.plain.protobuf_tree import Field, Message, Program, Tree

    Show = Callable[["Shown", Message, Tree, int], bool]
    """Writes a well-known message; returns False without writing if it has no special JSON form."""
    from collections.abc import Iterable

    from kcli.proto.plain.protobuf_tree import Message, Tree


# Messages of google.protobuf with a special JSON form: times, wrappers, Struct and Any.
#
# A value without such a form, such as a time after the year 9999 or a Value that is not a finite number, is shown as an
# ordinary message.


def digits(nanos: int) -> int:
    """Return how many digits of a second are written: 0, 3, 6 or 9."""
    return 0 if not nanos else 3 if nanos % 10**6 == 0 else 6 if nanos % 1000 == 0 else 9


def field_mask(paths: Iterable[str]) -> bytes:
    """Return the JSON of a FieldMask."""
    return encode_basestring(",".join(code.camel(path) for path in paths)).encode()


def _timestamp(shown: Shown, message: Message, tree: Tree, depth: int) -> bool:
    seconds, nanos = tree.get(1, 0), tree.get(2, 0)
    if not (code.FIRST <= seconds <= code.LAST and 0 <= nanos < code.NANOS):
        return False
    count = digits(nanos)
    text = timestamp(seconds * 10 ** (count or 3) + nanos // 10 ** (9 - (count or 3)), count or 3, utc=True).decode()
    shown.put(text if count else text.replace(".000Z", "Z"))
    return True


def _duration(shown: Shown, message: Message, tree: Tree, depth: int) -> bool:
    seconds, nanos = tree.get(1, 0), tree.get(2, 0)
    if abs(seconds) > code.LONGEST_DURATION or abs(nanos) >= code.NANOS or seconds * nanos < 0:
        return False
    count = digits(abs(nanos))
    part = f".{abs(nanos) // 10 ** (9 - count):0{count}d}" if count else ""
    shown.put(f'"{"-" if seconds < 0 or nanos < 0 else ""}{abs(seconds)}{part}s"')
    return True


def _field_mask(shown: Shown, message: Message, tree: Tree, depth: int) -> bool:
    shown.put(field_mask(tree.get(1, ())).decode())
    return True


def _wrapper(shown: Shown, message: Message, tree: Tree, depth: int) -> bool:
    kind = message.fields[1].kind
    shown.put(scalar(kind, tree.get(1, zero(kind))))
    return True


def _struct(shown: Shown, message: Message, tree: Tree, depth: int) -> bool:
    return _content(shown, message, tree, "{}", depth)


def _list(shown: Shown, message: Message, tree: Tree, depth: int) -> bool:
    return _content(shown, message, tree, "[]", depth)


def _content(shown: Shown, message: Message, tree: Tree, empty: str, depth: int) -> bool:
    """Write a message whose only content is its first field."""
    if tree.get(1):
        shown.held(message.fields[1], tree[1], depth)
    else:
        shown.put(empty)
    return True


def _value(shown: Shown, message: Message, tree: Tree, depth: int) -> bool:
    for number, value in tree.items():  # one of a oneof
        if isinstance(value, float) and not isfinite(value):
            return False  # "Infinity" would be a string
        shown.value(message.fields[number], value, depth)
    if not tree:
        shown.put("null")
    return True


def _any(shown: Shown, message: Message, tree: Tree, depth: int) -> bool:
    """Write the inner message with its type's name; one of a type that the schema lacks as base64."""
    url, data = tree.get(1, ""), tree.get(2, b"")
    if not url and not data:
        return False
    shown.put(f'{{"@type":{encode_basestring(url)}')
    number, inner = shown.program.names.get(url.rpartition("/")[2].encode()), None
    if number is not None:
        try:
            inner = Payload(data).tree(shown.program.messages[number])
        except Fault:
            inner = None
    if number is None or inner is None:
        shown.put(f',"value":"{b2a_base64(data, newline=False).decode()}"}}')
        return True
    held = shown.program.messages[number]
    if held.known:
        shown.put(',"value":')
        shown.message(held, inner, depth + 1)
    else:
        shown.fields(held, inner, ",", depth + 1)
    shown.put("}")
    return True


KNOWN: dict[int, Show] = {
    code.TIMESTAMP: _timestamp,
    code.DURATION: _duration,
    code.FIELD_MASK: _field_mask,
    code.WRAPPER: _wrapper,
    code.STRUCT: _struct,
    code.LIST: _list,
    code.VALUE: _value,
    code.ANY: _any,
}


WIDE = frozenset((code.INT64, code.UINT64, code.FIXED64, code.SFIXED64, code.SINT64))


class Shown:
    """The JSON of one payload. `program` has what an Any can contain, `known` writes the messages with a special JSON
    form."""

    def __init__(self, size: int, program: Program, known: Mapping[int, Show]) -> None:
        self.program = program
        self.known = known
        self._out: list[str] = []
        self._left = ROOM + RATIO * size

    def text(self) -> bytes:
        return "".join(self._out).encode()

    def put(self, text: str) -> None:
        self._left -= len(text) if text.isascii() else len(text.encode())
        if self._left < 0:
            raise Fault(faults.LARGE)
        self._out.append(text)

    def message(self, message: Message, tree: Tree, depth: int) -> None:
        """Write a message. Raises Fault. The depth is limited here, too, because an Any begins a separate payload."""
        if depth > code.DEEPEST:
            raise Fault(faults.NESTED)
        own = self.known.get(message.known)
        if own is None or not own(self, message, tree, depth):
            self.put("{")
            self.fields(message, tree, "", depth)
            self.put("}")

    def fields(self, message: Message, tree: Tree, before: str, depth: int) -> None:
        """Write the fields of a message, with the separator from what is `before`."""
        for number in sorted(tree):
            field, value = message.fields[number], tree[number]
            if not (field.presence or value or _negative_zero(value)) or (field.repeated and not value):
                continue
            self.put(before + field.text)
            before = ","
            self.held(field, value, depth)

    def held(self, field: Field, value: Any, depth: int) -> None:
        """Write all values of a field."""
        if not field.repeated:
            self.value(field, value, depth)
        elif field.entry and field.message is not None:
            self._map(field.message, value, depth)
        else:
            self._list(field, value, depth)

    def _list(self, field: Field, values: list[Any], depth: int) -> None:
        before = "["
        for value in values:
            self.put(before)
            before = ","
            self.value(field, value, depth)
        self.put("]")

    def _map(self, entry: Message, values: dict[Any, Any], depth: int) -> None:
        before, shown = "{", entry.fields[2]
        for key, value in values.items():
            name = key if isinstance(key, str) else str(key).lower()  # true and false
            self.put(f"{before}{encode_basestring(name)}:")
            before = ","
            self.value(shown, value, depth)
        self.put("}")

    def value(self, field: Field, value: Any, depth: int) -> None:
        """Write one value of a field."""
        if field.message is not None:
            self.message(field.message, value, depth + 1)
        elif field.kind == code.ENUM:
            self.put("null" if field.null else field.names.get(value) or str(value))
        else:
            self.put(scalar(field.kind, value))


def scalar(kind: int, value: Any) -> str:
    """Return a scalar's JSON."""
    if kind == code.STRING:
        return encode_basestring(str(value))
    if kind in WIDE:
        return f'"{value}"'
    if kind == code.BOOL:
        return "true" if value else "false"
    if kind == code.BYTES:
        return f'"{b2a_base64(value, newline=False).decode()}"'
    if kind == code.DOUBLE:
        return double(value).decode()
    return single(value).decode() if kind == code.FLOAT else str(value)


def zero(kind: int) -> Any:
    """Return the value of a missing scalar."""
    return ZERO.get(kind, 0)


def _negative_zero(value: Any) -> bool:
    return isinstance(value, float) and value == 0 and copysign(1, value) < 0
