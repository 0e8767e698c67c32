"""Writes keys and values with a registry's schema: encodes columns as payloads, after the schema's id, or its UUID for
AWS Glue."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import partial
from math import isfinite, isnan
from typing import Any

import pyarrow as pa

from kcli.errors import KcliError, UsageError
from kcli.pipeline.schemas.json_schema import JsonColumns, parsed, takes_json
from kcli.pipeline.schemas.look_up import Opened, asking, chosen, named_registry, subject_of
from kcli.pipeline.schemas.sealed import Known, SealedSchemas
from kcli.pipeline.schemas.wanted import Wanted
from kcli.registry.settings import RegistrySettings
from kcli.schemas import AVRO, JSON, Schema, SchemaNotFound
from kcli.serde.avro.exact import BadValue, Branch, Written
from kcli.serde.avro.parse import parse
from kcli.serde.avro.types import Array, Map, Record, Type, Union
from kcli.serde.avro.write import AvroWriter
from kcli.serde.contracts.rules import WRITING, encrypts, rules_of
from kcli.serde.schemas.writers import same, texts, writer_of

GLUE = b"\3\0"  # not compressed
NULL = "null"
Shown = Callable[[Any], Any]
"""Converts a column's value to a record's JSON."""
Payload = Callable[[Any], bytes]
"""Encodes a column's value as payload. Raises ValueError."""


class BadRow(KcliError):
    """A row that does not match its schema."""


def check_rules(schema: Schema, *, without: bool = False) -> None:
    """Raise UsageError for a schema with rules for writing, which are not run here. `without` writes anyway, but never
    plain text if a rule encrypts."""
    rules = (rule for rule in rules_of(schema) if rule.mode in WRITING)
    rule = next((rule for rule in rules if encrypts(rule) or not without), None)
    if rule is not None:
        raise UsageError(
            f"{schema.name} has the rule {rule.name} ({rule.type}) for writing, which kcli does not run in Spark writes"
        )


class Framing:
    """Encodes the columns of a task's rows with frames."""

    def __init__(self, schemas: Mapping[str, SealedSchemas]) -> None:
        self._fields = {field: FramedField(sealed) for field, sealed in schemas.items()}

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the batch with frames instead of values. Raises BadRow."""
        for name, field in self._fields.items():
            place = batch.schema.get_field_index(name)
            if place >= 0:
                batch = batch.set_column(place, name, field.frames(batch.column(place)))
        return batch


class FramedField:
    """Encodes the keys or the values of rows."""

    def __init__(self, sealed: SealedSchemas) -> None:
        """Raises SchemaRefused, UsageError if the schema's reader is not installed."""
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
        """Return a frame for each cell; null stays null. Raises BadRow."""
        payload = self._payloads(cells.type)
        return pa.array(
            [None if cell is None else self._frame(payload, cell) for cell in cells.to_pylist()], pa.binary()
        )

    def _frame(self, payload: Payload, value: Any) -> bytes:
        try:
            return self._front + payload(value)
        except ValueError as problem:
            raise BadRow(f"a row's {self._field} does not match {self._name}: {problem}") from None


def json_payloads(
    kind: pa.DataType, *, write: Callable[[str], bytes], left: Callable[[Any], Any] = lambda value: value
) -> Payload:
    """Return the encoder of a column's values, for what `left` returns of their JSON."""
    show = shown(kind, avro=False)
    return lambda value: write(json.dumps(left(show(value)), ensure_ascii=False))


def front_of(schema: Schema, kind: str) -> bytes:
    """Return what precedes a payload. Raises UsageError for a registry whose frames have neither an id nor a UUID."""
    if schema.id >= 0:
        return b"\0" + schema.id.to_bytes(4, "big")
    if kind != "glue":
        raise UsageError(f"{schema.name} has no id, which the record's frame needs")
    return GLUE + bytes.fromhex(schema.guid.replace("-", ""))


# Rows as objects of a JSON schema. A null in an optional property is omitted: such a record is read as null, and the
# property may not allow null.
def without_absent(known: Known) -> Callable[[Any], Any]:
    """Return the function that converts a row's plain JSON to the object. Raises SchemaRefused."""
    schema, files = parsed(known)
    columns = JsonColumns(schema, files)

    def left(value: Any, own: Any, root: Any) -> Any:
        if not isinstance(value, dict | list | str) or own is None:
            return value
        own, root = columns.followed(own, root)
        if isinstance(value, str):
            return _of_json(value) if takes_json(own) else value
        if not isinstance(own, dict):
            return value
        if isinstance(value, list):
            return [left(one, own.get("items"), root) for one in value]
        properties, required = own.get("properties"), own.get("required")
        named = properties if isinstance(properties, dict) else {}
        asked = required if isinstance(required, list) else ()
        more = own.get("additionalProperties")
        return {
            name: left(inner, named.get(name, more), root)
            for name, inner in value.items()
            if inner is not None or name in asked or name not in named
        }

    return lambda value: left(value, schema, schema)


def _of_json(text: str) -> Any:
    """Return the value of a JSON text, which reading creates for values of several types; other texts are unchanged."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


# Converts column values to the input of the Avro writer. Unions are columns as in reading, so values are written with
# the branches with which they were read: null and one type is that type, several types are a struct of `member0`,
# `member1`, …, of which one is not null. Any other column for such a union uses the branch that its values fit.
def avro_payloads(kind: pa.DataType, *, schema: Type) -> Payload:
    """Return the encoder of a column's values. It raises BadValue, with the path."""
    show, writer = _shaped(kind, schema), AvroWriter(schema)
    if schema.kind != "string":
        return lambda value: writer.write(show(value))

    def text(value: Any) -> bytes:
        plain = show(value)
        return writer.write(plain if isinstance(plain, str) else json.dumps(plain))  # a key such as 42 is text here

    return text


def _shaped(kind: pa.DataType, schema: Type) -> Shown:
    if isinstance(schema, Union):
        return _union(kind, schema)
    if isinstance(schema, Record) and pa.types.is_struct(kind):
        return _record(kind, schema)
    if isinstance(schema, Map) and pa.types.is_map(kind):
        key, item = shown(kind.key_type, avro=True), _or_null(_shaped(kind.item_type, schema.values))
        return lambda value: {str(key(name)): _within(f".{name}", item, one) for name, one in value}
    if isinstance(schema, Array) and is_list(kind):
        element = _or_null(_shaped(kind.value_type, schema.items))
        return lambda value: [_within(f"[{number}]", element, one) for number, one in enumerate(value)]
    return _plain(kind)


def _plain(kind: pa.DataType) -> Shown:
    """Values unchanged; a float with its digits as in JSON."""
    show = shown(kind, avro=True)
    if pa.types.is_floating(kind):
        return lambda value: Written(repr(value)) if isinstance(plain := show(value), float) else plain
    return show


def _record(kind: pa.DataType, record: Record) -> Shown:
    types = {field.name: field.type for field in record.fields}
    fields = []
    for field in kind:
        known = types.get(field.name)
        show = _plain(field.type) if known is None else _shaped(field.type, known)
        fields.append((field.name, _or_null(show)))
    return lambda value: {name: _within(f".{name}", show, value[name]) for name, show in fields}


def _union(kind: pa.DataType, union: Union) -> Shown:
    branches = [(number, branch) for number, branch in enumerate(union.branches) if branch.kind != NULL]
    if len(branches) == 1:
        ((number, branch),) = branches
        show = _shaped(kind, branch)
        return lambda value: Branch(number, show(value))
    if pa.types.is_struct(kind) and [field.name for field in kind] == [f"member{n}" for n in range(len(branches))]:
        return _members(kind, branches)
    double = next((number for number, branch in branches if branch.kind == "double"), None)
    if double is not None and pa.types.is_float64(kind):
        show = _plain(kind)
        return lambda value: Branch(double, show(value))  # not float, which has fewer digits
    return _plain(kind)


def _members(kind: pa.DataType, branches: list[tuple[int, Type]]) -> Shown:
    members = [
        (field.name, number, _shaped(field.type, branch))
        for field, (number, branch) in zip(kind, branches, strict=True)
    ]

    def member(value: Any) -> Branch | None:
        given = [(name, number, show) for name, number, show in members if value[name] is not None]
        if not given:
            return None
        if len(given) > 1:
            raise BadValue(f"{' and '.join(name for name, *_ in given)} are given, but a union has only one value")
        ((name, number, show),) = given
        return Branch(number, _within(f".{name}", show, value[name]))

    return member


def _or_null(show: Shown) -> Shown:
    return lambda value: None if value is None else show(value)


def _within(step: str, show: Shown, value: Any) -> Any:
    try:
        return show(value)
    except BadValue as bad:
        raise bad.within(step) from None


def shown(kind: pa.DataType, *, avro: bool) -> Shown:
    """Return the conversion of a column's values to plain JSON: in kcli's form, or in that of proto3 and JSON if not
    `avro`."""
    if pa.types.is_struct(kind):
        fields = [(field.name, shown(field.type, avro=avro)) for field in kind]
        return lambda value: {name: None if value[name] is None else show(value[name]) for name, show in fields}
    if pa.types.is_map(kind):
        key, item = shown(kind.key_type, avro=avro), shown(kind.item_type, avro=avro)
        return lambda value: {_key(key(name)): None if one is None else item(one) for name, one in value}
    if is_list(kind):
        element = shown(kind.value_type, avro=avro)
        return lambda value: [None if one is None else element(one) for one in value]
    return lambda value: _simple(value, avro=avro)


def is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))


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


def looked_up_to_write(
    wanted: Wanted, settings: RegistrySettings | None, *, guard: str = "", profile: str = ""
) -> SealedSchemas:
    """Return the schema with its references. `guard` is the restriction of the profile. Raises UsageError if no
    registry is set, the schema is of another kind or has rules for writing, or a file's schema is not the latest and
    must not be registered; SchemaNotFound, SchemaRefused, and the errors of the registry's client."""
    registry = named_registry(wanted, settings)

    async def ask(schemas: Opened) -> SealedSchemas:
        known = await chosen(wanted, schemas)
        if wanted.of_file:
            known = await _known(wanted, known.schema, schemas)
        check_rules(known.schema, without=not wanted.rules)
        return SealedSchemas(
            field=wanted.field, form=wanted.form, message=wanted.message, reader=known, settings=registry
        )

    return asking(registry, ask, guard=guard, profile=profile)


async def _known(wanted: Wanted, own: Schema, schemas: Opened) -> Known:
    """Return a file's schema as the registry has it."""
    subject = await subject_of(wanted, schemas, Known(schema=own))
    writer_of(own.replace(subject=wanted.reader), [], message=wanted.message)
    latest = await _latest(subject, schemas)
    if not wanted.register:
        if latest is not None and same(latest.schema, own, list(latest.referred), []):
            return latest
        there = f"the latest version of {subject} is another schema" if latest else f"{subject} has no schema"
        raise UsageError(f"option {wanted.option} {wanted.reader}: {there}; registerSchemas=true registers it").hinted(
            "spark-option"
        )
    if latest is not None:
        check_rules(latest.schema, without=not wanted.rules)  # a new version inherits them
    number = await schemas.register(subject, own)
    if number >= 0:
        return Known(schema=own.replace(id=number, subject=subject))
    return await _latest(subject, schemas) or Known(schema=own)  # AWS Glue identifies it by UUID


async def _latest(subject: str, schemas: Opened) -> Known | None:
    """Return the latest version of the subject; None if there is none."""
    try:
        latest = await schemas.latest(subject)
    except SchemaNotFound:
        return None
    needed = await schemas.references(latest) if latest.references else []
    return Known(schema=latest, referred=tuple((name, one.text) for name, one in needed))
