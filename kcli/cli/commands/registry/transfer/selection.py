"""Which subjects of a registry a line names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.cli.runtime.answer import missing
from kcli.errors import KcliError
from kcli.registry.moving.snapshot import Snapshot, needed_by, take

if TYPE_CHECKING:
    from kcli.cli.output.tables.document import Document
    from kcli.registry.client import RegistryClient
    from kcli.text.names import Names


async def taken(client: RegistryClient, names: Names, document: Document) -> Snapshot:
    """All versions of the subjects that the names mean, soft-deleted ones too, with what they refer to. A name that
    means none is an error of the document, and then nothing is taken. Raises KcliError."""
    return await take(client, selected(await client.subjects(deleted=True), names, document))


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
    if not names.words:
        return snapshot
    wanted = set(selected(snapshot.subjects, names, document))
    kept = []
    places: set[tuple[str, int]] = set()
    for schema in reversed(snapshot.schemas):  # what is referred to comes before
        if schema.subject in wanted or (schema.subject, schema.version) in places:
            kept.append(schema)
            places.update(needed_by(schema))
    return snapshot.replace(
        schemas=tuple(reversed(kept)),
        levels={subject: level for subject, level in snapshot.levels.items() if subject in wanted},
        modes={subject: mode for subject, mode in snapshot.modes.items() if subject in wanted},
        settings={subject: values for subject, values in snapshot.settings.items() if subject in wanted},
    )
