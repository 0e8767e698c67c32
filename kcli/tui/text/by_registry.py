"""What the schema registry knows of a record's value. Imported where a registry is configured."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kcli.errors import KcliError
from kcli.registry.listing.history import pretty
from kcli.serde.schemas.single import decode_one

if TYPE_CHECKING:
    from kcli.registry.listing.opened import OpenRegistry
    from kcli.schemas import Schema
    from kcli.tui.tail import Seen


class ByRegistry(NamedTuple):
    """The value's JSON, None with a `reason` where it is not decoded, "" where it names no schema; the subject, name
    and text of its schema, "" where it is not known."""

    json: bytes | None = None
    reason: str = ""
    subject: str = ""
    name: str = ""
    text: str = ""


async def ask(record: Seen, registry: OpenRegistry) -> ByRegistry:
    """Decode the value. A registry that does not answer is a reason."""
    assert record.value is not None
    found = await decode_one("value", record.value, record.headers, registry.schemas)
    if found.schema is None:
        return ByRegistry(found.json, found.reason)
    subject, version = await _use(found.schema, record.topic, registry)
    id = f"id {found.schema.id}" if found.schema.id >= 0 else found.schema.guid
    name = f"{subject}@{version} ({id}, {found.schema.kind})" if subject else f"schema {id}, {found.schema.kind}"
    return ByRegistry(found.json, found.reason, subject, name, pretty(found.schema.text, found.schema.kind))


async def _use(schema: Schema, topic: str, registry: OpenRegistry) -> tuple[str, int]:
    """A subject and version that the schema has: the topic's if it is one of them; ("", -1) where none is known."""
    uses = [(schema.subject, schema.version)] if schema.subject and schema.version >= 0 else []
    if schema.id >= 0:
        try:
            uses += [(use.subject, use.version) for use in await registry.client.uses_of(schema.id)]
        except KcliError:  # not every registry tells; the value is decoded without it
            pass
    return min(uses, key=lambda use: use[0] != f"{topic}-value", default=("", -1))
