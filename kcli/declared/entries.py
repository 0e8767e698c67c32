"""Converts the state of a cluster to entries of a file, for `export` and undo files, and ACL entries back to ACLs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from kcli.acls import CLUSTER, KINDS, PERMISSIONS, POSSIBLE, Acl
from kcli.admin.configs import Resource, list_resources
from kcli.admin.quotas import DEFAULT
from kcli.errors import UnsupportedVersion, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kcli.admin.quotas import Entity
    from kcli.model import Cluster
    from kcli.schemas import Schema

PASSING = re.compile(r"(leader|follower)\.replication\.throttled\.(rate|replicas)|replica\.alter\.log\.dirs\.io\..*")
"""Configs that a reassignment sets temporarily: they are not declared, so they are neither exported nor pruned."""


async def standing(cluster: Cluster) -> tuple[list[Resource], dict[str, UnsupportedVersion]]:
    """Return all resources that may have configs, and the kinds that these brokers do not list: groups before Kafka
    4.1."""
    resources = [Resource("broker", ""), *(Resource("broker", str(node.id)) for node in await cluster.nodes())]
    unlisted = {}
    for kind in ("group", "client-metrics"):
        try:
            resources += [Resource(kind, name) for name in await list_resources(cluster, kind)]
        except UnsupportedVersion as error:
            unlisted[kind] = error
    return resources, unlisted


def named(at: Resource) -> str:
    """Return a resource's name in a scope: `broker/default`, `group/billing`."""
    return f"{at.kind}/{at.name or 'default'}"


def variable(name: str) -> str:
    """Return the environment variable that an exported file uses for a user's password."""
    return re.sub(r"\W", "_", name.upper(), flags=re.ASCII) + "_PASSWORD"


def quota_entry(at: Entity, values: dict[str, float]) -> dict[str, Any]:
    """Return the entry of quotas, without needless fractions."""
    names = {kind: DEFAULT if name is None else name for kind, name in at.parts}
    return {**names, **{key: int(value) if value == int(value) else value for key, value in values.items()}}


def schema_entry(schema: Schema, level: str | None = None) -> dict[str, object]:
    """Return the entry of a subject."""
    fields: dict[str, object] = {"type": schema.kind, "schema": schema.text}
    if schema.references:
        fields["references"] = [reference._asdict() for reference in schema.references]
    return fields | ({"compatibility": level} if level else {})


def acl_entries(acls: Iterable[Acl]) -> list[dict[str, Any]]:
    """Return ACLs as entries of a file: ACLs that differ only in operations and names share an entry."""
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


def acls_of(of: dict[str, Any]) -> list[Acl]:
    """Convert an entry of a file to single ACLs. Raises UsageError."""
    resources = [(kind, str(name)) for kind in KINDS if kind in of and kind != "cluster" for name in _some(of[kind])]
    if str(of.get("cluster", False)).lower() == "true":
        resources.append(("cluster", CLUSTER))
    if not resources:
        raise UsageError(f"an ACL needs a resource: {', '.join(KINDS)}")
    if not ("allow" in of or "deny" in of):
        raise UsageError("add what is allowed or denied: allow: [read, describe]")
    for principal in map(str, _some(of["principal"])):
        if ":" not in principal:
            raise UsageError(f"{principal}: expected TYPE:NAME, such as User:{principal}")
    wanted = [one for permission in PERMISSIONS for one in _some(of.get(permission, []))]
    for kind in dict(resources):
        for operation in wanted:
            if operation != "all" and operation not in POSSIBLE[kind]:
                raise UsageError(
                    f"{operation} is not a valid operation for a {kind}; valid: all, {', '.join(POSSIBLE[kind])}"
                )
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
