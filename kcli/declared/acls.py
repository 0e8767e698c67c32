"""Declared ACLs: each is there or not. Brokers have no way to check a change before."""

from __future__ import annotations

from kcli.acls import Acl, AclFilter
from kcli.admin.acls import create_acls, delete_acls, describe_acls
from kcli.declared.model import ADD, REMOVE, Item, Step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from kcli.declared.model import Declared
    from kcli.declared.secrets import Secrets
    from kcli.model import Cluster

CREATE, DELETE = 30, 70


async def plan(cluster: Cluster, declared: Declared, *, prune: bool, secrets: bool) -> list[Step]:
    """What differs. Raises BrokerError SECURITY_DISABLED where there is no authorizer."""
    principals = {one.principal for one in (*declared.acls, *declared.absent_acls)}
    if len(principals) == 1 and not declared.scope.get("acls"):
        have = set(await describe_acls(cluster, AclFilter(principal=next(iter(principals)))))
    else:
        have = set(await describe_acls(cluster))
    steps = [_step(acl, ADD, place) for acl, place in declared.acls.items() if acl not in have]
    steps += [_step(acl, REMOVE, place) for acl, place in declared.absent_acls.items() if acl in have]
    if prune and declared.scope.get("acls"):
        known = declared.acls.keys() | declared.absent_acls.keys()
        surplus = sorted(acl for acl in have - known if declared.selected("acls", acl.principal))
        steps += [_step(acl, REMOVE, "") for acl in surplus]
    return steps


def _step(acl: Acl, sign: str, place: str) -> Step:
    where = "" if acl.host == "*" else f" from {acl.host}"
    prefix = "prefix " if acl.pattern == "prefixed" else ""
    resource = acl.kind if acl.kind == "cluster" else f"{acl.kind} {prefix}{acl.name}"
    said = f"{acl.permission} {acl.operation} {resource}{where}"
    item = Item(sign=sign, what=said)
    undo: dict[str, Any] = {"acls": entries([acl])}
    return Step(
        kind="acl", name=acl.principal, sign=sign, order=CREATE if sign == ADD else DELETE, place=place, do=acl,
        items=[item], undo={"absent": undo} if sign == ADD else undo,
    )  # fmt: skip


def entries(acls: Iterable[Acl]) -> list[dict[str, Any]]:
    """ACLs as a file has them: what differs in operations and names only stands together."""
    together: dict[tuple[str, ...], dict[str, list[str]]] = {}
    for acl in acls:
        key = (acl.principal, acl.host, acl.kind, acl.pattern, acl.permission)
        together.setdefault(key, {}).setdefault(acl.name, []).append(acl.operation)
    found: list[dict[str, Any]] = []
    for (principal, host, kind, pattern, permission), names in together.items():
        alike: dict[tuple[str, ...], list[str]] = {}
        for name, operations in names.items():
            alike.setdefault(tuple(operations), []).append(name)
        for done, some in alike.items():
            entry: dict[str, Any] = {"principal": principal, permission: list(done)}
            entry[kind] = True if kind == "cluster" else some if len(some) > 1 else some[0]
            entry |= {"pattern": pattern} if pattern != "literal" else {}
            found.append(entry | ({"host": host} if host != "*" else {}))
    return found


async def carry_out(cluster: Cluster, steps: list[Step], secrets: Secrets, *, dry_run: bool) -> None:
    """Do it; there is nothing to check."""
    if dry_run:
        return
    added = [step.do for step in steps if step.sign == ADD]
    removed = [step.do for step in steps if step.sign == REMOVE]
    done = {**await create_acls(cluster, added), **await delete_acls(cluster, removed)}
    for step in steps:
        step.problem = done[step.do]
        step.done = step.problem is None
