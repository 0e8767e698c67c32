"""A plan of ACLs to add and to remove on the command line, one a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.changes import acls
from kcli.cli.commands.acls.find import AclRow
from kcli.cli.output.tables.rows import column
from kcli.cli.runtime.answer import plural
from kcli.cli.runtime.change import apply_plan

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from kcli.acls import Acl
    from kcli.changes.change import Plan, Row
    from kcli.cli.output.tables.shape import Shape
    from kcli.cli.parsing.groups import UndoOptions
    from kcli.model import Cluster

    Wanted = Callable[[Cluster], Awaitable[tuple[Sequence[Acl], Sequence[Acl]]]]
    """Finds the ACLs to add and those to remove."""


class ChangeRow(AclRow):
    result: str = column("would add, added, exists, would remove, removed, absent or failed.", unit="word", rank=1)
    error: str | None = column("Reason of a failure; null without one.", table=False, unit="sentence")


def change(options: UndoOptions, shape: Shape, wanted: Wanted) -> int:
    """Show the plan of a change and apply it, if that is wanted."""

    async def planned(cluster: Cluster) -> Plan:
        return await acls.plan(cluster, *await wanted(cluster))

    return apply_plan(options, shape, ChangeRow, planned, names=_names, done=_done)


def _names(rows: Sequence[Row]) -> list[str]:
    counts = [(verb, sum(row.result == f"would {verb}" for row in rows)) for verb in ("add", "remove")]
    return [" ".join(f"{verb} {count}" for verb, count in counts if count)]


def _done(rows: Sequence[Row]) -> str:
    counts = [(word, sum(row.result == word for row in rows)) for word in ("added", "removed")]
    return "; ".join(f"{plural(count, 'ACL')} {word}" for word, count in counts if count)
