"""A change of configs on the command line: its plan as rows, then the change."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from kcli.admin.configs import Operation, Resource
from kcli.changes import configs
from kcli.cli.commands.configs.named import NamedRow, has_pattern, meant, named
from kcli.cli.output.tables.rows import column, shape
from kcli.cli.runtime.change import apply_plan, counted

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from kcli.changes.change import Plan
    from kcli.cli.commands.configs.named import ChangedOptions
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


def assign(options: ChangedOptions, shape: Shape, how: int) -> int:
    """Change the configs that the line has as KIND NAME KEY=VALUE…"""
    at, words = named(options.words, 3)
    operations = [Operation(name=key, how=how, value=value) for key, value in map(configs.pair, words)]
    return change(options, shape, at, configs.once(operations))


def change(options: ChangedOptions, shape: Shape, at: Resource, operations: list[Operation]) -> int:
    """Show a plan for the resource, or for each that a pattern in its name matches; apply it, if that is confirmed."""

    async def changes(cluster: Cluster) -> dict[Resource, list[Operation]]:
        return dict.fromkeys(await meant(cluster, at, literal=options.literal, changes=True), operations)

    return _apply(options, shape, changes, by_pattern=not options.literal and has_pattern(at))


def restore(options: UndoOptions, document: JsonObject) -> int:
    """Set configs to the values of an undo file; inherited configs lose their override. Raises ValueError."""
    read = configs.read_undo(document)

    async def changes(cluster: Cluster) -> dict[Resource, list[Operation]]:
        return read

    return _apply(options, RESTORE, changes)


def _apply(
    options: UndoOptions,
    shape: Shape,
    changes: Callable[[Cluster], Awaitable[dict[Resource, list[Operation]]]],
    *,
    by_pattern: bool = False,
) -> int:
    async def planned(cluster: Cluster) -> Plan:
        return await configs.plan(cluster, await changes(cluster), resend=options.execute)

    return apply_plan(
        options,
        shape,
        ChangeRow,
        planned,
        names=lambda rows: list(dict.fromkeys(row.name for row in rows if row.error is None)),
        verb="change",
        noun="resource",
        by_pattern=by_pattern,
        done=partial(counted, "configs"),
    )
