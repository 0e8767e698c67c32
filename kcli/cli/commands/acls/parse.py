"""What a line of `kcli acls` means: resources, filters, and the ACLs that it spells out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING

from kcli.acls import (
    ANYWHERE,
    CLUSTER,
    KINDS,
    OPERATIONS,
    POSSIBLE,
    Acl,
    AclFilter,
    block_of,
    client_address,
    principal,
)
from kcli.cli.parsing.option import Options
from kcli.errors import UsageError

if TYPE_CHECKING:
    from typing import Annotated, Literal

    import typer


class ResourceOptions(Options):
    """Resources, and what may be done to them."""

    topics: Annotated[
        list[str], typer.Option("-t", "--topic", metavar="TOPIC", help="A topic; * means all. Repeatable.")
    ]
    groups: Annotated[
        list[str], typer.Option("-g", "--group", metavar="GROUP", help="A group; * means all. Repeatable.")
    ]
    transactional_ids: Annotated[
        list[str],
        typer.Option("--transactional-id", metavar="NAME", help="A transactional id; * means all. Repeatable."),
    ]
    cluster: Annotated[bool, typer.Option("--cluster", help="The cluster.")] = False
    delegation_tokens: Annotated[
        list[str],
        typer.Option(
            "--delegation-token", metavar="NAME", help="A delegation token, by its id; * means all. Repeatable."
        ),
    ]
    users: Annotated[
        list[str],
        typer.Option(
            "--user",
            "--user-principal",
            metavar="PRINCIPAL",
            help="Owner of delegation tokens; * means all users. Repeatable.",
        ),
    ]
    operations: Annotated[
        list[str],
        typer.Option(
            "--operation", metavar="OPERATION", help="read, write, create, delete, alter, describe, all, … Repeatable."
        ),
    ]


class FilterOptions(ResourceOptions):
    """What an ACL must have to match."""

    principals: Annotated[
        list[str],
        typer.Option(
            "--principal", metavar="PRINCIPAL", help="Principal: User:bob, bob or User:* (all users). Repeatable."
        ),
    ]
    hosts: Annotated[
        list[str],
        typer.Option("--host", metavar="HOST", help="Client address; * matches ACLs for any host. Repeatable."),
    ]
    permission: Annotated[
        Literal["allow", "deny"] | None, typer.Option("--permission", help="Only ACLs with this permission.")
    ] = None


class NeedOptions(ResourceOptions):
    """What a producer or a consumer needs, in one word."""

    producer: Annotated[
        bool,
        typer.Option(
            "--producer",
            help="What a producer needs: write, describe, create on --topic; write, describe on --transactional-id.",
        ),
    ] = False
    consumer: Annotated[
        bool, typer.Option("--consumer", help="What a consumer needs: read, describe on --topic; read on --group.")
    ] = False
    idempotent: Annotated[
        bool,
        typer.Option(
            "--idempotent", help="With --producer: idempotent-write on the cluster, which brokers before 3.0 require."
        ),
    ] = False


Named = list[tuple[str, str]]
"""Resources: (kind, name)."""
Who = list[tuple[str, str, str]]
"""Principals: (principal, host, permission)."""
PRODUCER = {"topic": ("write", "describe", "create"), "transactional-id": ("write", "describe")}
CONSUMER = {"topic": ("read", "describe"), "group": ("read",)}


def resources(options: ResourceOptions) -> Named:
    """The resources that a line names."""
    by_kind = {
        "topic": options.topics,
        "group": options.groups,
        "transactional-id": options.transactional_ids,
        "delegation-token": options.delegation_tokens,
        "user": [name if name == "*" else principal(name) for name in options.users],
        "cluster": [CLUSTER] if options.cluster else [],
    }
    return list(dict.fromkeys((kind, name) for kind, names in by_kind.items() for name in names))


def operations(options: ResourceOptions) -> list[str]:
    """The operations that a line names. Raises UsageError for an unknown one."""
    names = [name.lower().replace("_", "-") for name in dict.fromkeys(options.operations)]
    for name in names:
        if name not in OPERATIONS:
            from kcli.text.suggest import did_you_mean

            raise UsageError(f"--operation {name}: expected {', '.join(OPERATIONS)}{did_you_mean(name, OPERATIONS)}")
    return names


def spoken(words: list[str], verb: str) -> tuple[str, str, str]:
    """Operation, kind and name of `write topic orders`; the cluster has no name. Raises UsageError."""
    from kcli.text.suggest import did_you_mean

    if len(words) < 2 or len(words) > 3:
        raise UsageError(f"missing arguments: kcli acls {verb} OPERATION RESOURCE NAME, such as write topic orders")
    operation, kind = words[0].lower().replace("_", "-"), words[1].lower().replace("_", "-")
    if kind not in KINDS:
        raise UsageError(f"{words[1]}: unknown resource; expected {', '.join(KINDS)}{did_you_mean(kind, KINDS)}")
    if operation not in POSSIBLE[kind]:
        near = did_you_mean(operation, OPERATIONS)
        raise UsageError(f"{words[0]} is not a valid operation for a {kind}; valid: {', '.join(POSSIBLE[kind])}{near}")
    if kind == "cluster" and len(words) == 2:
        return operation, kind, CLUSTER
    if len(words) == 2:
        raise UsageError(f"missing name: kcli acls {verb} {operation} {kind} NAME")
    return operation, kind, principal(words[2]) if kind == "user" else words[2]


def filters(options: FilterOptions, pattern: str | None, usual: str) -> list[AclFilter]:
    """The filters of a line, of which an ACL must match one. `usual` is the pattern of a name where `pattern`, the
    option, does not say it."""
    named: Sequence[tuple[str | None, str | None]] = resources(options) or [(None, None)]
    principals: Sequence[str | None] = [principal(name) for name in options.principals] or [None]
    hosts: Sequence[str | None] = options.hosts or [None]
    some: Sequence[str | None] = operations(options) or [None]
    return [
        AclFilter(
            kind=kind,
            name=name,
            pattern=pattern or ("any" if name is None else usual),
            principal=who,
            host=host,
            operation=operation,
            permission=options.permission,
        )
        for (kind, name), who, host, operation in product(named, principals, hosts, some)
    ]


def has_filter(options: FilterOptions) -> bool:
    """Whether a line says anything that an ACL could match."""
    return bool(resources(options) or options.principals or options.hosts or options.operations or options.permission)


def has_need(options: NeedOptions) -> bool:
    """Whether a line has --producer or --consumer. Raises UsageError for --idempotent alone."""
    if options.idempotent and not options.producer:
        raise UsageError("--idempotent requires --producer")
    return options.producer or options.consumer


def needed(options: NeedOptions, who: Who, pattern: str | None) -> list[Acl]:
    """The ACLs that --producer and --consumer stand for. Raises UsageError."""
    if options.operations:
        raise UsageError("--producer and --consumer imply the operations; remove --operation")
    named = resources(options)
    kinds = {kind for kind, _ in named}
    if "topic" not in kinds:
        raise UsageError("--producer and --consumer need --topic")
    if options.consumer and "group" not in kinds:
        raise UsageError("--consumer needs --group")
    known: dict[str, list[str]] = {}
    for wanted, needs in ((options.producer, PRODUCER), (options.consumer, CONSUMER)):
        for kind, names in needs.items() if wanted else ():
            known.setdefault(kind, []).extend(names)
    for kind, _ in named:
        if kind not in known:
            raise UsageError(f"missing --operation for the {kind}: --producer and --consumer do not cover it")
    if options.idempotent:
        named, known["cluster"] = [*named, ("cluster", CLUSTER)], ["idempotent-write"]
    acls = [acl for at in named for operation in known[at[0]] for acl in rules(at, operation, who, pattern)]
    return list(dict.fromkeys(acls))


def rules(at: tuple[str, str], operation: str, who: Who, pattern: str | None) -> list[Acl]:
    """The ACLs of one operation on one resource. Raises UsageError."""
    kind, name = at
    of = "literal" if kind == "cluster" else pattern or "literal"
    return [checked(Acl(kind, name, of, user, host, operation, permission)) for user, host, permission in who]


def checked(acl: Acl, *, known: bool = False) -> Acl:
    """The ACL, if it can be one; one that is `known` was taken by a broker before. Raises UsageError with what to say
    instead."""
    if acl.kind not in KINDS:
        raise UsageError(f"{acl.kind}: ACLs apply to {', '.join(KINDS)}")
    if acl.operation != "all" and acl.operation not in POSSIBLE[acl.kind]:
        raise UsageError(
            f"{acl.operation} is not a valid operation for a {acl.kind}; valid: all, {', '.join(POSSIBLE[acl.kind])}"
        )
    if acl.pattern not in ("literal", "prefixed") or acl.permission not in ("allow", "deny"):
        raise UsageError(f"an ACL is literal or prefixed, and allows or denies; not {acl.pattern}, {acl.permission}")
    if not acl.name:
        raise UsageError(f"an ACL for a {acl.kind} needs a name; * means all")
    if acl.kind == "cluster" and acl.name != CLUSTER:
        raise UsageError(f"the cluster must be named {CLUSTER} in ACLs, not {acl.name}")
    if acl.kind == "topic" and not known and "*" in acl.name and acl.name != "*":
        raise UsageError(
            f"{acl.name}: only * alone means all; for names with the same prefix, use --pattern prefixed --topic PREFIX"
        )
    if known:
        return acl
    if acl.pattern == "prefixed" and acl.name == "*":
        raise UsageError("* is a literal name; with --pattern prefixed it would mean names that begin with *")
    if acl.host != ANYWHERE and block_of(acl.host, single=True) is None:
        raise UsageError(
            f"{acl.host}: the host of an ACL must be an address such as 10.0.0.7, a block such as 10.1.0.0/16, or *"
        )
    return acl._replace(host=client_address(acl.host))
