"""Changes of ACLs: add one, remove those of marked rows. `kcli undo` undoes both."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.acls import ANYWHERE, CLUSTER, OPERATIONS, PERMISSIONS, POSSIBLE, Acl, principal
from kcli.changes import acls
from kcli.errors import KcliError, UsageError
from kcli.tui.actions.changes.change import Ask, Change, Plan, shown
from kcli.tui.actions.changes.several import word_of
from kcli.tui.text.printable import printable, quoted

if TYPE_CHECKING:
    from kcli.changes.change import Row
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
        plan = shown(made, _what)
        if plan.carry_out is None:
            raise KcliError("none of these ACLs exists (any more)")
        return plan


class AddAcl(Change):
    """A new ACL for the resource of `like`: a principal, an operation, a permission, a host."""

    def __init__(self, like: Acl | None = None, *, whole: bool = False) -> None:
        """`whole`: the fields hold all that `like` says, else its operation only."""
        self.like = like or Acl("topic", "", "literal", "", ANYWHERE, "read", "allow")
        fixed = like is not None
        name = f"{self.like.kind} {printable(self.like.name)}"
        self.title = f"Add an ACL for {name}" if fixed else "Add an ACL for a topic"
        self.word = self.like.name
        principal = self.like.principal if whole else ""
        of = ", ".join((*POSSIBLE[self.like.kind], "all"))
        self.asks = (
            *(() if fixed else (Ask("name", "topic", "its name; * is all"),)),
            Ask("principal", "principal", "such as User:bob; User:* is every user", principal),
            Ask("operation", "operation", of, self.like.operation),
            Ask("permission", "permission", "allow or deny", self.like.permission if whole else "allow"),
            Ask("host", "host", "an address; * is any", self.like.host if whole else ANYWHERE),
        )

    def _acl(self, given: Given) -> Acl:
        """The rule of the fields. Raises UsageError."""
        like = self.like
        name = like.name or given["name"].strip()
        operation, permission = (given[key].strip().lower() for key in ("operation", "permission"))
        if not name:
            raise UsageError("topic: an ACL needs the name of a topic, or * for all")
        if not given["principal"].strip():
            raise UsageError("principal: missing; such as User:bob")
        if operation not in OPERATIONS or operation not in (*POSSIBLE[like.kind], "all"):
            raise UsageError(f"operation: for a {like.kind} it is {', '.join(POSSIBLE[like.kind])} or all")
        if permission not in PERMISSIONS:
            raise UsageError("permission: allow or deny")
        who, host = principal(given["principal"].strip()), given["host"].strip() or ANYWHERE
        return Acl(like.kind, name, like.pattern, who, host, operation, permission)

    def command(self, given: Given) -> str:
        like = self.like._replace(name=self.like.name or given.get("name", "").strip() or "TOPIC")
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
        return shown(await acls.plan(client.cluster, [acl], []), _what)


def _what(row: Row) -> str:
    return words(row.acl) if isinstance(row, acls.AclRow) else row.item
