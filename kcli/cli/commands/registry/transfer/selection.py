"""Which subjects of a registry a line names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.cli.runtime.answer import missing, plural, say
from kcli.errors import KcliError
from kcli.registry.moving.snapshot import Snapshot, left_behind, take

if TYPE_CHECKING:
    from kcli.cli.output.tables.document import Document
    from kcli.cli.parsing.groups import OutputOptions
    from kcli.registry.client import RegistryClient
    from kcli.text.names import Names


async def taken(client: RegistryClient, names: Names, document: Document) -> Snapshot:
    """All versions of the subjects that the names mean, with what they refer to. A name that means none is an error of
    the document, and then nothing is taken. Raises KcliError."""
    return await take(client, selected(await client.subjects(), names, document))


async def say_left_behind(options: OutputOptions, client: RegistryClient, snapshot: Snapshot, verb: str) -> None:
    """Name what is lost of the subjects of a registry where only a snapshot is `verb`, such as copied. Raises
    KcliError."""
    deleted, settings = await left_behind(client, snapshot)
    by_subject: dict[str, list[str]] = {}
    for subject, number in deleted:
        by_subject.setdefault(subject, []).append(str(number))
    if deleted:
        count, them = plural(len(deleted), "soft-deleted version"), "it" if len(deleted) == 1 else "them"
        places = "; ".join(f"{subject} {', '.join(numbers)}" for subject, numbers in by_subject.items())
        are = "is" if len(deleted) == 1 else "are"
        say(options, f"{count} {are} not {verb}; records written with {them} cannot be decoded there: {places}")
    if settings:
        places = "; ".join(f"{subject}: {', '.join(names)}" for subject, names in settings.items())
        say(options, f"these settings are not {verb}: {places}")


def selected(known: list[str], names: Names, document: Document) -> list[str]:
    """The subjects that the names mean, all without names; none where one means nothing, which the document then
    says. Raises KcliError for a pattern that matches none."""
    match = names.among(known)
    if match.unmatched:
        raise KcliError(f"{', '.join(match.unmatched)}: no subject matches")
    if not names.words:
        return sorted(known)
    held = set(known)
    for name in match.names:
        if name not in held:
            missing(document, name, KcliError(f"{name}: the registry has no such subject"), known)
    return [] if document.errors else match.names


def part(snapshot: Snapshot, names: Names, document: Document) -> Snapshot:
    """The part of a snapshot that the names mean, with what it refers to. Raises KcliError."""
    from kcli.registry.moving.snapshot import needed_by

    if not names.words:
        return snapshot
    wanted = set(selected(snapshot.subjects, names, document))
    kept = []
    places: set[tuple[str, int]] = set()
    for schema in reversed(snapshot.schemas):  # what is referred to comes before
        if schema.subject in wanted or (schema.subject, schema.version) in places:
            kept.append(schema)
            places.update(needed_by(schema))
    levels = {subject: level for subject, level in snapshot.levels.items() if subject in wanted}
    return Snapshot(schemas=tuple(reversed(kept)), levels=levels)
