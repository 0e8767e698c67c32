"""Client quotas: what each user, client id or address may use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from textual.app import ComposeResult

from kcli.admin.quotas import Entity, describe_quotas, text_of
from kcli.tui import routes
from kcli.tui.actions.menus import of_quotas
from kcli.tui.screens.page import Page
from kcli.tui.text.printable import printable
from kcli.tui.widgets.columns import Cell, Column
from kcli.tui.widgets.rows import Rows

if TYPE_CHECKING:
    from kcli.client import Client
    from kcli.tui.actions.acts import Act
    from kcli.tui.state import State


class Limit(NamedTuple):
    """One quota of one entity; `place` is the entity's in the usual order."""

    place: int
    entity: Entity
    key: str
    value: float


class Quotas(Page):
    """The page of all quotas."""

    unrecorded = "quotas"

    def __init__(self, state: State, route: routes.Quotas) -> None:
        super().__init__(state, route)
        self._known: int | None = None

    @property
    def heading(self) -> str:
        return "Quotas" if self._known is None else f"Quotas ({self._known})"

    @property
    def same_as(self) -> str:
        return "kcli quotas list"

    def body(self) -> ComposeResult:
        yield Rows(
            _columns(),
            key=lambda row: (row.entity, row.key),
            order=lambda row: (row.place, row.key),
            id="quotas",
            opens=False,
            marks=True,
            empty="No quotas yet. a sets one.",
        )

    async def fetch(self, client: Client) -> Any:
        return await describe_quotas(client.cluster)

    def fetched(self, answer: dict[Entity, dict[str, float]]) -> None:
        limits = [
            Limit(place, entity, key, value)
            for place, (entity, values) in enumerate(answer.items())
            for key, value in values.items()
        ]
        self._known = len(limits)
        self.query_one(Rows).put(limits)
        self.retitle()

    @property
    def acts_about(self) -> str:
        row, marked = self.query_one(Rows).row, self.query_one(Rows).marked
        if marked:
            return f"{len(marked)} marked quotas"
        return "quotas" if row is None else f"{row.key} of {printable(str(row.entity))}"

    def acts(self) -> list[Act]:
        row, marked = self.query_one(Rows).row, self.query_one(Rows).marked
        here = None if row is None else (row.entity, row.key, row.value)
        return of_quotas(self, here, [(one.entity, one.key, one.value) for one in marked])


def _part(kind: str) -> Column:
    """The name of an entity's part, the default of all of the kind, or nothing."""

    def name(limit: Limit) -> str | None:
        return limit.entity.names.get(kind, "")

    def draw(limit: Limit) -> Cell:
        found = name(limit)
        return Cell("every other", "dim") if found is None else Cell(printable(found))

    label = kind.upper().replace("-", " ")
    return Column(kind, label, lambda r: name(r) or "", draw=draw, letter=label[0], rank=0, wide=True)


def _columns() -> list[Column]:
    return [
        _part("user"),
        _part("client-id"),
        _part("ip"),
        Column("key", "QUOTA", lambda r: r.key, printable, letter="Q", rank=0),
        Column(
            "value",
            "LIMIT",
            lambda r: r.value,
            draw=lambda r: Cell(text_of(r.key, r.value)),
            right=True,
            letter="L",
            rank=0,
        ),
    ]
