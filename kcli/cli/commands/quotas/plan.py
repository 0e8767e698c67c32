"""A change of quotas: the plan with old and new, checked by the controller; then, if it may be, the change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.quotas.quotas import Entity, alter_quotas, describe_quotas, text_of
from kcli.admin.quotas.undo import document as document_of
from kcli.changes.change import Undo
from kcli.cli.commands.quotas.entity import EntityRow
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import column
from kcli.cli.runtime.answer import say
from kcli.cli.runtime.change import PlannedChange, make_change
from kcli.errors import KcliError
from kcli.model import Cluster

if TYPE_CHECKING:
    from kcli.admin.quotas.quotas import Quotas
    from kcli.cli.output.tables.shape import Shape
    from kcli.cli.parsing.groups import UndoOptions

Changes = dict[Entity, dict[str, float | None]]


class ChangeRow(EntityRow):
    old: str | None = column("The limit before; null for none.", rank=1, unit="word")
    new: str | None = column("The limit after; null for none.", rank=1, unit="word")
    old_value: float | None = column("The limit before, as Kafka has it.", table=False)
    new_value: float | None = column("The limit after, as Kafka has it.", table=False)
    result: str = column("would change, unchanged, done or failed.", unit="word", rank=1)
    error: str | None = column("Error of this row; null without one.", table=False, unit="sentence")


def change(options: UndoOptions, shape: Shape, changes: Changes) -> int:
    """Show the plan of a change and do it, if that is wanted."""

    async def make_plan(cluster: Cluster, document: Document) -> PlannedChange | None:
        before = await describe_quotas(cluster)
        checked = await alter_quotas(cluster, changes, dry_run=True)
        rows = document.of(ChangeRow)
        rows += _plan(changes, before, checked)
        for at, problem in checked.items():
            if problem is not None:
                document.fail(problem, str(at))
        ready = {
            at: limits
            for at, limits in changes.items()
            if checked[at] is None and any(before.get(at, {}).get(key) != value for key, value in limits.items())
        }
        if not ready:
            return None

        was = [(at, key, before.get(at, {}).get(key)) for at, limits in ready.items() for key in limits]
        undo = Undo(document=document_of(was), file="quotas")

        async def carry_out() -> int | None:
            outcomes = await alter_quotas(cluster, ready)
            _settle(rows, {str(at): problem for at, problem in outcomes.items()})
            for at, problem in outcomes.items():
                if problem is not None:
                    document.fail(problem, str(at))
            say(options, f"quotas: {sum(row.result == 'done' for row in rows)} changed")
            return None

        return PlannedChange(
            names=[_name(at) for at in ready], verb="alter", noun="entity", undo=undo, carry_out=carry_out
        )

    return make_change(options, shape, make_plan)


def _settle(rows: list[ChangeRow], outcomes: dict[str, KcliError | None]) -> None:
    """Put what became of each row into it; outcomes are by the names of entities."""
    for row in rows:
        if row.entity in outcomes and row.result == "would change":
            problem = outcomes[row.entity]
            row.result, row.error = ("done", None) if problem is None else ("failed", str(problem))


def _name(at: Entity) -> str:
    return next((name for name in at.names.values() if name is not None), "default")


def _plan(changes: Changes, before: Quotas, checked: dict[Entity, KcliError | None]) -> list[ChangeRow]:
    rows: list[ChangeRow] = []
    for at, limits in changes.items():
        problem = checked[at]
        for key, new in limits.items():
            old = before.get(at, {}).get(key)
            result = "unchanged" if old == new else "would change"
            rows.append(
                ChangeRow(
                    entity=str(at),
                    user=at.user,
                    client_id=at.client_id,
                    ip=at.ip,
                    defaults=at.defaults,
                    quota=key,
                    old=None if old is None else text_of(key, old),
                    new=None if new is None else text_of(key, new),
                    old_value=old,
                    new_value=new,
                    result=result if problem is None else "failed",
                    error=None if problem is None else str(problem),
                )
            )
    return rows
