"""All ACLs; `enter` shows the principals that may use the resource of one."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, NamedTuple

from textual.app import ComposeResult

from kcli import codes
from kcli.acls import POSSIBLE, Acl
from kcli.admin.acl_check import Authorizer, acls_of, authorizer, reason, unnamed, verdicts
from kcli.admin.acls import describe_acls
from kcli.errors import BrokerError
from kcli.tui import routes
from kcli.tui.actions.menus import of_access, of_acls
from kcli.tui.screens.page import Page
from kcli.tui.text.printable import printable, quoted
from kcli.tui.widgets.columns import Cell, Column
from kcli.tui.widgets.rows import Rows

if TYPE_CHECKING:
    from kcli.client import Client
    from kcli.tui.actions.acts import Act
    from kcli.tui.state import State

EMPTY = "No ACLs yet. a adds one."
NO_AUTHORIZER = "The brokers have no authorizer: every client may do everything."


class Acls(Page):
    """The page of all ACLs."""

    unrecorded = "ACLs"

    def __init__(self, state: State, route: routes.Acls) -> None:
        super().__init__(state, route)
        self._known: int | None = None

    @property
    def heading(self) -> str:
        return "ACLs" if self._known is None else f"ACLs ({self._known})"

    @property
    def same_as(self) -> str:
        return "kcli acls list"

    def body(self) -> ComposeResult:
        yield Rows(_columns(), key=lambda acl: acl, order=_place, marks=True, id="acls", empty=EMPTY)

    async def fetch(self, client: Client) -> Any:
        return await asked_acls(client)

    def fetched(self, answer: list[Acl] | None) -> None:
        rows = self.query_one(Rows)
        rows.empty = NO_AUTHORIZER if answer is None else EMPTY
        self._known = None if answer is None else len(answer)
        rows.put(answer or [])
        self.retitle()

    def on_rows_entered(self, event: Rows.Entered) -> None:
        self.go(routes.Access(event.row.kind, event.row.name))

    @property
    def acts_about(self) -> str:
        acl, marked = self.query_one(Rows).row, self.query_one(Rows).marked
        if marked:
            return f"{len(marked)} marked ACLs"
        return "ACLs" if acl is None else f"the ACL of {printable(acl.principal)} for {acl.kind} {printable(acl.name)}"

    def acts(self) -> list[Act]:
        return of_acls(self, self.query_one(Rows).row, self.query_one(Rows).marked)


async def asked_acls(client: Client) -> list[Acl] | tuple[()] | None:
    """All ACLs; None from brokers without an authorizer."""
    try:
        return await describe_acls(client.cluster)
    except BrokerError as problem:
        if problem.code is codes.SECURITY_DISABLED:
            return None
        raise


def _place(acl: Acl) -> tuple[str, ...]:
    return acl.kind, acl.name, acl.principal, acl.permission, acl.operation, acl.host


def permission(*, allowed: bool, word: str) -> Cell:
    """Whether something is allowed, with a glyph."""
    return Cell(f"● {word}", "good") if allowed else Cell(f"✖ {word}", "bad")


def _columns() -> list[Column]:
    return [
        Column("kind", "RESOURCE", lambda a: a.kind, printable, letter="R", rank=0, wide=True),
        Column(
            "name",
            "NAME",
            lambda a: a.name,
            draw=lambda a: Cell(printable(a.name) + ("…" if a.pattern == "prefixed" else "")),
            letter="N",
            rank=0,
            wide=True,
        ),
        Column("principal", "PRINCIPAL", lambda a: a.principal, printable, letter="P", rank=0, wide=True),
        Column(
            "permission",
            "PERMISSION",
            lambda a: a.permission,
            draw=lambda a: permission(allowed=a.permission == "allow", word=a.permission),
            letter="A",
            rank=0,
            glyph=True,
        ),
        Column("operation", "OPERATION", lambda a: a.operation, letter="O", rank=0, wide=True),
        Column("host", "HOST", lambda a: a.host, printable, rank=0, wide=True),
        Column("pattern", "PATTERN", lambda a: a.pattern, tone="dim", letter="T", rank=3),
    ]


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
        self._beside = Authorizer()

    @property
    def heading(self) -> str:
        told = "" if self._acls is None else f"  {self._acls} ACL{'s' * (self._acls != 1)} apply"
        if told and self._beside.super_users is None:
            told += ", but not to super users, which the broker does not list"
        return f"Access to {self.kind} {printable(self.name_of)}{told}"

    @property
    def same_as(self) -> str:
        row = self.query_one(Rows).row if self.is_mounted else None
        operation = row.operation if row is not None else POSSIBLE[self.kind][0]
        return f"kcli acls who-can {operation} {self.kind} {quoted(self.name_of)}"

    def body(self) -> ComposeResult:
        yield Rows(
            _access_columns(),
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
        self._acls, self._beside = len(acls), beside
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


def _access_columns() -> list[Column]:
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
