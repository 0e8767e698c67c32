"""Encodes JSON as Protobuf payloads, byte for byte like Google's serializers: the reverse of the JSON that kcli shows.

Fields may have the file's names or the JSON names, and are written in the order of their numbers. Values that do not
fit raise BadValue with their path.
"""

from __future__ import annotations

from kcli.proto import protobuf_code as code
from kcli.proto.varint import encode_unsigned
from kcli.serde.avro.exact import BadValue, shown
from kcli.serde.protobuf.scalars import ENCODE, is_zero, key_of
from kcli.serde.protobuf.schema.types import Enum, Message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kcli.serde.protobuf.schema.types import Field

    WriteKnown = Callable[["ProtobufWriter", object, int], bytes]
    """Returns the payload of a well-known message from its JSON. Raises BadValue."""

NULL = "google.protobuf.NullValue"
VALUE = "google.protobuf.Value"


class ProtobufWriter:
    """Encodes values as one message. `types` are those that an Any can contain, `known` the messages with a special
    JSON form."""

    def __init__(self, message: Message, types: Mapping[str, Message | Enum], known: Mapping[str, WriteKnown]) -> None:
        self.types = types
        self._message = message
        self._known = known
        self._names: dict[str, dict[str, Field]] = {}  # by message name

    def write(self, value: object) -> bytes:
        """Return the payload of a value from `exact.read_json`. Raises BadValue."""
        return self.message(self._message, value, 0)

    def message(self, message: Message, value: object, depth: int) -> bytes:
        if depth > code.DEEPEST:
            raise BadValue(f"messages are nested more than {code.DEEPEST} deep")
        known = self._known.get(message.name)
        if known is not None:
            return known(self, value, depth)
        if type(value) is not dict:
            raise BadValue(f"{shown(value)} is not a {message.name}")
        return self.fields(message, value, depth)

    def fields(self, message: Message, value: dict[str, object], depth: int) -> bytes:
        """Encode the fields of an object. Raises BadValue."""
        written: dict[int, bytes] = {}
        oneofs: dict[str, str] = {}
        names = self._names_of(message)
        for name, inner in value.items():
            field = names.get(name)
            if field is None:
                from kcli.text.suggest import did_you_mean

                own = [field.name for field in message.fields.values()]
                raise BadValue(f"{message.name} has no field {name}{did_you_mean(name, own)}")
            if inner is None and not _takes_null(field):
                continue
            if field.number in written:
                raise BadValue(f"{message.name} has the field {field.name} twice")
            if field.oneof and oneofs.setdefault(field.oneof, name) != name:
                raise BadValue(f"{oneofs[field.oneof]} and {name} are both of {field.oneof}, which takes one")
            try:
                written[field.number] = self._field(field, inner, depth)
            except BadValue as bad:
                raise bad.within(f".{name}") from None
        for field in message.fields.values():
            if field.label == "required" and field.number not in written:
                raise BadValue(f"{message.name} has the required field {field.name}, which is missing")
        return b"".join(written[number] for number in sorted(written))

    def _names_of(self, message: Message) -> dict[str, Field]:
        names = self._names.get(message.name)
        if names is None:
            names = {field.json_name: field for field in message.fields.values()}
            names.update((field.name, field) for field in message.fields.values())
            self._names[message.name] = names
        return names

    def _field(self, field: Field, value: object, depth: int) -> bytes:
        if not field.repeated:
            if not field.presence and is_zero(inner := self._scalar(field, value)):
                return b""
            return self._tagged(field, value, depth) if field.presence else _tag(field) + inner
        if field.entry is not None:
            return self._map(field, field.entry, value, depth)
        if type(value) is not list:
            raise BadValue(f"{shown(value)} is not a list")
        parts = []
        for number, item in enumerate(value):
            try:
                if item is None and not _takes_null(field):
                    raise BadValue("null is not allowed in a list")
                parts.append(self._scalar(field, item) if field.packed else self._tagged(field, item, depth))
            except BadValue as bad:
                raise bad.within(f"[{number}]") from None
        if not field.packed or not parts:
            return b"".join(parts)
        return _long(encode_unsigned(field.number << 3 | code.LENGTH), b"".join(parts))

    def _map(self, field: Field, entry: Message, value: object, depth: int) -> bytes:
        if type(value) is not dict:
            raise BadValue(f"{shown(value)} is not a map")
        parts = []
        for name, item in value.items():
            try:
                key = _tag(entry.fields[1]) + key_of(entry.fields[1].kind, name)
                if item is None and not _takes_null(entry.fields[2]):
                    raise BadValue("null is not allowed in a map")
                parts.append(_long(_tag(field), key + self._tagged(entry.fields[2], item, depth + 1)))
            except BadValue as bad:
                raise bad.within(f".{name}") from None
        return b"".join(parts)

    def _tagged(self, field: Field, value: object, depth: int) -> bytes:
        if not isinstance(field.type, Message):
            return _tag(field) + self._scalar(field, value)
        inner = self.message(field.type, value, depth + 1)
        if field.kind == code.GROUP:
            return _tag(field) + inner + encode_unsigned(field.number << 3 | code.END)
        return _long(_tag(field), inner)

    def _scalar(self, field: Field, value: object) -> bytes:
        """Encode a value without its tag. Raises BadValue."""
        if isinstance(field.type, Enum):
            return _enum(field.type, value)
        return ENCODE[field.kind](value)


def _tag(field: Field) -> bytes:
    return encode_unsigned(field.number << 3 | code.WIRE[field.kind])


def _long(tag: bytes, data: bytes) -> bytes:
    return tag + encode_unsigned(len(data)) + data


def _takes_null(field: Field) -> bool:
    return field.type is not None and field.type.name in (NULL, VALUE) and field.entry is None


def _enum(enum: Enum, value: object) -> bytes:
    """Encode a symbol by name, or a number, which may be unknown in an open enum."""
    if value is None and enum.name == NULL:
        return b"\0"
    if type(value) is str and value in enum.numbers:
        return encode_unsigned(enum.numbers[value] & code.MASK)
    if type(value) is int and -(1 << 31) <= value < 1 << 31 and (value in enum.names or not enum.closed):
        return encode_unsigned(value & code.MASK)
    raise BadValue(f"{shown(value)} is none of {enum.name}: {', '.join(list(enum.numbers)[:20])}")
