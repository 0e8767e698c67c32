"""`kcli acls who-can`: who may, from where, and which ACL says so."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from kcli.acls import ANYWHERE, CLUSTER, EVERYBODY, KINDS, OPERATIONS, POSSIBLE, Acl, principal, sentence
from kcli.admin.acls.acl_check import WITHOUT, Authorizer, Verdict, acls_of, authorizer, verdict, verdicts
from kcli.cli.output.render import Document
from kcli.cli.runtime.answer import answer, say
from kcli.errors import UsageError
from kcli.model import Cluster

if TYPE_CHECKING:
    from kcli.cli.output.shapes.shape import Row
    from kcli.cli.parsing.option import Values

MAY_NOT = 3


def run(values: Values) -> int:
    """`kcli acls who-can OPERATION RESOURCE [NAME]`."""
    operation, kind, name = _asked(values["words"])
    who = None if values["principal"] is None else principal(values["principal"])
    if values["host"] is not None and who is None:
        raise UsageError("--host goes with --principal: who comes from there?")

    async def work(cluster: Cluster, document: Document) -> int | None:
        acls, beside = await asyncio.gather(acls_of(cluster, kind, name), authorizer(cluster))
        if who is None:
            found = verdicts(acls, operation)
        else:
            found = [verdict(acls, who, values["host"] or ANYWHERE, operation)]
        rows = document.rows["verdicts"] = [_row(one, acls, beside) for one in found]
        if who is None:
            rows += _unnamed(found, acls, beside)
        for remark in _remarks(acls, beside, who):
            say(values, remark)
        return MAY_NOT if who is not None and not rows[0]["allowed"] else None

    return answer(values, "acls.who-can", work)


def _row(one: Verdict, acls: list[Acl], beside: Authorizer) -> Row:
    allowed, why = one.allowed, "no ACL allows it"
    if beside.super(one.principal):
        allowed, why = True, "super user"
    elif one.rule is not None:
        why = sentence(one.rule)
    elif not acls and beside.everyone is not False:
        allowed = bool(beside.everyone)
        why = f"no ACL holds for it, and {WITHOUT} is {'true' if allowed else 'not told'}"
    return {"principal": one.principal, "host": one.host, "allowed": allowed, "because": why}


def _unnamed(found: list[Verdict], acls: list[Acl], beside: Authorizer) -> list[Row]:
    """Who may without an ACL: super users, and everybody where the cluster is open."""
    named = {one.principal for one in found}
    rows = [_row(Verdict(principal=one), acls, beside) for one in beside.super_users or () if one not in named]
    if EVERYBODY not in named:
        rows.append(_row(Verdict(principal=EVERYBODY), acls, beside))
    return rows


def _remarks(acls: list[Acl], beside: Authorizer, who: str | None) -> list[str]:
    """What cannot be known from here."""
    remarks = []
    if beside.super_users is None:
        them = "super users" if who is None else f"{who}, if it is a super user,"
        remarks.append(f"{them} may whatever ACLs say; the broker does not tell who they are")
    if beside.everyone is None and not acls:
        remarks.append(f"no ACL holds for it: whether everybody may then, {WITHOUT}, the broker does not tell")
    return remarks


def _asked(words: list[str]) -> tuple[str, str, str]:
    """Operation, kind and name of a line."""
    from kcli.text.suggest import did_you_mean

    if len(words) < 2 or len(words) > 3:
        raise UsageError("who can what? kcli acls who-can OPERATION RESOURCE NAME, such as: who-can write topic orders")
    operation, kind = words[0].lower().replace("_", "-"), words[1].lower().replace("_", "-")
    if kind not in KINDS:
        raise UsageError(f"{words[1]}: a RESOURCE is {', '.join(KINDS)}{did_you_mean(kind, KINDS)}")
    if operation not in POSSIBLE[kind]:
        near = did_you_mean(operation, OPERATIONS)
        raise UsageError(f"{words[0]} is nothing for a {kind}: {', '.join(POSSIBLE[kind])}{near}")
    if kind == "cluster" and len(words) == 2:
        return operation, kind, CLUSTER
    if len(words) == 2:
        raise UsageError(f"which {kind}? kcli acls who-can {operation} {kind} NAME")
    return operation, kind, principal(words[2]) if kind == "user" else words[2]
