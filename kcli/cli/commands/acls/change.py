"""A plan of ACLs to add and to remove on the command line, one a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.acls import Acl
from kcli.changes import acls
from kcli.changes.acls import SCHEMA
from kcli.cli.commands.acls.list import AclRow
from kcli.cli.commands.acls.parse import checked
from kcli.cli.output.tables.rows import column, shape
from kcli.cli.parsing.groups import UndoOptions
from kcli.cli.runtime.answer import plural
from kcli.cli.runtime.change import apply_plan
from kcli.cli.runtime.journal import read_undo_file
from kcli.errors import UsageError
from kcli.model import Cluster
from kcli.text.json_object import JsonObject

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from kcli.changes.change import Plan, Row
    from kcli.cli.output.tables.shape import Shape
    from kcli.cli.parsing.groups import UndoOptions
    from kcli.model import Cluster

    Wanted = Callable[[Cluster], Awaitable[tuple[Sequence[Acl], Sequence[Acl]]]]
    """Finds the ACLs to add and those to remove."""


class ChangeRow(AclRow):
    result: str = column("would add, added, exists, would remove, removed, absent or failed.", unit="word", rank=1)
    error: str | None = column("Reason for a failure; null if there was none.", table=False, unit="sentence")


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


# ACLs from a file: those of an undo file, to be restored, and those of `kcli acls list`.


LIST = "kcli.acls.list/1"
RESTORE = shape("undo.acls", "ACLs that were added or removed, or would be.", ChangeRow)


def restore(options: UndoOptions, document: JsonObject) -> int:
    """Remove added ACLs and add removed ACLs, as an undo file has them. Raises ValueError."""
    added, removed = _acls(document, "added"), _acls(document, "removed")

    async def wanted(cluster: Cluster) -> tuple[list[Acl], list[Acl]]:
        return removed, added

    return change(options, RESTORE, wanted)


def listed(path: str) -> list[Acl]:
    """The ACLs that `kcli acls list` printed, or that an undo file says were removed. Raises UsageError."""
    document = read_undo_file(path)
    try:
        schema = document.text("schema")
        if schema not in (LIST, SCHEMA):
            raise ValueError(f"its schema is {schema}, expected {LIST} or {SCHEMA}")
        return _acls(document, "acls" if schema == LIST else "removed")
    except ValueError as error:
        raise UsageError(f"{path}: not a list of ACLs ({error})") from None


def _acls(whole: JsonObject, section: str) -> list[Acl]:
    acls = [Acl(*map(row.text, Acl._fields)) for row in whole.objects(section)]
    return list(dict.fromkeys(checked(acl, known=True) for acl in acls))
