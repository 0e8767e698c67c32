"""Which subjects of a registry a line names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.cli.runtime.answer import missing
from kcli.errors import KcliError
from kcli.registry.moving.snapshot import Snapshot, take

if TYPE_CHECKING:
    from kcli.cli.output.tables.document import Document
    from kcli.registry.client import RegistryClient
    from kcli.text.names import Names


async def taken(client: RegistryClient, names: Names, document: Document) -> Snapshot:
    """All versions of the subjects that the names mean, with what they refer to. A name that means none is an error of
    the document, and then nothing is taken. Raises KcliError."""
    return await take(client, selected(await client.subjects(), names, document))


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
