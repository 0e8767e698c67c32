"""A change of configs: the plan with old and new, checked by the broker; then, if it may be, the change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.configs.resources import (
    SET,
    Config,
    Operation,
    Resource,
    about,
    alter_configs,
    describe_configs,
    foreseen,
)
from kcli.asking.fan_out import bad
from kcli.cli.commands.configs import undo as configs_undo
from kcli.cli.commands.configs.named import NamedRow, name_of, named
from kcli.cli.commands.configs.typed import mistyped, pair
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import column
from kcli.cli.runtime.answer import say
from kcli.cli.runtime.change import PlannedChange, make_change
from kcli.errors import KcliError, UsageError
from kcli.model import Cluster
from kcli.secret import secretive

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kcli.cli.output.tables.shape import Shape
    from kcli.cli.parsing.groups import UndoOptions

Plan = dict[Resource, list[Operation]]
Outcomes = dict[Resource, KcliError | None]
WOULD = "would change"


class ChangeRow(NamedRow, section="configs"):
    config: str = column("Name of the config.", rank=1)
    old: str | None = column("Its value before; null when it has none, *** for a secret.", rank=1, width=10)
    new: str | None = column("New value.", rank=1, width=10)
    result: str = column("would change, unchanged, done or failed.", unit="word", rank=1)
    error: str | None = column("Error of this row; null without one.", table=False, unit="sentence")


def assign(options: UndoOptions, shape: Shape, how: int) -> int:
    """PlannedChange the configs that the line has as KIND NAME KEY=VALUE…"""
    at, words = named(options.words, 3)
    pairs = [pair(word) for word in words]
    keys = [key for key, _ in pairs]
    twice = {key for key in keys if keys.count(key) > 1}
    if twice:
        raise UsageError(f"{', '.join(sorted(twice))}: named twice")
    return change(options, shape, {at: [Operation(name=key, how=how, value=value) for key, value in pairs]})


def change(options: UndoOptions, shape: Shape, plan: Plan) -> int:
    """Show a plan and do it, if that is wanted."""

    async def make_plan(cluster: Cluster, document: Document) -> PlannedChange | None:
        before = await describe_configs(cluster, plan)
        checked = await mistyped(cluster, plan, before, await alter_configs(cluster, plan, dry_run=True))
        checked = {at: checked[at] for at in plan}
        checked |= bad(before)
        rows = document.of(ChangeRow)
        rows += _rows(plan, before, checked)
        _fail(document, checked)
        ready = {at: operations for at, operations in plan.items() if checked[at] is None}
        idle = not any(row.result == WOULD for row in rows)
        if idle and not document.errors:
            say(options, "nothing to change")
        if not ready or (idle and not options.execute):
            return None

        async def keep_undo() -> None:
            await configs_undo.keep(options, cluster, configs_undo.before(options, ready, before))

        async def carry_out() -> int | None:
            outcomes = await alter_configs(cluster, ready)
            _settle(zip((at for at, operations in plan.items() for _ in operations), rows, strict=True), outcomes)
            _fail(document, outcomes)
            if not idle:  # what is so already was sent too: a broker may be late to tell what is
                say(options, f"configs: {sum(row.result == 'done' for row in rows)} changed")
            return None

        return PlannedChange(
            names=[name_of(at) for at in ready],
            verb="change",
            noun="resource",
            keep_undo=keep_undo,
            carry_out=carry_out,
        )

    return make_change(options, shape, make_plan)


def _fail(document: Document, outcomes: Outcomes) -> None:
    for at, problem in outcomes.items():
        if problem is not None:
            document.fail(problem, about(at))


def _rows(plan: Plan, before: dict[Resource, list[Config] | KcliError], checked: Outcomes) -> list[ChangeRow]:
    rows: list[ChangeRow] = []
    for at, operations in plan.items():
        configs = before[at]
        known = {} if isinstance(configs, KcliError) else {config.name: config for config in configs}
        rows += [_row(at, operation, known.get(operation.name), checked[at]) for operation in operations]
    return rows


def _row(at: Resource, operation: Operation, old: Config | None, problem: KcliError | None) -> ChangeRow:
    """A row of the plan: the value now, and the value after it where it is known."""
    was = old.value if old is not None else None
    new, same = foreseen(at, operation, old)
    secret = old.secret if old is not None else secretive(operation.name)
    return ChangeRow(
        kind=at.kind,
        name=name_of(at),
        config=operation.name,
        old="***" if old is not None and secret else was,
        new="***" if secret and operation.how == SET else new,
        result="failed" if problem is not None else "unchanged" if same else WOULD,
        error=None if problem is None else str(problem),
    )


def _settle(rows: Iterable[tuple[Resource, ChangeRow]], outcomes: Outcomes) -> None:
    """Put what became of each row of a resource into it."""
    for at, row in rows:
        if at not in outcomes:
            continue
        problem = outcomes[at]
        if problem is not None:
            row.result, row.error = "failed", str(problem)
        elif row.result == WOULD:
            row.result = "done"
