"""Restoring a registry from an undo file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.cli.commands.registry.opened import Registry, RegistryOptions, opened
from kcli.cli.commands.registry.settings import LevelRow
from kcli.cli.commands.registry.transfer.moves import MoveRow, carried_out, ids_option, row_of, undo_in
from kcli.cli.output.tables.rows import shape
from kcli.cli.parsing.groups import UndoOptions
from kcli.cli.runtime.answer import plural, say
from kcli.cli.runtime.change import PlannedChange, make_change
from kcli.errors import KcliError
from kcli.registry.errors import NotFound
from kcli.registry.moving.document import snapshot_of
from kcli.registry.moving.snapshot import Snapshot, own_level
from kcli.registry.moving.transfer import Transfer

if TYPE_CHECKING:
    from kcli.cli.output.tables.document import Document
    from kcli.schemas import Schema
    from kcli.text.json_object import JsonObject

SHAPE = shape("undo.registry", "Schemas that were registered or deleted, or would be.", MoveRow, LevelRow)


class RestoreOptions(RegistryOptions, UndoOptions):
    ids = ids_option()


class SavedState:
    """What an undo file has: versions that were added, those that were deleted, and levels (None: inherited)."""

    def __init__(self, document: JsonObject) -> None:
        """Raises ValueError."""
        self.delete = snapshot_of(document.fields.get("delete", {}))
        self.register = snapshot_of(document.fields.get("register", {}))
        self.levels = document.texts_or_nulls("levels")


def restore(options: RestoreOptions, document: JsonObject) -> int:
    """Register again what `registry delete` deleted, with its id: a registry that soft-deleted a schema gives the id
    again, under a new version; what was deleted for good is imported, and gets new ids where the registry has no soft
    deletion. Delete, softly, what `registry import` and `registry copy` registered, and restore levels. Raises
    ValueError."""
    undo = SavedState(document)

    async def make_plan(registry: Registry, answer: Document) -> PlannedChange | None:
        ids = options.ids or ("keep" if registry.client.deletes_softly else "new")
        transfer = Transfer(registry.client, Snapshot(schemas=undo.register.schemas), keep=ids == "keep")
        await transfer.plan()
        going = await _going(registry, undo.delete)
        levels = {subject: await own_level(registry.client, subject) for subject in undo.levels}
        levels = {subject: old for subject, old in levels.items() if old != undo.levels[subject]}
        _fill(answer, transfer, going, levels, undo)
        for move in transfer.moves:
            if move.error is not None:
                answer.fail(move.error, move.schema.name)
        if answer.errors or not (transfer.ready or going or levels):
            return None

        added = Snapshot(schemas=tuple(move.schema for move in transfer.ready))
        removed = Snapshot(schemas=tuple(reversed(going)))

        async def carry_out() -> None:
            await _carry_out(options, registry, answer, transfer, going, undo)

        names = list(dict.fromkeys([*(one.schema.subject for one in transfer.ready), *(s.subject for s in going)]))
        back = undo_in(registry, "registry-restore", delete=added, register=removed, levels=levels)
        return PlannedChange(names=names or list(levels), verb="change", noun="subject", carry_out=carry_out, undo=back)

    return make_change(options, SHAPE, make_plan, opened(options))


async def _going(registry: Registry, snapshot: Snapshot) -> list[Schema]:
    """The versions that are there and are to be deleted, each before those it refers to."""
    found = []
    for schema in reversed(snapshot.schemas):
        try:
            there = await registry.client.lookup(schema.subject, schema)
        except KcliError as problem:
            if not isinstance(problem, NotFound):
                raise
            continue
        found.append(schema.replace(version=there.version, id=there.id))
    return found


def _fill(
    document: Document, transfer: Transfer, going: list[Schema], levels: dict[str, str | None], undo: SavedState
) -> None:
    document.of(MoveRow)[:] = [*(row_of(move) for move in transfer.moves), *(_deleted(one) for one in going)]
    document.of(LevelRow)[:] = [
        LevelRow(
            subject=subject,
            level=old or "inherited",
            new=undo.levels[subject] or "inherited",
            result="would change",
            error=None,
        )
        for subject, old in levels.items()
    ]


def _deleted(schema: Schema) -> MoveRow:
    return MoveRow(
        subject=schema.subject,
        version=schema.version,
        id=schema.id,
        type=schema.kind,
        new_version=None,
        new_id=None,
        result="would delete",
        error=None,
    )


async def _carry_out(
    options: RestoreOptions,
    registry: Registry,
    document: Document,
    transfer: Transfer,
    going: list[Schema],
    undo: SavedState,
) -> None:
    rows = document.of(MoveRow)[len(transfer.moves) :]
    if transfer.ready:
        await carried_out(options, registry, document, transfer)
        document.of(MoveRow).extend(rows)
    for schema, row in zip(going, rows, strict=True):
        try:
            await registry.client.delete_version(schema.subject, schema.version)
            row.result = "deleted"
        except KcliError as problem:
            row.result, row.error = "failed", str(problem)
            document.fail(problem, schema.subject)
    for level in document.of(LevelRow):
        subject = level.subject or ""
        try:
            old = undo.levels[subject]
            await (registry.client.set_level(old, subject) if old else registry.client.delete_level(subject))
            level.result = "changed"
        except KcliError as problem:
            level.result, level.error = "failed", str(problem)
            document.fail(problem, subject)
    if going:
        say(options, f"{plural(sum(row.result == 'deleted' for row in rows), 'version')} deleted")
