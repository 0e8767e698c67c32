"""A snapshot as a document, for YAML or JSON files and for undo files.

    subjects:
      orders-value:
        compatibility: FULL
        mode: READONLY
        settings: '{"normalize": true}'
        versions:
          - {version: 1, id: 7, type: AVRO, schema: '{"type": …}', references: [{name: …, subject: …, version: 1}]}
          - {version: 2, id: 8, deleted: true, …}

`settings`, `metadata` and `ruleSet` are JSON texts, because our YAML reader takes every scalar for text.
"""

from __future__ import annotations

import json

from kcli.registry.answers import LARGEST_SCHEMA
from kcli.registry.moving.snapshot import LEVEL, Snapshot, in_order
from kcli.registry.subjects import split
from kcli.schemas import AVRO, KINDS, Reference, Schema
from kcli.text.json_object import JsonObject, json_object

ID = "kcli.registry/1"
TEXTS = {"metadata": "metadata", "ruleSet": "rule_set", "extra": "extra"}
"""Fields of a version that are JSON texts, by their names in the document and in a Schema."""


def document_of(snapshot: Snapshot) -> dict[str, object]:
    """Return the subjects by name, each with its versions."""
    subjects: dict[str, dict[str, object]] = {}
    for subject in sorted(snapshot.subjects):
        versions = sorted(
            (schema for schema in snapshot.schemas if schema.subject == subject), key=lambda schema: schema.version
        )
        own: dict[str, object] = {}
        if subject in snapshot.levels:
            own[LEVEL] = snapshot.levels[subject]
        if subject in snapshot.modes:
            own["mode"] = snapshot.modes[subject]
        if subject in snapshot.settings:
            own["settings"] = json.dumps(snapshot.settings[subject], ensure_ascii=False)
        subjects[subject] = {**own, "versions": [_row(schema, snapshot) for schema in versions]}
    return subjects  # type: ignore[return-value]  # a dict of objects


def _row(schema: Schema, snapshot: Snapshot) -> dict[str, object]:
    row: dict[str, object] = {"version": schema.version}
    if schema.id >= 0:
        row["id"] = schema.id
    if (schema.subject, schema.version) in snapshot.deleted:
        row["deleted"] = True
    row |= {"type": schema.kind, "schema": schema.text}
    if schema.references:
        row["references"] = [reference._asdict() for reference in schema.references]
    return row | {name: getattr(schema, own) for name, own in TEXTS.items() if getattr(schema, own)}


def snapshot_of(value: object) -> Snapshot:
    """Parse the subjects of a document. Raises ValueError, SchemaRefused."""
    subjects = json_object(value, "subjects")
    schemas: dict[tuple[str, int], Schema] = {}
    deleted = set()
    levels, modes, settings = {}, {}, {}
    for subject in subjects.fields:
        row = subjects.nested(subject)
        if row.has(LEVEL):
            levels[subject] = row.text(LEVEL).upper()
        if row.has("mode"):
            modes[subject] = row.text("mode").upper()
        if row.has("settings"):
            settings[subject] = _object_in(row, "settings")
        for version in row.objects("versions"):
            schema = _schema(subject, version)
            if schemas.setdefault((subject, schema.version), schema) is not schema:
                raise ValueError(f"{version.place}: version {schema.version} of {subject} is listed twice")
            if version.has("deleted") and (version.fields["deleted"] == "true" or version.flag("deleted")):
                deleted.add((subject, schema.version))
    return Snapshot(
        schemas=tuple(in_order(schemas.values())),
        deleted=frozenset(deleted),
        levels=levels,
        modes=modes,
        settings=settings,
    )


def _schema(subject: str, row: JsonObject) -> Schema:
    kind = row.text("type") if row.has("type") else AVRO
    if kind not in KINDS:
        raise ValueError(f"{row.place}.type: {kind[:40]} is not one of {', '.join(KINDS)}")
    text = row.text("schema")
    if len(text) > LARGEST_SCHEMA:
        raise ValueError(f"{row.place}.schema: it is longer than {LARGEST_SCHEMA // 1024**2} MiB")
    references = row.objects("references") if row.has("references") else []
    fields = {own: row.text(name) for name, own in TEXTS.items() if row.has(name)}
    for name in TEXTS:
        if row.has(name):
            _object_in(row, name)
    return Schema(
        kind=kind,
        text=text,
        references=tuple(
            Reference(reference.text("name"), reference.text("subject"), _number(reference, "version", least=1))
            for reference in references
        ),
        id=_number(row, "id", least=0) if row.has("id") else -1,
        subject=subject,
        version=_number(row, "version", least=1),
        context=split(subject)[0],
        **fields,
    )


def _object_in(row: JsonObject, name: str) -> dict[str, object]:
    """Return an object that is written as a JSON text."""
    value = json.loads(row.text(name))
    if not isinstance(value, dict):
        raise ValueError(f"{row.place}.{name}: expected a JSON object as a text")
    return value


def _number(row: JsonObject, name: str, *, least: int) -> int:
    """Return a whole number, or the text of one."""
    value = row.fields.get(name)
    if isinstance(value, str) and value.isascii() and value.isdecimal():
        value = int(value[:20])
    if type(value) is not int or not least <= value < 2**31:
        raise ValueError(f"{row.place}.{name}: expected a whole number of {least} or more")
    return value
