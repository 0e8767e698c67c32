"""A tree of Protobuf as JSON, by the canonical mapping of proto3: 64-bit integers and bytes (base64) are strings, enums
their names, and a field without presence is not shown where it is 0 or empty. Fields come by their numbers."""

from __future__ import annotations

from _json import encode_basestring
from binascii import b2a_base64
from math import copysign

from kcli.proto import faults
from kcli.proto import protobuf_code as code
from kcli.proto.avro_code import RATIO, ROOM
from kcli.proto.faults import Fault
from kcli.proto.plain.avro_texts import double, single
from kcli.proto.plain.protobuf_tree import ZERO

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from kcli.proto.plain.protobuf_program import Field, Message, Program
    from kcli.proto.plain.protobuf_tree import Tree

    Show = Callable[["Shown", Message, Tree, int], bool]
    """Writes a well-known message; False, and nothing written, where it has no JSON of its own."""

WIDE = frozenset((code.INT64, code.UINT64, code.FIXED64, code.SFIXED64, code.SINT64))


class Shown:
    """The JSON of one payload. `program` has what an Any may hold, `known` writes the messages with a JSON of their
    own."""

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
        """Raises Fault. The depth is bounded here too: an Any begins a payload of its own."""
        if depth > code.DEEPEST:
            raise Fault(faults.NESTED)
        own = self.known.get(message.known)
        if own is None or not own(self, message, tree, depth):
            self.put("{")
            self.fields(message, tree, "", depth)
            self.put("}")

    def fields(self, message: Message, tree: Tree, before: str, depth: int) -> None:
        """The fields of a message, with what parts them from what is `before`."""
        for number in sorted(tree):
            field, value = message.fields[number], tree[number]
            if not (field.presence or value or _negative_zero(value)) or (field.repeated and not value):
                continue
            self.put(before + field.text)
            before = ","
            self.held(field, value, depth)

    def held(self, field: Field, value: Any, depth: int) -> None:
        """All that a field holds."""
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
        """One value of a field."""
        if field.message is not None:
            self.message(field.message, value, depth + 1)
        elif field.kind == code.ENUM:
            self.put("null" if field.null else field.names.get(value) or str(value))
        else:
            self.put(scalar(field.kind, value))


def scalar(kind: int, value: Any) -> str:
    """A scalar's JSON."""
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
    """What a scalar is where it is missing."""
    return ZERO.get(kind, 0)


def _negative_zero(value: Any) -> bool:
    return isinstance(value, float) and value == 0 and copysign(1, value) < 0
