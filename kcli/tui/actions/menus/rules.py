"""With ACLs, the access they give, and quotas."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.tui.actions.acts import Act, of_change
from kcli.tui.text.printable import printable, quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kcli.acls import Acl
    from kcli.admin.quotas.quotas import Entity
    from kcli.tui.screens.page import Page


def of_acls(page: Page, acl: Acl | None, marked: Sequence[Acl]) -> list[Act]:
    """With the ACL under the cursor, or with those that are marked; a new one, whatever row it is."""
    from kcli.acls import POSSIBLE
    from kcli.tui import routes
    from kcli.tui.actions.changes.acls import AddAcl, RemoveAcls

    if marked:
        return [of_change("D", f"Remove the {len(marked)} ACLs …", RemoveAcls(*marked), page.begin)]
    new = of_change("+", "Add an ACL for a topic …", AddAcl(), page.begin)
    if acl is None:
        return [new]
    operation = POSSIBLE[acl.kind][0] if acl.operation == "all" else acl.operation
    who_can = f"kcli acls who-can {operation} {acl.kind} {quoted(acl.name)}"
    return [
        Act("l", "Access to its resource", who_can, lambda: page.go(routes.Access(acl.kind, acl.name))),
        of_change("n", "Add an ACL for its resource …", AddAcl(acl), page.begin),
        of_change("D", "Remove the ACL …", RemoveAcls(acl), page.begin),
        new,
    ]


def of_access(page: Page, kind: str, name: str, opposite: Acl | None, rule: Acl | None) -> list[Act]:
    """With a principal's access to a resource: add the ACL that says the `opposite`, remove the `rule` that decides."""
    from kcli.acls import ANYWHERE, POSSIBLE, Acl
    from kcli.tui import routes
    from kcli.tui.actions.changes.acls import AddAcl, RemoveAcls

    here = Acl(kind, name, "literal", "", ANYWHERE, POSSIBLE[kind][0], "allow")
    acts = [of_change("n", "Add an ACL for this resource …", AddAcl(here), page.begin)]
    if opposite is not None:
        label = f"{opposite.permission.capitalize()} {opposite.operation} to {printable(opposite.principal)} …"
        acts.insert(0, of_change("A", label, AddAcl(opposite, whole=True), page.begin))
    if rule is not None:
        acts.append(of_change("D", "Remove the ACL that decides this …", RemoveAcls(rule), page.begin))
    if kind == "topic":
        acts.append(Act("o", "The topic", f"kcli topics describe {quoted(name)}", lambda: page.go(routes.Topic(name))))
    elif kind == "group":
        acts.append(Act("o", "The group", f"kcli groups describe {quoted(name)}", lambda: page.go(routes.Group(name))))
    return acts


def of_quotas(
    page: Page, here: tuple[Entity, str, float] | None, marked: Sequence[tuple[Entity, str, float]]
) -> list[Act]:
    """With the limit under the cursor, or with those that are marked; a new one, whatever row it is."""
    from kcli.tui.actions.changes.quotas import RemoveQuotas, SetQuota

    if marked:
        limits = [(at, key) for at, key, _ in marked]
        return [of_change("D", f"Remove the {len(marked)} quotas …", RemoveQuotas(*limits), page.begin)]
    new = of_change("+", "Set a quota of a user …", SetQuota(), page.begin)
    if here is None:
        return [new]
    at, key, value = here
    return [
        of_change("c", "Change the limit …", SetQuota(at, key, value), page.begin),
        of_change("n", "Set another quota of it …", SetQuota(at), page.begin),
        of_change("D", "Remove the limit …", RemoveQuotas((at, key)), page.begin),
        new,
    ]
