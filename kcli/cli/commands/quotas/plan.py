"""A change of quotas on the command line: its plan as rows, then the change."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from kcli.admin.quotas import Entity
from kcli.changes import quotas
from kcli.cli.commands.quotas.entity import EntityRow
from kcli.cli.output.tables.rows import column, shape
from kcli.cli.runtime.change import apply_plan, counted

if TYPE_CHECKING:
    from kcli.cli.output.tables.shape import Shape
    from kcli.cli.parsing.groups import UndoOptions
    from kcli.text.json_object import JsonObject


class ChangeRow(EntityRow):
    old: str | None = column("The limit before; null for none.", rank=1, unit="word")
    new: str | None = column("The limit after; null for none.", rank=1, unit="word")
    old_value: float | None = column("The limit before, as Kafka stores it.", table=False)
    new_value: float | None = column("The limit after, as Kafka stores it.", table=False)
    result: str = column("would change, unchanged, done, failed or unknown.", unit="word", rank=1)
    error: str | None = column("Error of this row; null without one.", table=False, unit="sentence")


RESTORE = shape("undo.quotas", "Quotas that were changed, or would be.", ChangeRow)


def change(options: UndoOptions, shape: Shape, changes: dict[Entity, dict[str, float | None]]) -> int:
    """Show the plan of a change and apply it, if that is wanted."""
    return apply_plan(
        options,
        shape,
        ChangeRow,
        partial(quotas.plan, changes=changes),
        verb="alter",
        noun="entity",
        done=partial(counted, "quotas"),
    )


def restore(options: UndoOptions, document: JsonObject) -> int:
    """Set quotas to the values of an undo file, and remove those that were not set. Raises ValueError."""
    return change(options, RESTORE, quotas.read_undo(document))
