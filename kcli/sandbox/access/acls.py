"""The sandbox's ACLs: stored, listed, and enforced with Sandbox(super_users=…), like by Kafka's StandardAuthorizer."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from kcli import codes
from kcli.acls import CLUSTER, KINDS, OPERATIONS, PATTERNS, POSSIBLE, Acl, AclFilter, covers, decide
from kcli.errors import BrokerError

if TYPE_CHECKING:
    from kcli.sandbox.wire.request_context import RequestContext

Note = Callable[[str, dict[str, Any]], None]
UNTOLD = -(2**31)
"""The operations were not requested."""


class Acls:
    """The ACLs. `note` records a change in the journal."""

    def __init__(self, note: Note) -> None:
        self.rules: set[Acl] = set()
        self._note = note

    def restore(self, rules: Iterable[list[str]]) -> None:
        """Restore the state from the journal."""
        self.rules.update(Acl(*each) for each in rules)

    def add(self, acl: Acl) -> None:
        """Add an ACL. Kafka accepts any operation for any resource, and any host. Raises BrokerError INVALID_REQUEST if
        it is malformed."""
        kind, colon, name = acl.principal.partition(":")
        if acl.kind not in KINDS or acl.permission not in ("allow", "deny") or acl.pattern not in list(PATTERNS)[2:]:
            raise _refused("Invalid resource type, permission type or pattern type")
        if acl.operation not in OPERATIONS:
            raise _refused("Invalid operation")
        if not acl.name or (acl.kind == "cluster" and acl.name != CLUSTER):
            raise _refused(f"A resource has a name, and the only one of the CLUSTER resource is {CLUSTER}")
        if not (kind and colon and name):
            raise _refused(f"Could not parse principal from `{acl.principal}`")
        if acl not in self.rules:
            self._note("acl", {"acl": list(acl), "there": True})
            self.rules.add(acl)

    def remove(self, wanted: AclFilter) -> list[Acl]:
        """Remove matching ACLs and return them."""
        gone = self.find(wanted)
        for acl in gone:
            self._note("acl", {"acl": list(acl), "there": False})
            self.rules.remove(acl)
        return gone

    def find(self, wanted: AclFilter) -> list[Acl]:
        return sorted(acl for acl in self.rules if wanted.matches(acl))


class Authorizer:
    """Decides by the ACLs. Super users may do anything; with `everyone` all users may use resources without an ACL
    (allow.everyone.if.no.acl.found)."""

    def __init__(self, acls: Acls, super_users: Iterable[str], everyone: bool) -> None:
        self.acls = acls
        self.super_users = list(super_users)
        self.everyone = everyone

    def allows(self, principal: str, host: str, operation: str, kind: str, name: str) -> bool:
        """Whether `principal`, connected from address `host`, is allowed."""
        if principal in self.super_users:
            return True
        rules = [acl for acl in self.acls.rules if acl.kind == kind and covers(acl, name)]
        if not rules:
            return self.everyone
        rule = decide(rules, principal, host, operation)
        return rule is not None and rule.permission == "allow"

    def allows_any(self, principal: str, host: str, operation: str, kind: str) -> bool:
        """Whether the operation is allowed on any resource of a kind (KIP-679: whoever may write to some topic may be
        idempotent)."""
        if principal in self.super_users or self.everyone:
            return True
        rules = [acl for acl in self.acls.rules if acl.kind == kind]
        named = [acl for acl in rules if acl.permission == "allow" and decide([acl], principal, host, operation)]
        for acl in named:
            over = [each for each in rules if each.permission == "deny" and _whole(each, acl)]
            rule = decide([*over, acl], principal, host, operation)
            if rule is not None and rule.permission == "allow":
                return True
        return False


def _whole(deny: Acl, allow: Acl) -> bool:
    """Whether a denial covers everything that another ACL allows."""
    if deny.pattern == "prefixed":
        return allow.name.startswith(deny.name)
    return deny.name == "*" or deny[:3] == allow[:3]


def _refused(message: str) -> BrokerError:
    return BrokerError(codes.INVALID_REQUEST, message=message)


def operations(context: RequestContext, kind: str, name: str = CLUSTER, *, wanted: bool = True) -> int:
    """Return the bits for a topic, a group or the cluster; UNTOLD unless they are `wanted`."""
    if not wanted:
        return UNTOLD
    return sum(1 << OPERATIONS[operation] for operation in POSSIBLE[kind] if context.may(operation, kind, name))
