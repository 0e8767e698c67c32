"""Defaults of a reader's fields, in kcli's JSON form of values."""

from __future__ import annotations

import json

from kcli.proto.plain import avro_texts as texts
from kcli.schemas import SchemaRefused
from kcli.serde.avro.exact import FLOATS
from kcli.serde.avro.types import Array, Enum, Fixed, Map, Record, Type, Union

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.serde.avro.types import Field

DEEPEST = 64  # nesting depth
MOST = 100_000  # values in one default: the counts of nested records multiply


def default_text(record: Record, field: Field, *, logical: bool, wrapped: bool) -> str:
    """Return the JSON of a field's default. Raises SchemaRefused if the field has none, or one of another type."""
    if not field.has_default:
        raise SchemaRefused(
            f"the field {field.name} of {record.name} is in the reader's schema but not in the writer's, and "
            "has no default"
        )
    try:
        return _Default(logical=logical, wrapped=wrapped).text(field.type, field.default, 0)
    except (TypeError, ValueError, OverflowError):
        raise bad_default(record, field) from None


def bad_default(record: Record, field: Field) -> SchemaRefused:
    return SchemaRefused(f"the default of the field {field.name} of {record.name} is not of its type")


class _Default:
    """Converts a default from the specification's JSON: bytes are Latin-1, a union has the type of its first branch."""

    def __init__(self, *, logical: bool, wrapped: bool) -> None:
        self.logical, self.wrapped = logical, wrapped
        self.left = MOST

    def text(self, type: Type, value: object, depth: int) -> str:
        self.left -= 1
        if depth > DEEPEST or self.left < 0:
            raise OverflowError
        if isinstance(type, Union):
            return self.branch(type, value, depth)
        if isinstance(type, Record):
            return self.record(type, value, depth)
        if isinstance(type, Array) and isinstance(value, list):
            return "[" + ",".join(self.text(type.items, item, depth + 1) for item in value) + "]"
        if isinstance(type, Map) and isinstance(value, dict):
            pairs = (f"{_json(name)}:{self.text(type.values, item, depth + 1)}" for name, item in value.items())
            return "{" + ",".join(pairs) + "}"
        if isinstance(type, Enum) and value in type.symbols:
            return _json(value)
        return self.simple(type, value)

    def branch(self, union: Union, value: object, depth: int) -> str:
        """Convert with the first branch, as in the specification, or with the first that fits, as 1.12 allows."""
        for branch in union.branches:
            try:
                text = self.text(branch, value, depth + 1)
            except (TypeError, ValueError):
                continue
            return f"{{{_json(branch.name)}:{text}}}" if self.wrapped and branch.kind != "null" else text
        raise ValueError

    def record(self, record: Record, value: object, depth: int) -> str:
        if not isinstance(value, dict):
            raise TypeError
        parts = []
        for field in record.fields:
            if field.name not in value and not field.has_default:
                raise ValueError
            own = value.get(field.name, field.default)
            parts.append(f"{_json(field.name)}:{self.text(field.type, own, depth + 1)}")
        return "{" + ",".join(parts) + "}"

    def simple(self, type: Type, value: object) -> str:
        kind, logical = type.kind, type.logical if self.logical else None
        if kind == "null" and value is None:
            return "null"
        if kind == "boolean" and isinstance(value, bool):
            return "true" if value else "false"
        if kind in ("int", "long") and isinstance(value, int) and not isinstance(value, bool):
            return _time(value, logical.name) if logical else str(value)
        if kind in ("float", "double") and value in FLOATS:
            return _json(value)
        if kind in ("float", "double") and isinstance(value, int | float) and not isinstance(value, bool):
            return (texts.single if kind == "float" else texts.double)(float(value)).decode()
        if kind == "string" and isinstance(value, str):
            return _json(value)
        if kind in ("bytes", "fixed") and isinstance(value, str):
            return self.bytes(type, value, value.encode("latin-1"))
        raise TypeError

    def bytes(self, type: Type, value: str, data: bytes) -> str:
        if isinstance(type, Fixed) and len(data) != type.size:
            raise ValueError
        logical = type.logical.name if type.logical and self.logical else ""
        if logical == "decimal" and type.logical:
            return texts.decimal(data, type.logical.scale).decode()
        if logical == "big-decimal":
            return texts.big_decimal(data).decode()
        if logical == "uuid":
            return texts.uuid(data).decode()
        if logical == "duration":
            return texts.duration(data).decode()
        return _json(value) if self.wrapped else texts.encoded(data).decode()


def _time(value: int, logical: str) -> str:
    if logical == "date":
        return texts.date(value).decode()
    digits = {"millis": 3, "micros": 6, "nanos": 9}[logical.rpartition("-")[2]]
    if logical.startswith("time-"):
        return texts.time(value, digits).decode()
    return texts.timestamp(value, digits, utc=not logical.startswith("local-")).decode()


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
