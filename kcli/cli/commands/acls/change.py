"""`kcli acls add`, `remove`, `restore`: a plan of ACLs, one a row; then exactly these, and how to take it back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kcli.acls import Acl, AclFilter
from kcli.admin.acls.acls import create_acls, delete_acls
from kcli.cli.commands.acls import undo as acls_undo
from kcli.cli.commands.acls.command import find, row
from kcli.cli.commands.acls.words import filters, said, spelled, spelled_sets
from kcli.cli.output.render import Document
from kcli.cli.runtime.answer import answer, confirm, excluding, plural, say
from kcli.cli.runtime.undo import UndoFile
from kcli.errors import UsageError
from kcli.model import Cluster

if TYPE_CHECKING:
    from kcli.cli.output.shapes.shape import Row
    from kcli.cli.parsing.option import Values

ADD, REMOVE = "add", "remove"
DONE = {ADD: "added", REMOVE: "removed"}
NAMING = """
allow deny operations topics groups transactional_ids delegation_tokens users cluster producer consumer idempotent
allow_hosts deny_hosts pattern
""".split()
"""The options that name ACLs."""
THERE = {ADD: "exists", REMOVE: "absent"}


def add(values: Values) -> int:
    """`kcli acls add`."""
    if values["from_file"] is not None:
        _alone(values, "--from")
        wanted = acls_undo.listed(values["from_file"])
    else:
        wanted = spelled(values)

    async def work(cluster: Cluster, document: Document) -> int | None:
        return await _change(values, cluster, document, wanted, [])

    return _run(values, "acls.add", work)


def remove(values: Values) -> int:
    """`kcli acls remove`."""
    exact = spelled_sets(values)
    if exact is None and not said(values) and not values["all"]:
        raise UsageError("which? --principal, --topic, …; --all means every ACL of the cluster")
    if values["all"] and (said(values) or exact is not None):
        raise UsageError("--all and filters exclude each other")

    asked = filters(values, "literal")

    async def work(cluster: Cluster, document: Document) -> int | None:
        wanted = exact if exact is not None else await find(cluster, asked)
        if not wanted:
            say(values, "no ACL matches; a name is taken as it is written, --pattern match finds all that hold for it")
        return await _change(values, cluster, document, [], wanted)

    return _run(values, "acls.remove", work)


def restore(values: Values) -> int:
    """`kcli acls restore FILE`."""
    if len(values["words"]) != 1:
        raise UsageError("from which file? kcli acls restore FILE")
    added, removed = acls_undo.read(values["words"][0])

    async def work(cluster: Cluster, document: Document) -> int | None:
        return await _change(values, cluster, document, removed, added)

    return _run(values, "acls.restore", work)


def _run(values: Values, name: str, work: object) -> int:
    excluding(values)
    UndoFile(values).check()
    return answer(values, name, work)  # type: ignore[arg-type]


async def _change(
    values: Values, cluster: Cluster, document: Document, adding: Sequence[Acl], removing: Sequence[Acl]
) -> int | None:
    """What is there and what is not, then the change of the rest."""
    there = set(await find(cluster, _around([*adding, *removing])))
    rows = document.rows["acls"] = [_planned(one, ADD, one in there) for one in adding]
    rows += [_planned(one, REMOVE, one not in there) for one in removing]
    new = [one for one in adding if one not in there]
    old = [one for one in removing if one in there]
    if values["dry_run"] or not (new or old):
        return None
    verbs = [f"{verb} {len(some)}" for verb, some in ((ADD, new), (REMOVE, old)) if some]
    if not confirm(values, document, " ".join(verbs)):
        document.rows.clear()
        return 1
    await acls_undo.keep(values, cluster, new, old)
    done = {(ADD, one): problem for one, problem in (await create_acls(cluster, new)).items()}
    done |= {(REMOVE, one): problem for one, problem in (await delete_acls(cluster, old)).items()}
    for made, (action, one) in zip(rows, [*((ADD, one) for one in adding), *((REMOVE, one) for one in removing)]):
        if (action, one) not in done:
            continue
        problem = done[action, one]
        made["result"], made["error"] = (DONE[action], None) if problem is None else ("failed", str(problem))
        if problem is not None:
            document.fail(problem, f"{one.kind} {one.name}")
    _sum_up(values, rows)
    return None


def _planned(one: Acl, action: str, already: bool) -> Row:
    return {**row(one), "result": THERE[action] if already else f"would {action}", "error": None}


def _around(acls: Sequence[Acl]) -> list[AclFilter]:
    """Filters that find these ACLs where they are there: one for each name."""
    named = dict.fromkeys((one.kind, one.name, one.pattern) for one in acls)
    return [AclFilter(kind=kind, name=name, pattern=pattern) for kind, name, pattern in named]


def _sum_up(values: Values, rows: list[Row]) -> None:
    counts = [(DONE[action], sum(one["result"] == DONE[action] for one in rows)) for action in (ADD, REMOVE)]
    done = "; ".join(f"{plural(count, 'ACL')} {word}" for word, count in counts if count)
    if done:
        say(values, done)


def _alone(values: Values, flag: str) -> None:
    """Raises UsageError where a line names ACLs beside a file of them."""
    if any(values[name] for name in NAMING):
        raise UsageError(f"{flag} names the ACLs; leave the other options away")
