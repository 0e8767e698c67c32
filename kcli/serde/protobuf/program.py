"""Compiles a schema to a program of the record core (`protobuf_code`) that converts payloads to JSON."""

from __future__ import annotations

from _json import encode_basestring
from array import array

from kcli.proto import protobuf_code as code
from kcli.serde.protobuf.schema.types import Enum, Message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kcli.serde.protobuf.schema.types import Field

KEYS = frozenset(code.KINDS.values()) - {code.DOUBLE, code.FLOAT, code.BYTES}
"""Kinds allowed for map keys."""
WRAPPERS = {
    "Double": code.DOUBLE,
    "Float": code.FLOAT,
    "Int64": code.INT64,
    "UInt64": code.UINT64,
    "Int32": code.INT32,
    "UInt32": code.UINT32,
    "Bool": code.BOOL,
    "String": code.STRING,
    "Bytes": code.BYTES,
}
_KNOWN = {
    "Timestamp": (code.TIMESTAMP, {1: code.INT64, 2: code.INT32}),
    "Duration": (code.DURATION, {1: code.INT64, 2: code.INT32}),
    "Any": (code.ANY, {1: code.STRING, 2: code.BYTES}),
    **{f"{name}Value": (code.WRAPPER, {1: kind}) for name, kind in WRAPPERS.items()},
}
"""Messages of google.protobuf with a special JSON form, and the fields that they must have for it."""


class Program:
    """`code` and `texts` are the program, `numbers` its messages by identity, `names` those that an Any can contain."""

    def __init__(self, messages: Iterable[Message], types: Mapping[str, Message | Enum], *, camel: bool) -> None:
        self.code = array("i")
        self.texts: list[bytes] = []
        self.numbers: dict[int, int] = {}
        self._camel = camel
        self._messages: list[Message] = []
        self._text_numbers: dict[str, int] = {}
        self._enums: dict[int, int] = {}
        self._fields = self._oneofs = 0
        self._collect([*messages, *(type for type in types.values() if isinstance(type, Message))])
        self.names = {
            name.encode("utf-8", "surrogatepass"): self.numbers[id(type)]
            for name, type in types.items()
            if isinstance(type, Message)
        }
        self.code.extend([0] * (code.MESSAGES + len(self._messages)))
        for number, message in enumerate(self._messages):
            self._message(number, message)
        self.code[:3] = array("i", [len(self._messages), self._fields, self._oneofs])

    def _collect(self, to_do: list[Message]) -> None:
        """Number the messages and everything that they contain."""
        while to_do:
            message = to_do.pop()
            if id(message) not in self.numbers:
                self.numbers[id(message)] = len(self._messages)
                self._messages.append(message)
                to_do += message.nested
                to_do += (field.type for field in message.fields.values() if isinstance(field.type, Message))

    def _text(self, text: str) -> int:
        number = self._text_numbers.get(text)
        if number is None:
            number = self._text_numbers[text] = len(self.texts)
            self.texts.append(text.encode("utf-8", "backslashreplace"))
        return number

    def _message(self, number: int, message: Message) -> None:
        fields = [(field, kind) for _, field in sorted(message.fields.items()) if (kind := _kind(field)) is not None]
        oneofs: dict[str, int] = {}
        rows = array("i")
        for field, kind in fields:
            oneof = -1
            if field.oneof and not field.repeated:
                oneof = oneofs.setdefault(field.oneof, self._oneofs + len(oneofs))
            name = encode_basestring(field.json_name if self._camel else field.name)
            rows.extend(
                (field.number, kind, _flags(field), self._text(f"{name}:"), self._type(field), oneof, self._fields)
            )
            self._fields += 1
        self._oneofs += len(oneofs)
        self.code[code.MESSAGES + number] = len(self.code)
        self.code.extend((known(message), len(fields)))
        self.code.extend(rows)

    def _type(self, field: Field) -> int:
        if isinstance(field.type, Message):
            return self.numbers[id(field.type)]
        return -1 if field.type is None else self._enum(field.type)

    def _enum(self, enum: Enum) -> int:
        place = self._enums.get(id(enum))
        if place is None:
            place = self._enums[id(enum)] = len(self.code)
            names = {number: name for number, name in sorted(enum.names.items()) if -(1 << 31) <= number < 1 << 31}
            self.code.append(len(names))
            for number, name in names.items():
                self.code.extend((number, self._text(encode_basestring(name))))
        return place


def known(message: Message) -> int:
    """Return the number of a message with a special JSON form; 0 for others, and for one whose fields differ from
    Google's."""
    package, _, name = message.name.rpartition(".")
    if package != "google.protobuf":
        return 0
    kinds = {number: field.kind for number, field in message.fields.items() if not field.repeated}
    number, expected = _KNOWN.get(name, (0, {}))
    if number:
        return number if kinds == expected and len(message.fields) == len(expected) else 0
    first = message.fields.get(1)
    if name == "Value" and message.fields:
        oneofs = {field.oneof for field in message.fields.values()}
        return code.VALUE if len(oneofs) == 1 and "" not in oneofs and len(kinds) == len(message.fields) else 0
    if first is None or len(message.fields) != 1 or not first.repeated:
        return 0
    if name == "FieldMask":
        return code.FIELD_MASK if first.kind == code.STRING else 0
    if name == "Struct":
        return code.STRUCT if _is_map(first) else 0
    return code.LIST if name == "ListValue" and not _is_map(first) else 0


def _kind(field: Field) -> int | None:
    """Return how a field is read. None: it cannot be read, because a descriptor mentions a group without its type."""
    if isinstance(field.type, Message):
        return code.MESSAGE if _is_map(field) or field.kind != code.GROUP else code.GROUP
    if isinstance(field.type, Enum):
        return code.ENUM
    return {code.ENUM: code.INT32, code.MESSAGE: code.BYTES, code.GROUP: None}.get(field.kind, field.kind)


def _flags(field: Field) -> int:
    flags = code.REPEATED if field.repeated else 0
    if field.presence or isinstance(field.type, Message):
        flags |= code.PRESENCE
    if _is_map(field):
        flags |= code.MAP
    flags |= code.LOSSY if field.lossy else 0
    if isinstance(field.type, Enum):
        flags |= code.CLOSED if field.type.closed else 0
        flags |= code.NULL if field.type.name == "google.protobuf.NullValue" else 0
    return flags


def _is_map(field: Field) -> bool:
    """Whether a field is a map. A descriptor may mark a message as map entry although it has no key or value."""
    entry = field.entry
    if entry is None or not {1, 2} <= entry.fields.keys():
        return False
    key, value = entry.fields[1], entry.fields[2]
    return (
        key.kind in KEYS and key.type is None and not key.repeated and not value.repeated and _kind(value) is not None
    )
