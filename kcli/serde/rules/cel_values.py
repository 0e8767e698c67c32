"""Converts payloads to CEL values by schema: an int is an int and a double a double, whatever its JSON looks like.

Avro logical types are the stored numbers and bytes, as in Java's serializer by default. An unset Protobuf field has its
default, and `has` distinguishes it.
"""

from __future__ import annotations

import json

from celpy import celtypes

from kcli.proto import protobuf_code as code
from kcli.proto.plain.protobuf_tree import ZERO, Payload
from kcli.proto.plain.protobuf_tree import Program as Tables
from kcli.serde.avro.parse import parse
from kcli.serde.avro.program import avro_reader
from kcli.serde.avro.types import Array, Map, Record, Union
from kcli.serde.protobuf.reader import parsed_schema
from kcli.serde.protobuf.schema.types import Enum, Message
from kcli.serde.rules.functions import Fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from kcli.proto.plain.protobuf_tree import Tree
    from kcli.serde.avro.types import Type
    from kcli.serde.protobuf.schema.types import Field

    ValueOf = Callable[[bytes], Any]

_UNSIGNED = (code.UINT32, code.UINT64, code.FIXED32, code.FIXED64)
_SCALARS = {
    code.DOUBLE: celtypes.DoubleType,
    code.FLOAT: celtypes.DoubleType,
    code.BOOL: celtypes.BoolType,
    code.STRING: celtypes.StringType,
    code.BYTES: celtypes.BytesType,
    **dict.fromkeys(_UNSIGNED, celtypes.UintType),
}
"""Protobuf kinds that are not IntType."""


def json_value(payload: bytes) -> Any:
    """The value of a payload that is JSON."""
    return plain_value(json.loads(payload))


def avro_values(text: str, referred: Sequence[str]) -> ValueOf:
    """Return the decoder for Avro payloads. Raises SchemaRefused."""
    parsed = parse(text, referred)
    reader = avro_reader(parsed, wrapped=True)  # so that unions name their branch
    return lambda payload: avro_value(parsed, json.loads(reader.json(payload)))


def protobuf_values(text: str, referred: Sequence[str], name: str) -> ValueOf:
    """Return the decoder for payloads of a message, "" for the first. Raises SchemaRefused."""
    schema = parsed_schema(text, tuple(referred))
    message, program = schema.message(name), schema.program()
    table = Tables(program.code, program.texts, program.names).messages[program.numbers[id(message)]]
    return lambda payload: message_value(message, Payload(payload).tree(table))


def plain_value(value: Any) -> Any:
    """Convert JSON without a schema of types."""
    if isinstance(value, dict):
        return celtypes.MapType({celtypes.StringType(key): plain_value(item) for key, item in value.items()})
    if isinstance(value, list):
        return celtypes.ListType([plain_value(item) for item in value])
    if isinstance(value, bool):
        return celtypes.BoolType(value)
    if isinstance(value, int):
        return celtypes.IntType(value)
    if isinstance(value, float):
        return celtypes.DoubleType(value)
    return value if value is None else celtypes.StringType(value)


def avro_value(type: Type, value: Any) -> Any:
    """Convert a value of the specification's JSON."""
    if isinstance(type, Union):
        if value is None:
            return None
        ((name, inner),) = value.items()
        return avro_value(next(branch for branch in type.branches if branch.name == name), inner)
    if isinstance(type, Record):
        return celtypes.MapType(
            {celtypes.StringType(field.name): avro_value(field.type, value[field.name]) for field in type.fields}
        )
    if isinstance(type, Array):
        return celtypes.ListType([avro_value(type.items, item) for item in value])
    if isinstance(type, Map):
        return celtypes.MapType(
            {celtypes.StringType(key): avro_value(type.values, item) for key, item in value.items()}
        )
    if type.kind in ("bytes", "fixed"):
        return celtypes.BytesType(value.encode("latin-1"))
    if type.kind in ("float", "double"):
        return celtypes.DoubleType(float(value))
    return plain_value(value)


def message_value(message: Message, tree: Tree) -> Any:
    """A message of Protobuf."""
    if message.name in ("google.protobuf.Timestamp", "google.protobuf.Duration"):
        span = celtypes.DurationType(seconds=tree.get(1, 0), nanos=tree.get(2, 0))
        return span if message.name.endswith("Duration") else span + celtypes.TimestampType(1970, 1, 1)
    if _wraps(message):
        return _scalar(message.fields[1], tree.get(1, ZERO.get(message.fields[1].kind, 0)))
    fields, unset = Fields(), set()
    for field in message.fields.values():
        if field.number not in tree:
            unset.add(field.name)
            fields[celtypes.StringType(field.name)] = _default(field)
        else:
            fields[celtypes.StringType(field.name)] = _field(field, tree[field.number])
            if not field.presence and not tree[field.number]:
                unset.add(field.name)
    fields.unset = frozenset(unset)
    return fields


def _field(field: Field, held: Any) -> Any:
    if field.entry is not None:
        key, value = field.entry.fields[1], field.entry.fields[2]
        return celtypes.MapType({_scalar(key, name): one_value(value, item) for name, item in held.items()})
    if field.repeated:
        return celtypes.ListType([one_value(field, item) for item in held])
    return one_value(field, held)


def one_value(field: Field, held: Any) -> Any:
    """A value of a field, or an item of it."""
    return message_value(field.type, held) if isinstance(field.type, Message) else _scalar(field, held)


def _scalar(field: Field, held: Any) -> Any:
    if isinstance(field.type, Enum):
        return celtypes.IntType(held)
    return _SCALARS.get(field.kind, celtypes.IntType)(held)


def _default(field: Field) -> Any:
    """Return the value of an unset field: a wrapper is null, any other message one without fields."""
    if field.entry is not None:
        return celtypes.MapType()
    if field.repeated:
        return celtypes.ListType()
    if isinstance(field.type, Message):
        return None if _wraps(field.type) else _Unset(field.type)
    return _scalar(field, ZERO.get(field.kind, 0))


class _Unset(Fields):
    """An unset message. Its fields are created on demand, because a message may be recursive."""

    def __init__(self, message: Message) -> None:
        super().__init__()
        self._names = {field.name: field for field in message.fields.values()}
        self.unset = frozenset(self._names)

    def __getitem__(self, key: Any) -> Any:
        if key in self._names and not Fields.asked:
            return _default(self._names[key])
        raise KeyError(key)


def _wraps(message: Message) -> bool:
    """Whether it is one of Google's wrappers, such as StringValue."""
    package, _, name = message.name.rpartition(".")
    return (
        package == "google.protobuf"
        and name.endswith("Value")
        and list(message.fields) == [1]
        and (message.fields[1].name == "value")
    )
