"""A change of configs on the command line: its plan as rows, then the change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.configs.resources import Operation, Resource, about
from kcli.changes import configs
from kcli.changes.change import DONE
from kcli.cli.commands.configs.named import NamedRow, named
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import column, shape
from kcli.cli.runtime.answer import say
from kcli.cli.runtime.change import PlannedChange, make_change
from kcli.errors import UsageError

if TYPE_CHECKING:
    from kcli.changes.change import Plan, Row
    from kcli.cli.output.tables.shape import Shape
    from kcli.cli.parsing.groups import UndoOptions
    from kcli.model import Cluster
    from kcli.text.json_object import JsonObject


class ChangeRow(NamedRow, section="configs"):
    config: str = column("Name of the config.", rank=1)
    old: str | None = column("Its value before; null when it has none, *** for a secret.", rank=1, width=10)
    new: str | None = column("New value.", rank=1, width=10)
    result: str = column("would change, unchanged, done, failed or unknown.", unit="word", rank=1)
    error: str | None = column("Error of this row; null without one.", table=False, unit="sentence")


RESTORE = shape("undo.configs", "Configs that were restored, or would be.", ChangeRow)


def assign(options: UndoOptions, shape: Shape, how: int) -> int:
    """Change the configs that the line has as KIND NAME KEY=VALUE…"""
    at, words = named(options.words, 3)
    pairs = [configs.pair(word) for word in words]
    keys = [key for key, _ in pairs]
    twice = {key for key in keys if keys.count(key) > 1}
    if twice:
        raise UsageError(f"{', '.join(sorted(twice))}: named twice")
    return change(options, shape, {at: [Operation(name=key, how=how, value=value) for key, value in pairs]})


def restore(options: UndoOptions, document: JsonObject) -> int:
    """Set configs to the values of an undo file; inherited configs lose their override. Raises ValueError."""
    return change(options, RESTORE, configs.read_undo(document))


def change(options: UndoOptions, shape: Shape, changes: dict[Resource, list[Operation]]) -> int:
    """Show a plan and apply it, if that is wanted."""

    async def make_plan(cluster: Cluster, document: Document) -> PlannedChange | None:
        plan = await configs.plan(cluster, changes, resend=options.execute)
        show(document, plan)
        if plan.idle and not document.errors:
            say(options, "nothing to change")
        if plan.apply is None:
            return None
        apply = plan.apply
        for warning in plan.warnings:
            say(options, warning)

        async def carry_out() -> int | None:
            await apply(cluster)
            show(document, plan)
            if not plan.idle or any(row.result == DONE for row in plan.rows):
                say(options, f"configs: {sum(row.result == DONE for row in plan.rows)} changed")
            return None

        names = [at.name or configs.DEFAULT for at in changes]
        return PlannedChange(names=names, verb="change", noun="resource", undo=plan.undo, carry_out=carry_out)

    return make_change(options, shape, make_plan)


def show(document: Document, plan: Plan) -> None:
    """Put the rows of a plan into the document, and each error once."""
    document.of(ChangeRow)[:] = [row_of(row) for row in plan.rows]
    document.errors.clear()
    for error, row in {row.error: row for row in reversed(plan.rows) if row.error is not None}.items():
        document.fail(error, about(Resource(row.kind, "" if row.name == configs.DEFAULT else row.name)))


def row_of(row: Row) -> ChangeRow:
    return ChangeRow(
        kind=row.kind,
        name=row.name,
        config=row.item,
        old=row.old,
        new=row.new,
        result=row.result,
        error=None if row.error is None else str(row.error),
    )
