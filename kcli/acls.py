"""ACLs as values and how they combine: literal, prefixed and wildcard patterns, hosts and address blocks, and deny
before allow (KIP-11, 290, 1276).

Words are those of Kafka's tools, in lower case with hyphens; numbers are those of the protocol.
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
        """One ACL. `kind` is one of `KINDS`, `pattern` literal or prefixed, `permission` allow or deny. `host` is an
        address, an address block such as 10.1.0.0/16 (from Kafka 4.4 on), or *."""

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
"""Name of the only resource of kind cluster."""
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
"""Operations of each resource kind."""
IMPLYING = {
    "describe": frozenset(("read", "write", "delete", "alter")),
    "describe-configs": frozenset(("alter-configs",)),
}
"""For each operation, the operations that imply it when allowed; a denial implies nothing."""


class AclFilter(Frozen):
    """A filter of ACLs; None matches anything. `pattern` any matches both patterns; match selects all ACLs that apply
    to a resource called `name`, including prefixed and wildcard ones; literal and prefixed require exactly `name`."""

    kind: str | None = None
    name: str | None = None
    pattern: str = "any"
    principal: str | None = None
    host: str | None = None
    operation: str | None = None
    permission: str | None = None

    def matches(self, acl: Acl) -> bool:
        """Whether an ACL matches the filter, by the broker's rules."""
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
    """Return the filter that matches only this ACL."""
    return AclFilter(**acl._asdict())


def covers(acl: Acl, name: str) -> bool:
    """Whether an ACL applies to a resource of its kind with this name."""
    return name.startswith(acl.name) if acl.pattern == "prefixed" else acl.name in (name, "*")


def concerns(acl: Acl, operation: str) -> bool:
    """Whether an ACL applies to an operation, by name or through `all`."""
    if acl.operation in ("all", operation):
        return True
    return acl.permission == "allow" and acl.operation in IMPLYING.get(operation, ())


def decide(acls: Iterable[Acl], principal: str, host: str, operation: str) -> Acl | None:
    """Return the ACL that decides: the first denial, or else the first permission that applies to the resource.

    None if no ACL applies, which means denied unless the cluster allows resources without ACLs. `host` * stands for any
    host that no ACL names; a block stands for any of its addresses that no ACL names more specifically.
    """
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
    """Return the address block of a text such as 10.1.0.0/16, and with `single` also that of one address; otherwise
    None.

    A block of IPv4-mapped IPv6 addresses (::ffff:10.0.0.0/104) also gives None: it contains no client, because brokers
    see IPv4 addresses.
    """
    from ipaddress import ip_network

    address, slash, length = host.partition("/")
    if not (single or slash) or (slash and not length.isdecimal()):  # no netmasks such as /255.255.0.0
        return None
    if slash and ":" not in address:  # brokers read 010 as 10; Python rejects it
        address = ".".join(part.lstrip("0") or "0" for part in address.split("."))
    try:
        block = ip_network(address + slash + length, strict=False)
    except ValueError:
        return None
    mapped = slash and block.version == 6 and "." in client_address(address)
    return None if mapped else block


def client_address(text: str) -> str:
    """Return an address in the form in which brokers compare it with the hosts of ACLs: IPv6 in full, IPv4-mapped IPv6
    as IPv4. Any other text is returned unchanged."""
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
    """Return the principal for a name that people use: `bob` is User:bob. Raises UsageError for an empty name."""
    kind, colon, of = name.partition(":")
    if not colon:
        kind, of = "User", name
    if not kind or not of:
        raise UsageError(f"{name}: a principal is KIND:NAME, such as User:bob")
    return f"{kind}:{of}"


def word(table: dict[str, int], number: int) -> str:
    """Return the word for a number; an unknown number is returned as digits."""
    return next((name for name, code in table.items() if code == number), str(number))


def number(table: dict[str, int], name: str) -> int:
    """Return the number for a word from `word`."""
    return table[name] if name in table else int(name)


def sentence(acl: Acl) -> str:
    """Describe an ACL as a sentence: `allow User:bob write topic prefixed orders- from any host`."""
    of = acl.name if acl.pattern == "literal" else f"{acl.pattern} {acl.name}"
    at = "" if acl.host == ANYWHERE else f" from {acl.host}"
    return f"{acl.permission} {acl.principal} {acl.operation} {acl.kind} {of}{at}"
