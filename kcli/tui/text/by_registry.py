"""What the schema registry knows of a record's key and value. Imported where a registry is configured."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kcli.errors import KcliError
from kcli.registry.listing.history import changed, pretty, sentence
from kcli.serde.schemas.single import decode_one

if TYPE_CHECKING:
    from kcli.registry.listing.opened import OpenRegistry
    from kcli.schemas import Schema
    from kcli.tui.tail import Seen


class ByRegistry(NamedTuple):
    """The JSON of a key or value, None with a `reason` where it is not decoded, "" where it names no schema; the
    subject, name and text of its schema, "" where it is not known; `changes` since the version before."""

    json: bytes | None = None
    reason: str = ""
    subject: str = ""
    name: str = ""
    text: str = ""
    changes: str = ""


class Both(NamedTuple):
    """What is known of a record's key and of its value."""

    key: ByRegistry
    value: ByRegistry


async def ask(record: Seen, registry: OpenRegistry) -> Both:
    """Decode the key and the value. A registry that does not answer is a reason."""
    return Both(
        await _known("key", record.key, record, registry), await _known("value", record.value, record, registry)
    )


async def _known(kind: str, data: bytes | None, record: Seen, registry: OpenRegistry) -> ByRegistry:
    if data is None:
        return ByRegistry()
    found = await decode_one(kind, data, record.headers, registry.schemas)
    if found.schema is None:
        return ByRegistry(found.json, found.reason)
    own = await _own_subject(record.topic, kind, found.schema, registry)
    subject, version = await registry.schemas.use_of(found.schema, own)
    id = f"id {found.schema.id}" if found.schema.id >= 0 else found.schema.guid
    name = f"{subject}@{version} ({id}, {found.schema.kind})" if subject else f"schema {id}, {found.schema.kind}"
    changes = await _changes(found.schema, subject, version, registry)
    text = pretty(found.schema.text, found.schema.kind)
    return ByRegistry(found.json, found.reason, subject, name, text, changes)


async def _own_subject(topic: str, kind: str, schema: Schema, registry: OpenRegistry) -> str:
    """The subject that the topic has by the strategy of the settings, "" where that is not known: it only chooses among
    the subjects that have the schema."""
    try:
        return await registry.subject(topic, kind, schema)
    except KcliError:
        return ""


async def _changes(schema: Schema, subject: str, version: int, registry: OpenRegistry) -> str:
    """What changed since the version before, a change a line; "" for a first version, and where that is not known."""
    if version < 2:
        return ""
    try:
        before = max((one for one in await registry.client.versions(subject) if one < version), default=0)
        if not before:
            return ""
        changes, level = await changed(registry, await registry.schemas.version(subject, before), schema)
    except KcliError as problem:
        return f"changes since the version before are not known: {problem}"
    kept = f", which keeps {level}" if level else ""
    lines = [f"  {sentence(change)}" for change in changes] or ["  documentation or order only"]
    return "\n".join([f"changed since {subject}@{before}{kept}:", *lines])
