"""Keys and values that are written by a schema of a registry: columns as plain JSON, and that as the schema's payload
behind its id. Nothing is registered.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from math import isfinite, isnan
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from kcli.errors import KcliError, UsageError
from kcli.schemas import AVRO
from kcli.serde.rules.rules import rules_of
from kcli.serde.schemas.writers import writer_of

if TYPE_CHECKING:
    from kcli.pipeline.schemas.sealed import SealedSchemas

WRITING = ("WRITE", "WRITEREAD")
Shown = Callable[[Any], Any]
"""A value of a column as the JSON of a record."""


class BadRow(KcliError):
    """A row that its schema does not have."""


def check_rules(sealed: SealedSchemas) -> None:
    """Raise UsageError for a schema with rules for writing: they are not run here."""
    schema = sealed.reader.schema
    rule = next((rule for rule in rules_of(schema) if rule.mode in WRITING), None)
    if rule is not None:
        raise UsageError(
            f"{schema.name} has the rule {rule.name} ({rule.type}) for writing, which Spark writes do not run"
        )


class Framing:
    """The columns of a task's rows as frames of their schemas."""

    def __init__(self, schemas: Mapping[str, SealedSchemas]) -> None:
        self._fields = {field: FramedField(sealed) for field, sealed in schemas.items()}

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The batch with frames in place of values. Raises BadRow."""
        for name, field in self._fields.items():
            place = batch.schema.get_field_index(name)
            if place >= 0:
                batch = batch.set_column(place, name, field.frames(batch.column(place)))
        return batch


class FramedField:
    """The keys or the values of rows."""

    def __init__(self, sealed: SealedSchemas) -> None:
        """Raises SchemaRefused, UsageError where what reads the schema is not installed."""
        schema = sealed.reader.schema
        self._name, self._field = schema.name, sealed.field
        self._front = b"\0" + schema.id.to_bytes(4, "big")
        self._avro = schema.kind == AVRO
        self._write = writer_of(schema, list(sealed.reader.referred), message=sealed.message)

    def frames(self, cells: pa.Array) -> pa.Array:
        """A frame for each cell; null stays null. Raises BadRow."""
        show = shown(cells.type, avro=self._avro)
        return pa.array([None if cell is None else self._frame(show(cell)) for cell in cells.to_pylist()], pa.binary())

    def _frame(self, value: Any) -> bytes:
        try:
            return self._front + self._write(json.dumps(value, ensure_ascii=False))
        except ValueError as problem:
            raise BadRow(f"a row's {self._field} is none of {self._name}: {problem}") from None


def shown(kind: pa.DataType, *, avro: bool) -> Shown:
    """How values of a column are plain JSON: as kcli shows them, or as proto3's and JSON's own where it is not
    `avro`."""
    if pa.types.is_struct(kind):
        fields = [(field.name, shown(field.type, avro=avro)) for field in kind]
        return lambda value: {name: None if value[name] is None else show(value[name]) for name, show in fields}
    if pa.types.is_map(kind):
        key, item = shown(kind.key_type, avro=avro), shown(kind.item_type, avro=avro)
        return lambda value: {_key(key(name)): None if one is None else item(one) for name, one in value}
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        element = shown(kind.value_type, avro=avro)
        return lambda value: [None if one is None else element(one) for one in value]
    return lambda value: _simple(value, avro=avro)


def _key(name: Any) -> str:
    return name if isinstance(name, str) else json.dumps(name)


def _simple(value: Any, *, avro: bool) -> Any:
    if isinstance(value, float) and not isfinite(value):
        return "NaN" if isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, bytes):
        from base64 import b64encode

        text = b64encode(value).decode()
        return {"base64": text} if avro else text
    if isinstance(value, datetime):
        zone = "Z" if value.tzinfo is not None else ""
        plain = value.astimezone(UTC).replace(tzinfo=None) if zone else value
        return plain.isoformat(timespec="microseconds") + zone
    return value.isoformat() if isinstance(value, date) else value
