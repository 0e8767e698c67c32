"""ACLs as values, and what they say together: literal, prefixed and wildcard patterns, hosts and blocks of addresses,
deny before allow (KIP-11, 290, 1276).

The words are those of Kafka's tools, in small letters with hyphens; the numbers are the protocol's.
"""

from __future__ import annotations

from functools import lru_cache

from kcli.errors import UsageError
from kcli.values import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from ipaddress import IPv4Network, IPv6Network
    from typing import NamedTuple

    class Acl(NamedTuple):
        """One rule: `kind` is of `KINDS`, `pattern` literal or prefixed, `permission` allow or deny; `host` is an
        address, a block of addresses such as 10.1.0.0/16 (from Kafka 4.4 on), or *."""

        kind: str
        name: str
        pattern: str
        principal: str
        host: str
        operation: str
        permission: str
else:
    from collections import namedtuple

    Acl = namedtuple("Acl", "kind name pattern principal host operation permission")

KINDS = {"topic": 2, "group": 3, "cluster": 4, "transactional-id": 5, "delegation-token": 6, "user": 7}
PATTERNS = {"any": 1, "match": 2, "literal": 3, "prefixed": 4}
OPERATIONS = {
    "all": 2,
    "read": 3,
    "write": 4,
    "create": 5,
    "delete": 6,
    "alter": 7,
    "describe": 8,
    "cluster-action": 9,
    "describe-configs": 10,
    "alter-configs": 11,
    "idempotent-write": 12,
    "create-tokens": 13,
    "describe-tokens": 14,
    "two-phase-commit": 15,
}
PERMISSIONS = {"deny": 2, "allow": 3}
ANY = 1
CLUSTER = "kafka-cluster"
"""The name of the one resource of kind cluster."""
EVERYBODY = "User:*"
ANYWHERE = "*"
POSSIBLE = {
    "topic": ("read", "write", "create", "delete", "alter", "describe", "describe-configs", "alter-configs"),
    "group": ("read", "delete", "describe", "describe-configs", "alter-configs"),
    "cluster": (
        "create",
        "alter",
        "describe",
        "cluster-action",
        "describe-configs",
        "alter-configs",
        "idempotent-write",
    ),
    "transactional-id": ("write", "describe", "two-phase-commit"),
    "delegation-token": ("describe",),
    "user": ("create-tokens", "describe-tokens"),
}
"""What can be done to each kind."""
IMPLYING = {
    "describe": frozenset(("read", "write", "delete", "alter")),
    "describe-configs": frozenset(("alter-configs",)),
}
"""By operation, those whose permission implies it; a denial implies nothing."""


class AclFilter(Frozen):
    """Which ACLs are meant; None is any. `pattern` any: of both patterns; match: all that hold for a resource called
    `name`, prefixed and wildcard ones too; literal and prefixed: those whose name is exactly `name`."""

    kind: str | None = None
    name: str | None = None
    pattern: str = "any"
    principal: str | None = None
    host: str | None = None
    operation: str | None = None
    permission: str | None = None

    def matches(self, acl: Acl) -> bool:
        """Whether an ACL is one of these, as a broker decides it."""
        if self.pattern == "match" and self.name is not None:
            named = covers(acl, self.name)
        else:
            named = self.name in (None, acl.name) and self.pattern in ("any", "match", acl.pattern)
        return (
            named
            and self.kind in (None, acl.kind)
            and self.principal in (None, acl.principal)
            and self.host in (None, acl.host)
            and self.operation in (None, acl.operation)
            and self.permission in (None, acl.permission)
        )


def exactly(acl: Acl) -> AclFilter:
    """The filter that means this ACL and no other."""
    return AclFilter(**acl._asdict())


def covers(acl: Acl, name: str) -> bool:
    """Whether an ACL holds for a resource of this name (and its kind)."""
    return name.startswith(acl.name) if acl.pattern == "prefixed" else acl.name in (name, "*")


def concerns(acl: Acl, operation: str) -> bool:
    """Whether an ACL applies to an operation, by name or as `all`."""
    if acl.operation in ("all", operation):
        return True
    return acl.permission == "allow" and acl.operation in IMPLYING.get(operation, ())


def decide(acls: Iterable[Acl], principal: str, host: str, operation: str) -> Acl | None:
    """The rule that decides, of the ACLs that hold for the resource: a denial before all, then the first permission;
    None where no rule speaks, which is a refusal unless the cluster allows what has no ACL. `host` * is any host that
    no ACL names, and a block any address of it that no ACL names more closely."""
    allowing: Acl | None = None
    for acl in acls:
        if acl.principal not in (principal, EVERYBODY) or not concerns(acl, operation) or not reaches(acl.host, host):
            continue
        if acl.permission == "deny":
            return acl
        allowing = allowing or acl
    return allowing


def reaches(pattern: str, host: str) -> bool:
    """Whether an ACL for the hosts `pattern` applies to a host, or to all hosts of a block."""
    if pattern in (host, ANYWHERE):
        return True
    block, meant = (block_of(pattern), block_of(host, single=True)) if "/" in pattern else (None, None)
    # subnet_of refuses to compare IPv4 with IPv6
    return block is not None and meant is not None and block.version == meant.version and meant.subnet_of(block)  # type: ignore[arg-type]


@lru_cache(4096)
def block_of(host: str, *, single: bool = False) -> IPv4Network | IPv6Network | None:
    """The addresses of a block such as 10.1.0.0/16, with `single` also of one address; None for anything else, and for
    a block of IPv4 addresses in IPv6 (::ffff:10.0.0.0/104), which contains no client: brokers see IPv4."""
    from ipaddress import ip_network

    address, slash, length = host.partition("/")
    if not (single or slash) or (slash and not length.isdecimal()):  # no netmasks, such as /255.255.0.0
        return None
    if slash and ":" not in address:  # brokers read 010 as ten, where Python refuses it
        address = ".".join(part.lstrip("0") or "0" for part in address.split("."))
    try:
        block = ip_network(address + slash + length, strict=False)
    except ValueError:
        return None
    mapped = slash and block.version == 6 and "." in client_address(address)
    return None if mapped else block


def client_address(text: str) -> str:
    """An address as brokers write that of a client, which they compare with the hosts of ACLs: IPv6 in full, and IPv4
    in IPv6 as IPv4. Any other text is itself."""
    from ipaddress import IPv6Address, ip_address

    try:
        address = ip_address(text)
    except ValueError:
        return text
    if not isinstance(address, IPv6Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    scope = f"%{address.scope_id}" if address.scope_id else ""
    return ":".join(f"{int(part, 16):x}" for part in address.exploded.partition("%")[0].split(":")) + scope


def principal(name: str) -> str:
    """A principal by the name people use: `bob` is User:bob. Raises UsageError for one that has no name."""
    kind, colon, of = name.partition(":")
    if not colon:
        kind, of = "User", name
    if not kind or not of:
        raise UsageError(f"{name}: a principal is KIND:NAME, such as User:bob")
    return f"{kind}:{of}"


def word(table: dict[str, int], number: int) -> str:
    """The word of a number; an unknown number is returned as its digits."""
    return next((name for name, code in table.items() if code == number), str(number))


def number(table: dict[str, int], name: str) -> int:
    """The number of a word, as `word` gave it."""
    return table[name] if name in table else int(name)


def sentence(acl: Acl) -> str:
    """An ACL as people say it: `allow User:bob write topic prefixed orders- from any host`."""
    of = acl.name if acl.pattern == "literal" else f"{acl.pattern} {acl.name}"
    at = "" if acl.host == ANYWHERE else f" from {acl.host}"
    return f"{acl.permission} {acl.principal} {acl.operation} {acl.kind} {of}{at}"
