"""Plans of schemas that go into a registry, as commands show them; restoring a registry from an undo file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.changes import schemas
from kcli.cli.commands.registry.opened import Registry, RegistryOptions, opened, subjects_in
from kcli.cli.commands.registry.settings import ConfigRow, LevelRow, ModeRow
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.groups import UndoOptions
from kcli.cli.runtime.answer import plural, say
from kcli.cli.runtime.change import PlannedChange, make_change, of_plan
from kcli.registry.moving.snapshot import has_modes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kcli.changes import change as changes
    from kcli.cli.output.tables.document import Document
    from kcli.cli.parsing.shared import KeptIds
    from kcli.registry.moving.snapshot import Snapshot
    from kcli.text.json_object import JsonObject


class MoveRow(Row, section="schemas"):
    subject: str = column("Name of the subject.", rank=1)
    version: int = column("The version in the source.", rank=1)
    id: int | None = column("Id of the schema in the source.", rank=1)
    type: str = column("AVRO, PROTOBUF or JSON.", unit="word", rank=3)
    new_version: int | None = column("The version in the target; null before the registry assigns it.", rank=2)
    new_id: int | None = column("Id in the target; null before the registry assigns it.", rank=1)
    result: str = column(
        "would register, would import (with its id), would import deleted (and soft-delete it), would delete; "
        "registered, imported, imported deleted, deleted; known, conflict, failed, unknown or not done.",
        unit="word",
        rank=1,
    )
    error: str | None = column("Why it is not registered.", table=False, unit="sentence")


COPIED = (MoveRow, LevelRow, ModeRow, ConfigRow)


async def planned(
    options: UndoOptions, registry: Registry, document: Document, snapshot: Snapshot, *, keep: bool
) -> PlannedChange | None:
    """The plan of a snapshot in the document, and the change that is left to make. Raises KcliError."""
    if snapshot.modes and not await has_modes(registry.client):
        lost = [f"{subject} {mode}" for subject, mode in snapshot.modes.items() if mode != "READWRITE"]
        if lost:
            say(options, f"{registry.name} does not support modes, so these are lost: {', '.join(lost)}")
        snapshot = snapshot.replace(modes={})
    wanted = schemas.Wanted(register=snapshot, levels=snapshot.levels, modes=snapshot.modes, settings=snapshot.settings)
    made = await schemas.plan(registry, wanted, keep=keep, force=True)
    nothing = f"{registry.name} already has all of it"
    for loss in made.warnings if made.apply is None else ():
        say(options, loss)

    def said(rows: Sequence[changes.Row]) -> str:
        return f"{registry.name}: {done(rows) or '0 versions registered'}"

    return of_plan(
        *(options, document, COPIED, registry, made),
        names=subjects_in(made.rows), done=said, nothing=nothing, refused="", verb="change", noun="subject",
    )  # fmt: skip


def done(rows: Sequence[changes.Row]) -> str:
    """`3 versions registered, 1 version deleted`."""
    moved = [row for row in rows if isinstance(row, schemas.SchemaRow)]
    counts = [("registered", ("registered", "imported", "imported deleted")), ("deleted", ("deleted",))]
    numbers = [(sum(row.result in results for row in moved), word) for word, results in counts]
    return ", ".join(f"{plural(count, 'version')} {word}" for count, word in numbers if count)


KINDS = (MoveRow, ModeRow, ConfigRow, LevelRow)
SHAPE = shape("undo.registry", "Schemas and settings that were changed back, or would be.", *KINDS)


class RestoreOptions(RegistryOptions, UndoOptions):
    ids: KeptIds = None


def restore(options: RestoreOptions, document: JsonObject) -> int:
    """Register again what `registry delete` deleted, with its id and its version, by the mode IMPORT: what was deleted
    for good is soft-deleted again. A registry without that mode gives another version; one without soft deletion, and
    --ids new, another id. Delete, softly, what was registered, and restore settings. Raises ValueError."""
    wanted = schemas.read_undo(document)

    async def make_plan(registry: Registry, answer: Document) -> PlannedChange | None:
        keep = (options.ids or ("keep" if registry.client.deletes_softly else "new")) == "keep"
        made = await schemas.plan_restore(registry, wanted, keep=keep)
        return of_plan(
            *(options, answer, KINDS, registry, made),
            names=subjects_in(made.rows),
            done=done,
            verb="change",
            noun="subject",
        )

    return make_change(options, SHAPE, make_plan, opened(options))
