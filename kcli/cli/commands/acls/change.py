"""A plan of ACLs to add and to remove, one a row; then exactly these, and how to take it back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kcli.acls import Acl, AclFilter
from kcli.admin.acls.acls import create_acls, delete_acls
from kcli.cli.commands.acls import undo as acls_undo
from kcli.cli.commands.acls.find import AclRow, find_acls
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import column
from kcli.cli.parsing.groups import OutputOptions, UndoOptions
from kcli.cli.runtime.answer import answer, confirm, excluding, plural, say
from kcli.cli.runtime.undo import UndoFile
from kcli.model import Cluster

if TYPE_CHECKING:
    from kcli.cli.output.tables.shape import Shape
    from kcli.cli.runtime.answer import Work

ADD, REMOVE = "add", "remove"
DONE = {ADD: "added", REMOVE: "removed"}
THERE = {ADD: "exists", REMOVE: "absent"}


class ChangeRow(AclRow):
    result: str = column("would add, added, exists, would remove, removed, absent or failed.", unit="word", rank=1)
    error: str | None = column("Why it was not done; null when it was, or will be.", table=False, unit="sentence")


def run_change(options: UndoOptions, shape: Shape, work: Work) -> int:
    """Check the options of a change, and run it."""
    excluding(options)
    UndoFile(options).check()
    return answer(options, shape, work)


async def change(
    options: UndoOptions, cluster: Cluster, document: Document, adding: Sequence[Acl], removing: Sequence[Acl]
) -> int | None:
    """What is there and what is not, then the change of the rest."""
    there = set(await find_acls(cluster, _around([*adding, *removing])))
    rows = document.of(ChangeRow)
    rows += [_planned(acl, ADD, acl in there) for acl in adding]
    rows += [_planned(acl, REMOVE, acl not in there) for acl in removing]
    new = [acl for acl in adding if acl not in there]
    old = [acl for acl in removing if acl in there]
    if options.dry_run or not (new or old):
        return None
    verbs = [f"{verb} {len(acls)}" for verb, acls in ((ADD, new), (REMOVE, old)) if acls]
    if not confirm(options, document, " ".join(verbs)):
        document.rows.clear()
        return 1
    await acls_undo.keep(options, cluster, new, old)
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
