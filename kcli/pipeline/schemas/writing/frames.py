"""Keys and values that are written by a schema of a registry: columns as payloads of the schema, behind its id, or the
UUID that AWS Glue has in its place.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from kcli.errors import KcliError, UsageError
from kcli.pipeline.schemas.writing.avro import avro_payloads
from kcli.pipeline.schemas.writing.json_schema import without_absent
from kcli.pipeline.schemas.writing.plain import Payload, shown
from kcli.schemas import AVRO, JSON
from kcli.serde.avro.parse import parse
from kcli.serde.contracts.rules import WRITING, encrypts, rules_of
from kcli.serde.schemas.writers import texts, writer_of

if TYPE_CHECKING:
    from kcli.pipeline.schemas.sealed import SealedSchemas
    from kcli.schemas import Schema

GLUE = b"\3\0"  # not compressed


class BadRow(KcliError):
    """A row that its schema does not have."""


def check_rules(schema: Schema, *, without: bool = False) -> None:
    """Raise UsageError for a schema with rules for writing: they are not run here. `without` writes all the same, but
    never plain text where a rule encrypts."""
    rules = (rule for rule in rules_of(schema) if rule.mode in WRITING)
    rule = next((rule for rule in rules if encrypts(rule) or not without), None)
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
        self._front = front_of(schema, sealed.settings.kind)
        referred = list(sealed.reader.referred)
        if schema.kind == AVRO:
            self._payloads = partial(avro_payloads, schema=parse(schema.text, texts(referred)))
        else:
            numbered = self._front[:2] == GLUE
            write = writer_of(schema, referred, message=sealed.message, numbered=numbered)
            self._payloads = partial(json_payloads, write=write)
            if schema.kind == JSON:
                self._payloads = partial(json_payloads, write=write, left=without_absent(sealed.reader))

    def frames(self, cells: pa.Array) -> pa.Array:
        """A frame for each cell; null stays null. Raises BadRow."""
        payload = self._payloads(cells.type)
        return pa.array(
            [None if cell is None else self._frame(payload, cell) for cell in cells.to_pylist()], pa.binary()
        )

    def _frame(self, payload: Payload, value: Any) -> bytes:
        try:
            return self._front + payload(value)
        except ValueError as problem:
            raise BadRow(f"a row's {self._field} is none of {self._name}: {problem}") from None


def json_payloads(
    kind: pa.DataType, *, write: Callable[[str], bytes], left: Callable[[Any], Any] = lambda value: value
) -> Payload:
    """What makes a payload of a value of a column, by what is `left` of its JSON."""
    show = shown(kind, avro=False)
    return lambda value: write(json.dumps(left(show(value)), ensure_ascii=False))


def front_of(schema: Schema, kind: str) -> bytes:
    """What is in front of a payload. Raises UsageError for a registry whose frames have neither an id nor a UUID."""
    if schema.id >= 0:
        return b"\0" + schema.id.to_bytes(4, "big")
    if kind != "glue":
        raise UsageError(f"{schema.name} has no id, which the frame of a record needs")
    return GLUE + bytes.fromhex(schema.guid.replace("-", ""))
