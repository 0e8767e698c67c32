"""What the produce form does with keys and values whose topic has a schema. Imported where a registry is configured."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kcli.errors import KcliError
from kcli.schemas import SchemaNotFound
from kcli.serde.contracts.writable import conditions_of
from kcli.serde.schemas.decoder import FieldDecoder
from kcli.serde.schemas.labels import Label, Labels
from kcli.serde.schemas.payloads import cells_of
from kcli.serde.schemas.readers import reader_of
from kcli.serde.schemas.single import columns_of
from kcli.serde.schemas.writers import RecordWriter, writer_of

if TYPE_CHECKING:
    from kcli.proto.columns import Headers
    from kcli.registry.listing.opened import OpenRegistry
    from kcli.schemas import Schema, Schemas
    from kcli.serde.schemas.readers import References
    from kcli.serde.schemas.writers import Write

MOST = 20
"""Subjects that are looked at for the one of a topic."""
OTHER_HEADER = "a header names its schema in another way than Confluent's"


class FieldSchema:
    """The latest schema of a topic's keys, or of its values. `name` is `orders-value@3 (AVRO)`; `reason` says why
    nothing is written by it, "" where it is; `spec` is what `kcli produce --value-schema` calls it."""

    def __init__(self, name: str, frame: bytes = b"", write: Write | None = None, reason: str = "") -> None:
        self.name, self.reason, self.spec = name, reason, "topic"
        self._frame, self._write = frame, write

    def problem(self, text: str) -> str:
        """Why a key or value is not stored by the schema, "" where it is."""
        if self._write is None:
            return self.reason
        try:
            self._write(text)
        except ValueError as problem:
            return str(problem)
        return ""

    def said(self, text: str) -> str:
        """Of a key or value without a problem, for the form."""
        return f"fits {self.name}" if text else f"empty; expected a value of {self.name}"

    def stored(self, text: str) -> bytes:
        """The bytes of a key or value without a problem."""
        assert self._write is not None
        return self._frame + self._write(text)


async def schemas_of(topic: str, registry: OpenRegistry) -> dict[str, FieldSchema]:
    """The schemas of a topic by the field that has one: "key", "value"."""
    found = {kind: await _schema_of_field(topic, kind, registry) for kind in ("key", "value")}
    return {kind: schema for kind, schema in found.items() if schema is not None}


async def _schema_of_field(topic: str, kind: str, registry: OpenRegistry) -> FieldSchema | None:
    """By the strategy of the registry's settings."""
    try:
        subject = await registry.subject(topic, kind)
        if subject:
            return await schema_of(subject, registry)
        subject = await _subject_by_name(topic, registry) if kind == "value" else ""
        found = await schema_of(subject, registry) if subject else None
    except KcliError as problem:
        return FieldSchema(f"the schema of {topic}'s {kind}s", reason=str(problem))
    if found is not None:
        found.spec = f"topic#{subject.removeprefix(topic)[1:]}"
    return found


async def _subject_by_name(topic: str, registry: OpenRegistry) -> str:
    """The subject of values that is made of the topic and of the name of its schema, "" unless there is exactly one.
    Keys have none: nothing says whether such a subject is of keys or of values."""
    subjects = (await registry.client.subjects(f"{topic}-"))[: MOST + 1]
    schemas = [(one, await registry.schemas.latest(one)) for one in subjects] if len(subjects) <= MOST else []
    fitting = [one for one, schema in schemas if await registry.subject(topic, "value", schema) == one]
    return fitting[0] if len(fitting) == 1 else ""


async def schema_of(subject: str, registry: OpenRegistry) -> FieldSchema | None:
    """None without such a subject. A registry that does not answer, and a rule that is not run, are reasons."""
    name = subject
    try:
        schema = await registry.schemas.latest(subject)
        name = f"{subject}@{schema.version} ({schema.kind})"
        referred = [(one, found.text) for one, found in await registry.schemas.references(schema)]
        write = writer_of(schema, referred, conditions=conditions_of(schema))
    except SchemaNotFound:
        return None
    except KcliError as problem:
        return FieldSchema(name, reason=str(problem))
    return FieldSchema(name, b"\0" + schema.id.to_bytes(4, "big"), write)


class OwnSchema(FieldSchema):
    """The schema of a key or value that is edited: what is not changed is stored as it was, whether it fits or not."""

    def __init__(self, label: Label, data: bytes, text: str, header: bytes | None) -> None:
        """`text` is the JSON of `data`, `header` the content of a header that names the schema. Raises KcliError for a
        schema by which nothing is written. `spec` is "" where no option of `kcli produce` has this frame."""
        schema = label.schema
        writer = RecordWriter(label, conditions=conditions_of(schema))
        name = f"schema {'id ' * (schema.id >= 0)}{label.id} ({schema.kind})"
        super().__init__(name, write=lambda text: writer.write(text, header))
        by_id = label.frame == b"\0" + max(schema.id, 0).to_bytes(4, "big")
        self.spec = f"id:{schema.id}" + f"#{label.message}" * bool(label.message) if by_id else ""
        self._data, self._text = data, text

    def problem(self, text: str) -> str:
        return "" if text == self._text else super().problem(text)

    def said(self, text: str) -> str:
        wrong = super().problem(text)  # of a value that is not changed
        return (
            f"sent as it is stored; {self.name} refuses it when it is changed: {wrong}" if wrong else super().said(text)
        )

    def stored(self, text: str) -> bytes:
        return self._data if text == self._text else super().stored(text)


class Own(NamedTuple):
    """A key or value that is edited: its JSON and its schema; None, and the `reason`, where it is not edited so."""

    text: str = ""
    schema: FieldSchema | None = None
    reason: str = ""


async def own_schemas(fields: dict[str, bytes], headers: Headers, registry: OpenRegistry) -> dict[str, Own]:
    """Of a record the fields to edit: "key", "value". A registry that does not answer is a reason."""
    return {kind: await _own(kind, data, headers, registry.schemas) for kind, data in fields.items()}


async def _own(kind: str, data: bytes, headers: Headers, schemas: Schemas) -> Own:
    field = FieldDecoder(kind, schemas, reader_of())
    labels = field.labels = Labels(kind, None, _no_subject)
    row = (data, None, headers) if kind == "key" else (None, data, headers)
    column = await field.decode(columns_of([row]), "", 0)
    reason = next(iter(field.undecoded.reasons), "")
    label = labels.rows.get(0)
    cell = None if column is None else next(cells_of(column))
    if reason or cell is None or label is None:
        return Own(reason=reason or "it is not decoded")
    header = dict(headers).get(f"__{kind}_schema_id")
    if not label.frame and (header or b"")[:1] not in (b"\0", b"\1"):
        return Own(reason=OTHER_HEADER)
    if field.unknown:
        return Own(reason=f"schema id {label.schema.id} does not have all of its fields, and they would be lost")
    try:
        text = cell.decode()
        return Own(text, OwnSchema(label, data, text, header))
    except (KcliError, UnicodeDecodeError) as problem:  # JSON may be UTF-16
        return Own(reason=str(problem))


async def _no_subject(schemas: Schemas, topic: str, schema: Schema, referred: References, message: str) -> str:
    return ""
