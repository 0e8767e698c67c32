"""What the produce form does with keys and values whose topic has a schema. Imported where a registry is configured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.errors import KcliError
from kcli.schemas import SchemaNotFound
from kcli.serde.rules.writable import conditions_of
from kcli.serde.schemas.writers import writer_of

if TYPE_CHECKING:
    from kcli.registry.listing.opened import OpenRegistry
    from kcli.serde.schemas.writers import Write

MOST = 20
"""Subjects that are looked at for the one of a topic."""


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
