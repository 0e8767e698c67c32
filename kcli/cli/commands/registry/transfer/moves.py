"""The plan of schemas that go into a registry: its rows, what undoes it, and what became of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.changes.change import Undo
from kcli.cli.commands.registry.settings import LevelRow
from kcli.cli.output.tables.rows import Row, column
from kcli.cli.parsing.option import choice
from kcli.cli.runtime.answer import plural, say
from kcli.cli.runtime.change import PlannedChange
from kcli.errors import KcliError
from kcli.registry.moving.document import undo_of
from kcli.registry.moving.snapshot import Snapshot
from kcli.registry.moving.transfer import CONFLICT, DONE, FAILED, IMPORT, KNOWN, REGISTER, Move, Transfer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kcli.cli.commands.registry.opened import Registry
    from kcli.cli.output.tables.document import Document
    from kcli.cli.parsing.groups import UndoOptions

RESULTS = {KNOWN: "known", REGISTER: "would register", IMPORT: "would import", CONFLICT: "conflict"}
DONE_AS = {REGISTER: "registered", IMPORT: "imported"}


class MoveRow(Row, section="schemas"):
    subject: str = column("Name of the subject.", rank=1)
    version: int = column("The version in the source.", rank=1)
    id: int | None = column("Id of the schema in the source.", rank=1)
    type: str = column("AVRO, PROTOBUF or JSON.", unit="word", rank=3)
    new_version: int | None = column("The version in the target; null before the registry gives it.", rank=2)
    new_id: int | None = column("Id in the target; null before the registry gives it.", rank=1)
    result: str = column(
        "would register, would import (with its id), would delete; registered, imported, deleted; known, conflict, "
        "failed or not done.",
        unit="word",
        rank=1,
    )
    error: str | None = column("Why it is not registered.", table=False, unit="sentence")


def ids_option() -> str | None:
    return choice(
        "--ids",
        of=("keep", "new"),
        help="keep (default): the ids of the source, by the mode IMPORT. new: ids that the registry gives.",
    )


async def planned(
    options: UndoOptions, registry: Registry, document: Document, transfer: Transfer, command: str
) -> PlannedChange | None:
    """The plan in the document, and the change that is left to make. `command` names the undo file. Raises
    KcliError."""
    await transfer.plan()
    _fill(document, transfer)
    for move in transfer.moves:
        if move.error is not None:
            document.fail(move.error, move.schema.name)
    if document.errors or not (transfer.ready or transfer.levels):
        if not document.errors:
            say(options, f"{registry.name} has all of it already")
        return None

    added = Snapshot(schemas=tuple(move.schema for move in transfer.ready))
    levels = {subject: old for subject, (old, _) in transfer.levels.items()}

    async def carry_out() -> None:
        await carried_out(options, registry, document, transfer)

    subjects = list(dict.fromkeys([*(move.schema.subject for move in transfer.ready), *transfer.levels]))
    return PlannedChange(
        names=subjects,
        verb="change",
        noun="subject",
        carry_out=carry_out,
        undo=undo_in(registry, command, delete=added, levels=levels),
        adds=not transfer.levels and all(move.action == REGISTER for move in transfer.ready),
    )


def _fill(document: Document, transfer: Transfer) -> None:
    document.of(MoveRow)[:] = [row_of(move) for move in transfer.moves]
    document.of(LevelRow)[:] = [
        LevelRow(subject=subject, level=old or "inherited", new=new, result="would change", error=None)
        for subject, (old, new) in transfer.levels.items()
    ]


def row_of(move: Move) -> MoveRow:
    """The line of a schema in a plan."""
    result = RESULTS[move.action]
    if move.outcome:
        result = DONE_AS[move.action] if move.outcome == DONE else FAILED
    schema = move.schema
    return MoveRow(
        subject=schema.subject,
        version=schema.version,
        id=schema.id if schema.id >= 0 else None,
        type=schema.kind,
        new_version=move.version,
        new_id=move.id,
        result=result,
        error=str(move.error) if move.error is not None else None,
    )


async def carried_out(options: UndoOptions, registry: Registry, document: Document, transfer: Transfer) -> None:
    """Register, then set the levels; the rows have what became of each."""
    await transfer.carry_out()
    rows = [row_of(move) for move in transfer.moves]
    document.of(MoveRow)[:] = rows
    for move in transfer.moves:
        if move.outcome == FAILED and move.error is not None:
            document.fail(move.error, move.schema.name)
    for row in rows:
        if row.result.startswith("would "):
            row.result, row.error = "not done", "a schema before it failed"
    done = sum(move.outcome == DONE for move in transfer.moves)
    if not document.errors:
        await set_levels(registry, document, transfer)
    say(options, f"{registry.name}: {plural(done, 'version')} registered")


async def set_levels(registry: Registry, document: Document, transfer: Transfer) -> None:
    """Give subjects the level that they have in the source."""
    for row in document.of(LevelRow):
        if row.subject not in transfer.levels:
            continue
        try:
            await transfer.set_level(row.subject or "")
            row.result = "changed"
        except KcliError as problem:
            row.result, row.error = "failed", str(problem)
            document.fail(problem, row.subject or "")


def undo_in(
    registry: Registry,
    command: str,
    *,
    delete: Snapshot | None = None,
    register: Snapshot | None = None,
    levels: Mapping[str, str | None] | None = None,
) -> Undo:
    """What undoes a change of a registry: what to delete, what to register again, and the levels to set."""
    return Undo(document=undo_of(delete=delete, register=register, levels=levels), file=command, where=registry.name)
