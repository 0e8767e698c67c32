"""Changes of ACLs and quotas: add or set one, remove those of marked rows. `kcli undo` undoes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.acls import ANYWHERE, CLUSTER, KINDS, OPERATIONS, PERMISSIONS, POSSIBLE, Acl, principal
from kcli.admin.quotas import DEFAULT, KEYS, Entity, entity, text_of, value_of
from kcli.admin.quotas import KINDS as QUOTAS_OF
from kcli.changes import acls, quotas
from kcli.errors import KcliError, UsageError
from kcli.tui.actions.changes.change import Ask, Change, word_of
from kcli.tui.text.printable import printable, quoted

if TYPE_CHECKING:
    from kcli.changes.change import Plan, Row
    from kcli.client import Client
    from kcli.tui.actions.changes.change import Given


def resource(acl: Acl) -> str:
    """The options with which `kcli acls` names the resource of an ACL."""
    if acl.kind == "cluster":
        return "--cluster"
    return f"--{acl.kind} {quoted(acl.name)} --pattern {acl.pattern}"


def words(acl: Acl) -> str:
    """An ACL in a line: permission, principal, operation, resource, host."""
    where = "" if acl.host == ANYWHERE else f" from {acl.host}"
    return f"{acl.permission} {acl.principal} {acl.operation} on {acl.kind} {acl.name} ({acl.pattern}){where}"


class RemoveAcls(Change):
    """One ACL, or several. What has to be typed is the name of its resource."""

    destroys = True

    def __init__(self, *chosen: Acl) -> None:
        self.acls = chosen
        self.word = chosen[0].name if len(chosen) == 1 else word_of([""] * len(chosen), "ACL")
        what = f"the ACL of {printable(chosen[0].principal)}" if len(chosen) == 1 else self.word
        self.title = f"Remove {what}"

    def command(self, given: Given) -> str:
        if len(self.acls) > 1:
            return ""  # a filter would match other ACLs too
        acl = self.acls[0]
        options = f"{resource(acl)} --principal {quoted(acl.principal)} --operation {acl.operation}"
        return f"kcli acls remove {options} --host {quoted(acl.host)} --permission {acl.permission} --execute"

    async def plan(self, client: Client, given: Given) -> Plan:
        made = await acls.plan(client.cluster, [], self.acls)
        for row in made.rows:
            if row.result == "absent":
                row.note = "it was removed before"
        if made.apply is None:
            raise KcliError("these ACLs do not exist (any more)")
        return made

    def label(self, row: Row) -> str:
        return _what(row)


RESOURCE = (
    Ask("kind", "of", "topic, group, cluster, transactional-id, delegation-token, user", "topic"),
    Ask("name", "name", "its name; * is all"),
    Ask("pattern", "pattern", "literal, or prefixed: all names that begin with it", "literal"),
)


class AddAcl(Change):
    """A new ACL for the resource of `like`, or for one that the form names: a principal, an operation, a permission, a
    host."""

    def __init__(self, like: Acl | None = None, *, whole: bool = False) -> None:
        """`whole`: the fields hold all that `like` says, else its operation only."""
        self.like = like or Acl("topic", "", "literal", "", ANYWHERE, "read", "allow")
        fixed = like is not None
        name = f"{self.like.kind} {printable(self.like.name)}"
        self.title = f"Add an ACL for {name}" if fixed else "Add an ACL"
        self._fixed = fixed
        self.word = self.like.name
        principal = self.like.principal if whole else ""
        of = ", ".join((*POSSIBLE[self.like.kind], "all"))
        self.asks = (
            *(() if fixed else RESOURCE),
            Ask("principal", "principal", "such as User:bob; User:* is every user", principal),
            Ask("operation", "operation", of, self.like.operation),
            Ask("permission", "permission", "allow or deny", self.like.permission if whole else "allow"),
            Ask(
                "host",
                "host",
                "an address, or a block such as 10.1.0.0/16; * is any",
                self.like.host if whole else ANYWHERE,
            ),
        )

    def _acl(self, given: Given) -> Acl:
        """The rule of the fields. Raises UsageError."""
        like = self._resource(given)
        operation, permission = (given[key].strip().lower() for key in ("operation", "permission"))
        if like.kind not in KINDS:
            raise UsageError(f"of: an ACL is for a {', a '.join(KINDS)}")
        if like.pattern not in ("literal", "prefixed"):
            raise UsageError("pattern: literal or prefixed")
        if not like.name:
            raise UsageError(f"name: an ACL needs the name of a {like.kind}, or * for all")
        if not given["principal"].strip():
            raise UsageError("principal: missing; such as User:bob")
        if operation not in OPERATIONS or operation not in (*POSSIBLE[like.kind], "all"):
            raise UsageError(f"operation: expected one of {', '.join(POSSIBLE[like.kind])}, or all, for a {like.kind}")
        if permission not in PERMISSIONS:
            raise UsageError("permission: allow or deny")
        who, host = principal(given["principal"].strip()), given["host"].strip() or ANYWHERE
        return Acl(like.kind, like.name, like.pattern, who, host, operation, permission)

    def _resource(self, given: Given) -> Acl:
        """What has the resource that the fields name: its kind, name and pattern."""
        if self._fixed:
            return self.like
        kind, pattern = (given[key].strip().lower() for key in ("kind", "pattern"))
        name = CLUSTER if kind == "cluster" else given["name"].strip()
        return self.like._replace(kind=kind, name=name, pattern=pattern)

    def command(self, given: Given) -> str:
        like = self._resource(given)
        like = like._replace(name=like.name or like.kind.upper())
        allow = "deny" if given["permission"].strip().lower() == "deny" else "allow"
        who = quoted(given["principal"].strip()) if given["principal"].strip() else "PRINCIPAL"
        host = given["host"].strip()
        at = "" if host in ("", ANYWHERE) else f" --{allow}-host {quoted(host)}"
        return (
            f"kcli acls add --{allow} {who}{at} --operation {quoted(given['operation'].strip() or 'OPERATION')} "
            f"{resource(like)} --execute"
        )

    async def plan(self, client: Client, given: Given) -> Plan:
        acl = self._acl(given)
        self.word = CLUSTER if acl.kind == "cluster" else acl.name
        return await acls.plan(client.cluster, [acl], [])

    def label(self, row: Row) -> str:
        return _what(row)


def _what(row: Row) -> str:
    return words(row.acl) if isinstance(row, acls.AclRow) else row.item


def options(at: Entity) -> str:
    """The options with which `kcli quotas alter` names an entity."""
    return " ".join(f"--{kind}-default" if name is None else f"--{kind} {quoted(name)}" for kind, name in at.parts)


def name_of(at: Entity) -> str:
    """What has to be typed for a change of an entity: its first name, or `default`."""
    return next((name for _, name in at.parts if name is not None), "default")


def _limit_text(row: Row) -> str:
    return f"{row.about} {row.item}"


ENTITY = (
    Ask("user", "user", f"as the broker names the principal; {DEFAULT} is every other"),
    Ask("client-id", "client id", f"{DEFAULT} is every other"),
    Ask("ip", "address", f"alone; {DEFAULT} is every other"),
)


class SetQuota(Change):
    """A limit of an entity; without one, of that which the form names."""

    def __init__(self, at: Entity | None = None, key: str = "", value: float | None = None) -> None:
        self.at = at
        self.word = name_of(at) if at is not None else ""
        self.title = f"Set a quota of {printable(str(at))}" if at is not None else "Set a quota"
        self.asks = (
            *(ENTITY if at is None else ()),
            Ask("quota", "quota", ", ".join(KEYS), key),
            Ask("limit", "limit", "such as 10MiB, 50%, 5/s", "" if value is None else text_of(key, value)),
        )

    def command(self, given: Given) -> str:
        named = self.at is not None or any(given[kind].strip() for kind in QUOTAS_OF)
        whose = options(self._entity(given)) if named else "--user USER"
        key, limit = given["quota"].strip() or "QUOTA", given["limit"].strip().removesuffix("/s") or "LIMIT"
        return f"kcli quotas alter {whose} {quoted(f'{key}={limit}')} --execute"

    async def plan(self, client: Client, given: Given) -> Plan:
        at = self._entity(given)
        entity(dict(at.parts))  # not every combination has quotas
        key, limit = given["quota"].strip(), given["limit"].strip()
        if not key or not limit:
            raise UsageError("quota and limit: such as producer_byte_rate and 10MiB")
        self.word = name_of(at)
        limits = {at: {key: value_of(key, limit.removesuffix("/s"))}}
        return await quotas.plan(client.cluster, limits)

    def label(self, row: Row) -> str:
        return _limit_text(row)

    def _entity(self, given: Given) -> Entity:
        """What the quota is of. Raises UsageError where no field says it."""
        if self.at is not None:
            return self.at
        names = {kind: given[kind].strip() for kind in QUOTAS_OF}
        if not any(names.values()):
            raise UsageError("user, client id or address: enter at least one of them")
        return Entity(parts=tuple((kind, None if name == DEFAULT else name) for kind, name in names.items() if name))


class RemoveQuotas(Change):
    """The limits of one or several rows."""

    destroys = True

    def __init__(self, *limits: tuple[Entity, str]) -> None:
        self.limits = limits
        at, key = limits[0]
        self.word = name_of(at) if len(limits) == 1 else word_of([""] * len(limits), "quota")
        self.title = f"Remove {key} of {printable(str(at))}" if len(limits) == 1 else f"Remove {self.word}"

    def command(self, given: Given) -> str:
        at, _ = self.limits[0]
        if any(other != at for other, _ in self.limits):
            return ""  # one command is about one entity
        return (
            f"kcli quotas alter {options(at)} {' '.join(f'--delete {quoted(key)}' for _, key in self.limits)} --execute"
        )

    async def plan(self, client: Client, given: Given) -> Plan:
        changes: dict[Entity, dict[str, float | None]] = {}
        for at, key in self.limits:
            changes.setdefault(at, {})[key] = None
        made = await quotas.plan(client.cluster, changes)
        if made.apply is None:
            raise KcliError("these quotas are not set (any more)")
        return made

    def label(self, row: Row) -> str:
        return _limit_text(row)
