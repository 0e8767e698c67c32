"""What a line of `kcli acls` means: resources, filters, and the ACLs that it spells out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING

from kcli.acls import CLUSTER, KINDS, OPERATIONS, POSSIBLE, Acl, AclFilter, principal
from kcli.errors import UsageError

if TYPE_CHECKING:
    from kcli.cli.parsing.option import Values

Named = list[tuple[str, str]]

FLAGS = {
    "topic": "topics", "group": "groups", "transactional-id": "transactional_ids",
    "delegation-token": "delegation_tokens", "user": "users",
}  # fmt: skip
PRODUCER = {"topic": ("write", "describe", "create"), "transactional-id": ("write", "describe")}
CONSUMER = {"topic": ("read", "describe"), "group": ("read",)}


def resources(values: Values) -> Named:
    """The (kind, name) pairs of a line."""
    found = [(kind, name) for kind, of in FLAGS.items() for name in values[of]]
    found = [(kind, principal(name) if kind == "user" and name != "*" else name) for kind, name in found]
    return list(dict.fromkeys([*found, *([("cluster", CLUSTER)] if values["cluster"] else [])]))


def operations(values: Values) -> list[str]:
    """The operations of a line. Raises UsageError for one that there is not."""
    found = [one.lower().replace("_", "-") for one in dict.fromkeys(values["operations"])]
    for one in found:
        if one not in OPERATIONS:
            from kcli.text.suggest import did_you_mean

            raise UsageError(f"--operation {one}: it is {', '.join(OPERATIONS)}{did_you_mean(one, OPERATIONS)}")
    return found


def filters(values: Values, usual: str) -> list[AclFilter]:
    """The filters of a line, of which an ACL must match one. `usual` is the pattern of a name unless it is said."""
    pattern = values["pattern"] or usual
    named: Sequence[tuple[str | None, str | None]] = resources(values) or [(None, None)]
    principals: Sequence[str | None] = [principal(one) for one in values["principals"]] or [None]
    of: Sequence[str | None] = operations(values) or [None]
    ways = product(
        named,
        principals,
        values["hosts"] or [None],
        of,
    )
    made = []
    for (kind, name), who, host, operation in ways:
        made.append(
            AclFilter(
                kind=kind,
                name=name,
                pattern=values["pattern"] or "any" if name is None else pattern,
                principal=who,
                host=host,
                operation=operation,
                permission=values["permission"],
            )
        )
    return made


def said(values: Values) -> bool:
    """Whether a line says anything that an ACL could match."""
    return bool(
        resources(values) or values["principals"] or values["hosts"] or values["operations"] or values["permission"]
    )


def spelled(values: Values) -> list[Acl]:
    """The ACLs that `kcli acls add` names. Raises UsageError for what no broker takes, and what is not said."""
    named = resources(values)
    who = [
        (principal(one), host, permission)
        for permission, hosts in (("allow", "allow_hosts"), ("deny", "deny_hosts"))
        for one in values[permission]
        for host in values[hosts] or ["*"]
    ]
    if not who:
        raise UsageError("who? --allow PRINCIPAL or --deny PRINCIPAL, such as --allow User:bob")
    for hosts, of in (("allow_hosts", "allow"), ("deny_hosts", "deny")):
        if values[hosts] and not values[of]:
            raise UsageError(f"--{of}-host goes with --{of}")
    if _conveniences(values):
        if values["deny"]:
            raise UsageError("--producer and --consumer are for --allow")
        return _sets(values, named, who)
    if not named:
        raise UsageError("on what? --topic, --group, --transactional-id, --cluster, --delegation-token or --user")
    if not values["operations"]:
        raise UsageError("what? --operation read, write, …, or all; or the sets --producer and --consumer")
    return [one for at in named for operation in operations(values) for one in _rules(values, at, operation, who)]


def spelled_sets(values: Values) -> list[Acl] | None:
    """The ACLs of --producer and --consumer that `kcli acls remove` names; None without these. Raises UsageError."""
    if not _conveniences(values):
        return None
    if (
        not values["principals"]
        or values["operations"]
        or values["permission"]
        or values["pattern"] in ("match", "any")
    ):
        raise UsageError(
            "--producer and --consumer go with --principal and names, literal or prefixed; they say the operations"
        )
    who = [(principal(one), host, "allow") for one in values["principals"] for host in values["hosts"] or ["*"]]
    return _sets(values, resources(values), who)


def _conveniences(values: Values) -> bool:
    if values["idempotent"] and not values["producer"]:
        raise UsageError("--idempotent goes with --producer")
    return bool(values["producer"] or values["consumer"])


def _sets(values: Values, named: Named, who: list[tuple[str, str, str]]) -> list[Acl]:
    if values["operations"]:
        raise UsageError("--producer and --consumer name the operations; leave --operation away")
    kinds = {kind for kind, _ in named}
    if "topic" not in kinds:
        raise UsageError("--producer and --consumer want --topic")
    if values["consumer"] and "group" not in kinds:
        raise UsageError("--consumer wants --group")
    known: dict[str, list[str]] = {}
    for flag, one in (("producer", PRODUCER), ("consumer", CONSUMER)):
        if values[flag]:
            for kind, operations in one.items():
                known.setdefault(kind, []).extend(operations)
    for kind, _ in named:
        if kind not in known:
            raise UsageError(
                f"what shall be done to the {kind}? --producer and --consumer do not say; name --operation"
            )
    if values["idempotent"]:
        named, known["cluster"] = [*named, ("cluster", CLUSTER)], ["idempotent-write"]
    made = [one for at in named for operation in known[at[0]] for one in _rules(values, at, operation, who)]
    return list(dict.fromkeys(made))


def _rules(values: Values, at: tuple[str, str], operation: str, who: list[tuple[str, str, str]]) -> list[Acl]:
    kind, name = at
    pattern = "literal" if kind == "cluster" else values["pattern"] or "literal"
    return [checked(Acl(kind, name, pattern, one, host, operation, how)) for one, host, how in who]


def checked(one: Acl, *, known: bool = False) -> Acl:
    """The ACL, if it can be one; one that is `known` was taken by a broker before. Raises UsageError with what to say
    instead."""
    if one.kind not in KINDS:
        raise UsageError(f"{one.kind}: ACLs are of {', '.join(KINDS)}")
    if one.operation != "all" and one.operation not in POSSIBLE[one.kind]:
        raise UsageError(f"{one.operation} is nothing for a {one.kind}: all, {', '.join(POSSIBLE[one.kind])}")
    if one.pattern not in ("literal", "prefixed") or one.permission not in ("allow", "deny"):
        raise UsageError(f"an ACL is literal or prefixed, and allows or denies; not {one.pattern}, {one.permission}")
    if not one.name:
        raise UsageError(f"an ACL of a {one.kind} wants a name; * is all")
    if one.kind == "cluster" and one.name != CLUSTER:
        raise UsageError(f"the cluster is called {CLUSTER} in ACLs, not {one.name}")
    if one.kind == "topic" and not known and "*" in one.name and one.name != "*":
        raise UsageError(f"{one.name}: * alone is all; for names that begin alike: --pattern prefixed --topic PREFIX")
    if known:
        return one
    if one.pattern == "prefixed" and one.name == "*":
        raise UsageError("* is a literal name; with --pattern prefixed it would mean names that begin with *")
    if not one.host or (one.host != "*" and not _address(one.host)):
        raise UsageError(f"{one.host}: a host of an ACL is an address, such as 10.0.0.7; brokers know no other; or *")
    return one


def _address(text: str) -> bool:
    from ipaddress import ip_address

    try:
        ip_address(text)
    except ValueError:
        return False
    return True
