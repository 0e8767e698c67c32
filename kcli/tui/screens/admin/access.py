"""The principals that may use one resource, operation by operation, and the ACL that decides each."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, NamedTuple

from textual.app import ComposeResult

from kcli.acls import POSSIBLE, Acl
from kcli.admin.acls.acl_check import Authorizer, acls_of, authorizer, reason, unnamed, verdicts
from kcli.tui import routes
from kcli.tui.actions.menus.rules import of_access
from kcli.tui.screens.admin.acls import permission
from kcli.tui.screens.page import Page
from kcli.tui.text.printable import printable, quoted
from kcli.tui.widgets.columns import Column
from kcli.tui.widgets.rows import Rows

if TYPE_CHECKING:
    from kcli.client import Client
    from kcli.tui.actions.acts import Act
    from kcli.tui.state import State


class AccessRow(NamedTuple):
    """Whether a principal may do an operation from a host (* is any that no ACL names), and why. `rule` is the ACL that
    decides; `fixed`: no ACL would change it."""

    operation: str
    principal: str
    host: str
    allowed: bool
    why: str
    rule: Acl | None = None
    fixed: bool = False


def access_rows(kind: str, acls: list[Acl], beside: Authorizer) -> list[AccessRow]:
    """All operations on a resource of this kind, each with every principal that its ACLs name, and all other users."""
    rows = []
    for operation in POSSIBLE[kind]:
        named = verdicts(acls, operation)
        for verdict in [*named, *unnamed(named, beside)]:
            allowed, why = reason(verdict, acls, beside)
            fixed = beside.super(verdict.principal)
            rule = None if fixed else verdict.rule
            rows.append(AccessRow(operation, verdict.principal, verdict.host, allowed, why, rule, fixed))
    return rows


class Access(Page):
    """The page of a resource."""

    unrecorded = "ACLs"

    def __init__(self, state: State, route: routes.Access) -> None:
        super().__init__(state, route)
        self.kind, self.name_of = route.kind, route.name
        self._acls: int | None = None

    @property
    def heading(self) -> str:
        told = "" if self._acls is None else f"  {self._acls} ACL{'s' * (self._acls != 1)} apply"
        return f"Access to {self.kind} {printable(self.name_of)}{told}"

    @property
    def same_as(self) -> str:
        row = self.query_one(Rows).row if self.is_mounted else None
        operation = row.operation if row is not None else POSSIBLE[self.kind][0]
        return f"kcli acls who-can {operation} {self.kind} {quoted(self.name_of)}"

    def body(self) -> ComposeResult:
        yield Rows(
            _columns(),
            key=lambda row: row[:3],
            order=lambda row: (POSSIBLE[self.kind].index(row.operation), row.allowed, row.principal, row.host),
            id="access",
            opens=False,
            empty="Nothing is known about this resource.",
        )

    async def fetch(self, client: Client) -> Any:
        return await asyncio.gather(acls_of(client.cluster, self.kind, self.name_of), authorizer(client.cluster))

    def fetched(self, answer: tuple[list[Acl], Authorizer]) -> None:
        acls, beside = answer
        self._acls = len(acls)
        self.query_one(Rows).put(access_rows(self.kind, acls, beside))
        self.retitle()

    @property
    def acts_about(self) -> str:
        return f"the access to {self.kind} {printable(self.name_of)}"

    def acts(self) -> list[Act]:
        row, opposite = self.query_one(Rows).row, None
        denied = row is not None and row.rule is not None and row.rule.permission == "deny"
        if row is not None and not row.fixed and not denied:  # no ACL that allows prevails over one that denies
            permission = "deny" if row.allowed else "allow"
            opposite = Acl(self.kind, self.name_of, "literal", row.principal, row.host, row.operation, permission)
        return of_access(self, self.kind, self.name_of, opposite, row.rule if row is not None else None)

    def on_rows_moved(self) -> None:
        self.retitle()  # the command names the operation under the cursor


def _columns() -> list[Column]:
    return [
        Column("operation", "OPERATION", lambda r: r.operation, letter="O", rank=0),
        Column("principal", "PRINCIPAL", lambda r: r.principal, printable, letter="P", rank=0, wide=True),
        Column("host", "HOST", lambda r: r.host, printable, rank=0, wide=True),
        Column(
            "allowed",
            "ALLOWED",
            lambda r: r.allowed,
            draw=lambda r: permission(allowed=r.allowed, word="yes" if r.allowed else "no"),
            letter="A",
            rank=0,
        ),
        Column("why", "BECAUSE", lambda r: r.why, printable, letter="B", wide=True, most=120),
    ]
