"""What a registry answers about subjects, versions and schemas: a function a request."""

from __future__ import annotations

import json
from typing import Any

from kcli.sandbox.registry import refusals
from kcli.sandbox.registry.names import ALL, split
from kcli.sandbox.registry.registry import Registry
from kcli.sandbox.registry.rest.asked import Asked
from kcli.sandbox.registry.store import Content, Version
from kcli.sandbox.registry.texts import resolved
from kcli.schemas import AVRO, KINDS, PROTOBUF
from kcli.serde.protobuf.serialized import serialized

RESOLVED, SERIALIZED = "resolved", "serialized"


class Text(str):
    """An answer that is this text, not JSON made of it."""


def subjects(registry: Registry, asked: Asked) -> object:
    return asked.page([name for name, _ in _subjects(registry, asked)])


def _subjects(registry: Registry, asked: Asked) -> list[tuple[str, list[Version]]]:
    """The subjects that the query asks for, each with its versions, of which some may be deleted."""
    prefix, only = asked.prefix, asked.flag("deletedOnly")
    deleted = only or asked.flag("deleted")
    return registry.store.found((prefix, only, deleted), lambda: _found(registry, prefix, only=only, deleted=deleted))


def _found(registry: Registry, prefix: str, *, only: bool, deleted: bool) -> list[tuple[str, list[Version]]]:
    everywhere = prefix.startswith(ALL)
    context = split(prefix)[0]
    subjects_and_rows = []
    for name in registry.store.subjects():
        own, short = split(name)
        if not (
            short.startswith(prefix.removeprefix(ALL)) if everywhere else own == context and name.startswith(prefix)
        ):
            continue
        rows = registry.store.versions(name, deleted=deleted)
        if rows and not (only and any(not row.deleted for row in rows)):
            subjects_and_rows.append((name, rows))
    return subjects_and_rows


def versions(registry: Registry, asked: Asked) -> object:
    only = asked.flag("deletedOnly")
    rows = registry.store.versions(asked.subject, deleted=only or asked.flag("deleted"))
    rows = [row for row in rows if row.deleted] if only else rows
    if not rows:
        raise refusals.no_subject(asked.subject)
    return asked.page([row.number for row in rows])


def version(registry: Registry, asked: Asked) -> object:
    row = registry.version(asked.subject, asked.names["version"], deleted=asked.flag("deleted"))
    return _row(registry, row, asked.query.get("format", ""))


def version_text(registry: Registry, asked: Asked) -> object:
    row = registry.version(asked.subject, asked.names["version"], deleted=asked.flag("deleted"))
    return Text(_text(registry, row.content, asked.query.get("format", "")))


def referenced_by(registry: Registry, asked: Asked) -> object:
    row = registry.version(asked.subject, asked.names["version"])
    return sorted({other.id for other in registry.store.referrers(row.subject, row.number)})


def register(registry: Registry, asked: Asked) -> object:
    return _row(registry, registry.register(asked.subject, asked.draft(), normalize=asked.flag("normalize")))


def lookup(registry: Registry, asked: Asked) -> object:
    normalize, deleted = asked.flag("normalize"), asked.flag("deleted")
    return _row(registry, registry.lookup(asked.subject, asked.draft(), normalize=normalize, deleted=deleted))


def delete_subject(registry: Registry, asked: Asked) -> object:
    return registry.delete_subject(asked.subject, permanent=asked.flag("permanent"))


def delete_version(registry: Registry, asked: Asked) -> object:
    return registry.delete_version(asked.subject, asked.names["version"], permanent=asked.flag("permanent"))


def schemas(registry: Registry, asked: Asked) -> object:
    latest = asked.flag("latestOnly")
    rows_asked = [row for _, rows in _subjects(registry, asked) for row in (rows[-1:] if latest else rows)]
    return [_row(registry, row) for row in asked.page(rows_asked)]


def by_id(registry: Registry, asked: Asked) -> object:
    return _content(registry, _named(registry, asked), asked.query.get("format", ""))


def text_by_id(registry: Registry, asked: Asked) -> object:
    return Text(_text(registry, _named(registry, asked).content, asked.query.get("format", "")))


def subjects_by_id(registry: Registry, asked: Asked) -> object:
    return asked.page(list(dict.fromkeys(row.subject for row in _uses(registry, asked))))


def versions_by_id(registry: Registry, asked: Asked) -> object:
    return asked.page([{"subject": row.subject, "version": row.number} for row in _uses(registry, asked)])


def _named(registry: Registry, asked: Asked) -> Version:
    context, subject = asked.place
    return registry.content_of(context, asked.id(), subject)


def _uses(registry: Registry, asked: Asked) -> list[Version]:
    version = _named(registry, asked)
    rows = registry.store.with_id(split(version.subject)[0], version.id)
    name = split(asked.place[1])[1]
    return [
        row
        for row in rows
        if (asked.flag("deleted") or not row.deleted) and name in ("", row.subject, split(row.subject)[1])
    ]


def by_guid(registry: Registry, asked: Asked) -> object:
    for context, id in registry.store.ids_of(asked.names["guid"].lower()):
        return {"id": id, **_content(registry, registry.content_of(context, id), asked.query.get("format", ""))}
    raise refusals.no_schema()


def ids_by_guid(registry: Registry, asked: Asked) -> object:
    ids = registry.store.ids_of(asked.names["guid"].lower())
    if not ids:
        raise refusals.no_schema()
    return [{"context": context, "id": id} for context, id in ids]


def types(registry: Registry, asked: Asked) -> object:
    return list(KINDS)


# -- rows ------------------------------------------------------------------------------------------------------------


def _row(registry: Registry, row: Version, format: str = "") -> dict[str, Any]:
    place = {"subject": row.subject, "version": row.number, "id": row.id}
    return {**place, **_content(registry, row, format), **({"deleted": True} if row.deleted else {})}


def _content(registry: Registry, row: Version, format: str) -> dict[str, Any]:
    """A schema without its place. The type Avro, empty metadata and empty rules have no field."""
    content = row.content
    fields: dict[str, Any] = {"guid": row.guid}
    if content.kind != AVRO:
        fields["schemaType"] = content.kind
    if content.references:
        fields["references"] = [
            {"name": reference.name, "subject": reference.subject, "version": reference.version}
            for reference in content.references
        ]
    if content.metadata:
        fields["metadata"] = json.loads(content.metadata)
    if content.rule_set:
        fields["ruleSet"] = json.loads(content.rule_set)
    fields["schema"] = _text(registry, content, format)
    return fields


def _text(registry: Registry, content: Content, format: str) -> str:
    if format == RESOLVED and content.kind == AVRO:
        return resolved(content.text, registry.texts_of(content))
    if format == SERIALIZED and content.kind == PROTOBUF:
        return serialized(content.text, registry.texts_of(content))
    return content.text
