"""Columns of Protobuf messages, and values of proto3's JSON as their cells.

Types are those of Spark's `from_protobuf`, but unsigned numbers have all their values, and wrappers are what they wrap.
A field that a payload does not have is null, a repeated one is empty.
"""

from __future__ import annotations

import json
from base64 import b64decode
from decimal import Decimal
from typing import Any

from kcli.pipeline.formats.json_time import instant_of
from kcli.proto import protobuf_code as code
from kcli.schemas import SchemaRefused
from kcli.serde.avro.columns.columns import MOST, Column
from kcli.serde.protobuf.program import known
from kcli.serde.protobuf.schema.types import Field, Message

SCALARS = {
    "double": "double",
    "float": "float",
    "int32": "int",
    "sint32": "int",
    "sfixed32": "int",
    "uint32": "long",
    "fixed32": "long",
    "int64": "long",
    "sint64": "long",
    "sfixed64": "long",
    "uint64": "unsigned",
    "fixed64": "unsigned",
    "bool": "boolean",
    "string": "string",
    "bytes": "binary",
}
KINDS = {code.KINDS[name]: kind for name, kind in SCALARS.items()}
DIGITS = 20  # of an unsigned 64-bit number


def message_column(message: Message) -> Column:
    """The column of a message. Raises SchemaRefused for one that contains itself, and for too many columns."""
    column = Column("struct", nullable=True)
    _Columns().message(column, message)
    return column


class _Columns:
    def __init__(self) -> None:
        self.count = 0
        self.open: list[int] = []

    def message(self, column: Column, message: Message) -> None:
        if id(message) in self.open:
            raise SchemaRefused(
                f"the message {message.name} contains itself, which no column of Spark can: read with a schema "
                "without that field (readerSchema), or as binary"
            )
        self.open.append(id(message))
        column.parts = [self.field(field) for _, field in sorted(message.fields.items())]
        self.open.pop()

    def field(self, field: Field) -> Column:
        self.count += 1
        if self.count > MOST:
            raise SchemaRefused(f"the Protobuf schema has more than {MOST:,} columns")
        entry = field.entry
        if entry is not None:
            column = Column("map", field.name)
            column.parts = [self.single(entry.fields[1], "key"), self.single(entry.fields[2], "value")]
            return column
        if field.repeated:
            column = Column("array", field.name)
            column.parts = [self.single(field, "element")]
            return column
        return self.single(field, field.name)

    def single(self, field: Field, name: str) -> Column:
        """The column of one value of a field."""
        column = Column("string", name, nullable=True)
        kind = KINDS.get(field.kind, "string")
        if isinstance(field.type, Message):
            own = known(field.type)
            if own == code.WRAPPER:
                kind = KINDS[field.type.fields[1].kind]
            elif own:
                kind = "timestamp" if own == code.TIMESTAMP else "string"
            else:
                kind = "struct"
                self.message(column, field.type)
        if kind == "unsigned":
            kind, column.precision = "decimal", DIGITS
        column.kind = kind
        return column


def fitted(column: Column, value: Any) -> Any:
    """A value of proto3's JSON as Arrow takes it."""
    if value is None:
        return [] if column.kind in ("array", "map") else None
    kind = column.kind
    if kind == "struct":
        return {part.name: fitted(part, value.get(part.name)) for part in column.parts}
    if kind == "array":
        return [fitted(column.parts[0], item) for item in value]
    if kind == "map":
        key, item = column.parts
        return [(fitted(key, name), fitted(item, one)) for name, one in value.items()]
    return _scalar(kind, value)


def _scalar(kind: str, value: Any) -> Any:
    if kind in ("int", "long"):
        return int(value)
    if kind in ("float", "double"):
        return float(value)
    if kind == "boolean":
        return value if isinstance(value, bool) else value == "true"  # the key of a map is text
    if kind == "decimal":
        return Decimal(value)
    if kind == "binary":
        return b64decode(value)
    if kind == "timestamp":
        return instant_of(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
