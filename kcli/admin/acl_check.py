"""Which principals may perform an operation on a resource, considering all its ACLs (KIP-11, KIP-290)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kcli.acls import ANYWHERE, EVERYBODY, Acl, AclFilter, block_of, concerns, decide, reaches, sentence
from kcli.admin.acls import describe_acls
from kcli.admin.configs import Resource, describe_configs
from kcli.errors import KcliError
from kcli.model import Cluster
from kcli.values import Value, field

SUPER_USERS, WITHOUT = "super.users", "allow.everyone.if.no.acl.found"


class Verdict(Value):
    """Whether `principal` is allowed from `host`. * means any host without a row of its own; a block means its
    addresses without one. `rule` is the deciding ACL, or None. User:* covers principals without a row of their own."""

    principal: str = ""
    host: str = ANYWHERE
    allowed: bool = False
    rule: Acl | None = None


class Authorizer(Value):
    """Broker settings that affect authorization; None if the brokers do not report them."""

    super_users: list[str] | None = field(factory=list)
    everyone: bool | None = False

    def super(self, principal: str) -> bool:
        """Whether this principal is known to bypass ACLs."""
        return principal in (self.super_users or ())


async def acls_of(cluster: Cluster, kind: str, name: str) -> list[Acl]:
    """Return all ACLs that apply to a resource. Raises BrokerError."""
    return await describe_acls(cluster, AclFilter(kind=kind, name=name, pattern="match"))


async def authorizer(cluster: Cluster) -> Authorizer:
    """Return the authorizer's settings from the first broker. Kafka hides values of configs that it does not define
    itself, and super.users is one of them."""
    nodes = await cluster.nodes()
    if not nodes:
        return Authorizer(super_users=None, everyone=None)
    at = Resource("broker", str(nodes[0].id))
    configs = (await describe_configs(cluster, [at], names=[SUPER_USERS, WITHOUT]))[at]
    if isinstance(configs, KcliError):
        return Authorizer(super_users=None, everyone=None)
    known = {config.name: config for config in configs}
    authorizer = Authorizer()
    if SUPER_USERS in known:
        value = known[SUPER_USERS].value
        authorizer.super_users = None if value is None else [name.strip() for name in value.split(";") if name.strip()]
    if WITHOUT in known:
        value = known[WITHOUT].value
        authorizer.everyone = None if value is None else value.strip().lower() == "true"
    return authorizer


def verdicts(acls: Iterable[Acl], operation: str) -> list[Verdict]:
    """Return a verdict for every principal in a resource's ACLs, and another for each host with a different one:
    different from the smallest listed block around it, or else from that of any host."""
    speaking = [acl for acl in acls if concerns(acl, operation)]
    named = sorted({acl.principal for acl in speaking} - {EVERYBODY})
    verdicts: list[Verdict] = []
    for principal in [*named, EVERYBODY]:
        mine = [acl for acl in speaking if acl.principal in (principal, EVERYBODY)]
        usual = verdict(mine, principal, ANYWHERE, operation)
        differing = _differing(mine, usual, operation)
        if usual.rule is not None or not (differing or principal == EVERYBODY):
            verdicts.append(usual)
        verdicts += differing
    return verdicts


def _differing(acls: Sequence[Acl], usual: Verdict, operation: str) -> list[Verdict]:
    """Return the hosts and blocks where a principal's verdict differs from that of the enclosing block, or of all
    hosts."""
    known = [usual]
    differing: list[Verdict] = []
    for host in sorted({acl.host for acl in acls} - {ANYWHERE}, key=_narrowness):
        here = verdict(acls, usual.principal, host, operation)
        around = next(other for other in reversed(known) if reaches(other.host, host))
        if here.allowed != around.allowed:
            differing.append(here)
        known.append(here)
    return sorted(differing, key=lambda verdict: verdict.host)


def _narrowness(host: str) -> tuple[int, str]:
    """Sort key that orders blocks from widest to narrowest, then single addresses."""
    block = block_of(host)
    return (1, host) if block is None else (-block.num_addresses, host)


def verdict(acls: Iterable[Acl], principal: str, host: str, operation: str) -> Verdict:
    """Return the verdict for one principal from one host."""
    rule = decide(acls, principal, host, operation)
    return Verdict(principal=principal, host=host, allowed=rule is not None and rule.permission == "allow", rule=rule)


def reason(verdict: Verdict, acls: Sequence[Acl], beside: Authorizer) -> tuple[bool, str]:
    """Return whether a principal is allowed, considering ACLs and authorizer settings (`beside`), and a
    sentence why."""
    if beside.super(verdict.principal):
        return True, "super user"
    if verdict.rule is not None:
        return verdict.allowed, sentence(verdict.rule)
    if not acls and beside.everyone is not False:
        allowed = bool(beside.everyone)
        return allowed, f"no ACL covers it, and {WITHOUT} is {'true' if allowed else 'not reported'}"
    return verdict.allowed, "no ACL allows it"


def unnamed(verdicts: Sequence[Verdict], beside: Authorizer) -> list[Verdict]:
    """Return verdicts for principals that no ACL of the resource names: super users, and all other users."""
    named = {verdict.principal for verdict in verdicts}
    others = [Verdict(principal=name) for name in beside.super_users or () if name not in named]
    return others + ([] if EVERYBODY in named else [Verdict(principal=EVERYBODY)])
