"""A plan of ACLs to add and to remove, one a row; then exactly these, and how to take it back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kcli.acls import Acl, AclFilter
from kcli.admin.acls.acls import create_acls, delete_acls
from kcli.admin.acls.undo import document as document_of
from kcli.changes.change import Undo
from kcli.cli.commands.acls.find import AclRow, find_acls
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import column
from kcli.cli.parsing.groups import OutputOptions, UndoOptions
from kcli.cli.runtime.answer import plural, say
from kcli.cli.runtime.change import PlannedChange
from kcli.model import Cluster

if TYPE_CHECKING:
    pass

ADD, REMOVE = "add", "remove"
DONE = {ADD: "added", REMOVE: "removed"}
THERE = {ADD: "exists", REMOVE: "absent"}


class ChangeRow(AclRow):
    result: str = column("would add, added, exists, would remove, removed, absent or failed.", unit="word", rank=1)
    error: str | None = column("Reason of a failure; null without one.", table=False, unit="sentence")


async def planned(
    options: UndoOptions, cluster: Cluster, document: Document, adding: Sequence[Acl], removing: Sequence[Acl]
) -> PlannedChange | None:
    """What is there and what is not, and the change of the rest."""
    there = set(await find_acls(cluster, _around([*adding, *removing])))
    rows = document.of(ChangeRow)
    rows += [_planned(acl, ADD, acl in there) for acl in adding]
    rows += [_planned(acl, REMOVE, acl not in there) for acl in removing]
    new = [acl for acl in adding if acl not in there]
    old = [acl for acl in removing if acl in there]
    if not (new or old):
        return None
    undo = Undo(document=document_of(new, old), file="acls")
    verbs = [f"{verb} {len(acls)}" for verb, acls in ((ADD, new), (REMOVE, old)) if acls]

    async def carry_out() -> int | None:
        done = {(ADD, acl): problem for acl, problem in (await create_acls(cluster, new)).items()}
        done |= {(REMOVE, acl): problem for acl, problem in (await delete_acls(cluster, old)).items()}
        for row, (action, acl) in zip(rows, [*((ADD, acl) for acl in adding), *((REMOVE, acl) for acl in removing)]):
            if (action, acl) not in done:
                continue
            problem = done[action, acl]
            row.result, row.error = (DONE[action], None) if problem is None else ("failed", str(problem))
            if problem is not None:
                document.fail(problem, f"{acl.kind} {acl.name}")
        _sum_up(options, rows)
        return None

    return PlannedChange(names=[" ".join(verbs)], undo=undo, carry_out=carry_out)


def _sum_up(options: OutputOptions, rows: list[ChangeRow]) -> None:
    counts = [(DONE[action], sum(row.result == DONE[action] for row in rows)) for action in (ADD, REMOVE)]
    done = "; ".join(f"{plural(count, 'ACL')} {word}" for word, count in counts if count)
    if done:
        say(options, done)


def _around(acls: Sequence[Acl]) -> list[AclFilter]:
    """Filters that find these ACLs where they are there: one for each name."""
    named = dict.fromkeys((acl.kind, acl.name, acl.pattern) for acl in acls)
    return [AclFilter(kind=kind, name=name, pattern=pattern) for kind, name, pattern in named]


def _planned(acl: Acl, action: str, already: bool) -> ChangeRow:
    return ChangeRow(**acl._asdict(), result=THERE[action] if already else f"would {action}", error=None)
