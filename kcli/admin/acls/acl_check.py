"""Who may do something to a resource: what all its ACLs say together, principal by principal (KIP-11, KIP-290)."""

from __future__ import annotations

from collections.abc import Iterable

from kcli.acls import ANYWHERE, EVERYBODY, Acl, AclFilter, concerns, decide
from kcli.admin.acls.acls import describe_acls
from kcli.admin.configs.resources import Resource, describe_configs
from kcli.errors import KcliError
from kcli.model import Cluster
from kcli.values import Value, field

SUPER_USERS, WITHOUT = "super.users", "allow.everyone.if.no.acl.found"


class Verdict(Value):
    """Whether `principal` may, from `host` (* is any that has no row of its own); `rule` is the ACL that decides, None
    where none does. User:* is everybody who has no row of their own."""

    principal: str = ""
    host: str = ANYWHERE
    allowed: bool = False
    rule: Acl | None = None


class Authorizer(Value):
    """What brokers are configured to do beside the ACLs; None where they do not tell."""

    super_users: list[str] | None = field(factory=list)
    everyone: bool | None = False

    def super(self, principal: str) -> bool:
        """Whether it is known that no ACL binds this principal."""
        return principal in (self.super_users or ())


async def acls_of(cluster: Cluster, kind: str, name: str) -> list[Acl]:
    """All ACLs that hold for a resource. Raises BrokerError."""
    return await describe_acls(cluster, AclFilter(kind=kind, name=name, pattern="match"))


async def authorizer(cluster: Cluster) -> Authorizer:
    """As the first broker says. Kafka hides the values of settings that it does not know itself, and super.users is
    one of them."""
    nodes = await cluster.nodes()
    if not nodes:
        return Authorizer(super_users=None, everyone=None)
    at = Resource("broker", str(nodes[0].id))
    told = (await describe_configs(cluster, [at], names=[SUPER_USERS, WITHOUT]))[at]
    if isinstance(told, KcliError):
        return Authorizer(super_users=None, everyone=None)
    known = {one.name: one for one in told}
    found = Authorizer()
    if SUPER_USERS in known:
        value = known[SUPER_USERS].value
        found.super_users = None if value is None else [one.strip() for one in value.split(";") if one.strip()]
    if WITHOUT in known:
        value = known[WITHOUT].value
        found.everyone = None if value is None else value.strip().lower() == "true"
    return found


def verdicts(acls: Iterable[Acl], operation: str) -> list[Verdict]:
    """A verdict for every principal that the ACLs of a resource name, and one more for each host where it differs."""
    speaking = [one for one in acls if concerns(one, operation)]
    named = sorted({one.principal for one in speaking} - {EVERYBODY})
    made: list[Verdict] = []
    for principal in [*named, EVERYBODY]:
        mine = [one for one in speaking if one.principal in (principal, EVERYBODY)]
        usual = verdict(mine, principal, ANYWHERE, operation)
        others = [verdict(mine, principal, host, operation) for host in sorted({one.host for one in mine} - {ANYWHERE})]
        differing = [one for one in others if one.allowed != usual.allowed]
        if usual.rule is not None or not (differing or principal == EVERYBODY):
            made.append(usual)
        made += differing
    return made


def verdict(acls: Iterable[Acl], principal: str, host: str, operation: str) -> Verdict:
    """Of one principal from one host."""
    rule = decide(acls, principal, host, operation)
    return Verdict(principal=principal, host=host, allowed=rule is not None and rule.permission == "allow", rule=rule)
