"""All ACLs; `enter` shows the principals that may use the resource of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.app import ComposeResult

from kcli import codes
from kcli.acls import Acl
from kcli.admin.acls.acls import describe_acls
from kcli.errors import BrokerError
from kcli.tui import routes
from kcli.tui.actions.menus.rules import of_acls
from kcli.tui.screens.page import Page
from kcli.tui.text.printable import printable
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
