"""A tree of Protobuf as JSON, by the canonical mapping of proto3: 64-bit integers and bytes (base64) are strings, enums
their names, and a field without presence is not shown where it is 0 or empty. Fields come by their numbers."""

from __future__ import annotations

from _json import encode_basestring
from binascii import b2a_base64
from math import copysign

from kcli.proto import protobuf_code as code
from kcli.proto.avro_code import RATIO, ROOM
from kcli.proto.plain.avro_texts import double, single
from kcli.serde.protobuf.schema.types import Enum, Message
from kcli.serde.protobuf.wire import TOO_DEEP, ZERO
from kcli.serde.schemas.payloads import Unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from kcli.serde.protobuf.schema.types import Field
    from kcli.serde.protobuf.wire import Tree

    Show = Callable[["Shown", Tree, int], bool]
    """Writes a well-known message; False, and nothing written, where it has no JSON of its own."""

WIDE = frozenset((code.INT64, code.UINT64, code.FIXED64, code.SFIXED64, code.SINT64))


class Shown:
    """The JSON of one payload. `types` are those that an Any may hold, `known` the messages with
    a JSON of their own; `camel` writes lowerCamelCase names."""

    def __init__(
        self, size: int, types: Mapping[str, Message | Enum], known: Mapping[str, Show], *, camel: bool
    ) -> None:
        self.types = types
        self.known = known
        self.camel = camel
        self._out: list[str] = []
        self._left = ROOM + RATIO * size

    def text(self) -> bytes:
        return "".join(self._out).encode()

    def put(self, text: str) -> None:
        self._left -= len(text)
        if self._left < 0:
            raise Unreadable("its JSON would be larger than 16 MiB and 256 times the payload")
        self._out.append(text)

    def message(self, message: Message, tree: Tree, depth: int) -> None:
        """Raises Unreadable. The depth is bounded here too: an Any begins a payload of its own."""
        if depth > code.DEEPEST:
            raise Unreadable(TOO_DEEP)
        own = self.known.get(message.name)
        if own is None or not own(self, tree, depth):
            self.put("{")
            self.fields(message, tree, "", depth)
            self.put("}")

    def fields(self, message: Message, tree: Tree, before: str, depth: int) -> None:
        """The fields of a message, with what parts them from what is `before`."""
        for number in sorted(tree):
            field, value = message.fields[number], tree[number]
            if not (field.presence or value or _negative_zero(value)) or (field.repeated and not value):
                continue
            self.put(f"{before}{encode_basestring(field.json_name if self.camel else field.name)}:")
            before = ","
            if not field.repeated:
                self.value(field, value, depth)
            elif field.entry is not None:
                self._map(field.entry, value, depth)
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
        if isinstance(field.type, Message):
            self.message(field.type, value, depth + 1)
        elif isinstance(field.type, Enum):
            name = field.type.names.get(value)
            null = field.type.name == "google.protobuf.NullValue"
            self.put("null" if null else str(value) if name is None else f'"{name}"')
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
