"""The versions of a subject: what changed in each, and the compatibility level of the change."""

from __future__ import annotations

import json

from kcli.schemas import AVRO, PROTOBUF
from kcli.serde.avro.parse import parse
from kcli.serde.schemas.difference import Difference, differences, level_kept
from kcli.values import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.registry.listing.opened import OpenRegistry
    from kcli.schemas import Schema


class Version(Frozen):
    """A version of a subject. `level` is the compatibility with the previous version, "" if unknown; `note` is what
    changed since then."""

    schema: Schema
    level: str = ""
    note: str = ""


async def history(registry: OpenRegistry, subject: str, *, deleted: bool = False) -> list[Version]:
    """Return the versions of a subject, the oldest first. Raises KcliError."""
    versions: list[Version] = []
    for number in await registry.client.versions(subject, deleted=deleted):
        schema = await registry.client.version(subject, number, deleted=deleted)
        note, level = "first version" if number == 1 else "the versions before it are deleted", ""
        if versions:
            changes, level = await changed(registry, versions[-1].schema, schema)
            note = "; ".join(sentence(change) for change in changes) or "documentation or order only"
        versions.append(Version(schema=schema.replace(version=number), level=level, note=note))
    return versions


async def changed(registry: OpenRegistry, old: Schema, new: Schema) -> tuple[list[Difference], str]:
    """Return the changes, and the level with which they are compatible: "" for schemas that are not Avro."""
    if old.kind != AVRO or new.kind != AVRO:
        return _lines(old, new), ""
    before = parse(old.text, [imported.text for imported in await registry.needed(old)])
    after = parse(new.text, [imported.text for imported in await registry.needed(new)])
    return differences(before, after), level_kept(before, after)


def _lines(old: Schema, new: Schema) -> list[Difference]:
    """Return removed and added lines."""
    from difflib import SequenceMatcher

    before, after = pretty(old.text, old.kind).splitlines(), pretty(new.text, new.kind).splitlines()
    differences = [] if old.kind == new.kind else [Difference("", "type", old.kind, new.kind)]
    for tag, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag != "equal":
            differences += [Difference(str(number + 1), "line", before[number].strip(), None) for number in range(a, b)]
            differences += [Difference(str(number + 1), "line", None, after[number].strip()) for number in range(c, d)]
    return differences


def sentence(change: Difference) -> str:
    """Return `+ note: string = ""`, `- price`, `total: int → long`."""
    where = change.path or "schema"
    if change.change == "added":
        return f"+ {where}: {change.new}"
    if change.change == "removed":
        return f"- {where}"
    if change.change == "renamed":
        return f"{where} was {change.old}"
    what = "" if change.change == "type" else f" {change.change}"
    return f"{where}{what}: {change.old or 'none'} → {change.new or 'none'}"


def pretty(text: str, kind: str) -> str:
    """Return a schema's text for reading: JSON is indented."""
    if kind == PROTOBUF:
        return text.rstrip("\n")
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return text
