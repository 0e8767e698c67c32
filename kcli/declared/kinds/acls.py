"""Declared ACLs: each is there or not. Brokers have no way to check a change before."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kcli.acls import CLUSTER, KINDS, PERMISSIONS, POSSIBLE, Acl, AclFilter
from kcli.admin.acls.acls import create_acls, delete_acls, describe_acls
from kcli.declared.model import ADD, REMOVE, Declared, Item, Step
from kcli.declared.secrets import Secrets
from kcli.errors import UsageError
from kcli.model import Cluster

CREATE, DELETE = 30, 70


async def plan(cluster: Cluster, declared: Declared, *, prune: bool, secrets: bool) -> list[Step]:
    """What differs. Raises BrokerError SECURITY_DISABLED where there is no authorizer."""
    principals = {acl.principal for acl in (*declared.acls, *declared.absent_acls)}
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
    rule = f"{acl.permission} {acl.operation} {resource}{where}"
    item = Item(sign=sign, what=rule)
    undo: dict[str, Any] = {"acls": entries([acl])}
    return Step(
        kind="acl",
        name=acl.principal,
        sign=sign,
        order=CREATE if sign == ADD else DELETE,
        place=place,
        do=acl,
        items=[item],
        undo={"absent": undo} if sign == ADD else undo,
    )


def entries(acls: Iterable[Acl]) -> list[dict[str, Any]]:
    """ACLs as a file has them: those that differ in operations and names only are one entry."""
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


def expanded(of: dict[str, Any]) -> list[Acl]:
    """An entry of a file as single ACLs. Raises UsageError."""
    resources = [(kind, str(name)) for kind in KINDS if kind in of and kind != "cluster" for name in _some(of[kind])]
    if str(of.get("cluster", False)).lower() == "true":
        resources.append(("cluster", CLUSTER))
    if not resources:
        raise UsageError(f"an ACL is about a {', '.join(KINDS)}")
    if not ("allow" in of or "deny" in of):
        raise UsageError("say what is allowed or denied: allow: [read, describe]")
    for principal in map(str, _some(of["principal"])):
        if ":" not in principal:
            raise UsageError(f"{principal}: a principal is TYPE:NAME, such as User:{principal}")
    wanted = [one for permission in PERMISSIONS for one in _some(of.get(permission, []))]
    for kind in dict(resources):
        for operation in wanted:
            if operation != "all" and operation not in POSSIBLE[kind]:
                raise UsageError(f"{operation} is nothing for a {kind}: all, {', '.join(POSSIBLE[kind])}")
    return [
        Acl(
            kind,
            name,
            "literal" if kind == "cluster" else of.get("pattern", "literal"),
            str(principal),
            str(host),
            operation,
            permission,
        )
        for principal in _some(of["principal"])
        for host in _some(of.get("host", "*"))
        for kind, name in resources
        for permission in (one for one in PERMISSIONS if one in of)
        for operation in _some(of[permission])
    ]


def _some(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


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
