"""The subjects of the schema registry: the latest version of each, its type, and the level that changes must keep."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from textual.app import ComposeResult

from kcli.tui import routes
from kcli.tui.actions.menus.schemas import of_subject
from kcli.tui.screens.page import Page
from kcli.tui.text.printable import printable
from kcli.tui.widgets.columns import Column
from kcli.tui.widgets.rows import Rows

if TYPE_CHECKING:
    from kcli.registry.listing.opened import OpenRegistry
    from kcli.schemas import Schema
    from kcli.tui.actions.acts import Act
    from kcli.tui.state import State

EMPTY = "No subjects yet. Register a schema: kcli registry register --help"
UNNAMED = (
    "No schema registry is configured: add schema.registry.url to the profile, or start with --schema-registry URL."
)


class SubjectRow(NamedTuple):
    """A subject with its latest version, None where it was deleted meanwhile."""

    name: str
    latest: Schema | None


class Subjects(Page):
    """The page of all subjects."""

    unrecorded = "schemas"

    def __init__(self, state: State, route: routes.Subjects) -> None:
        super().__init__(state, route)
        self._rows: list[SubjectRow] = []
        self._levels: dict[str, tuple[str, str | None]] = {}
        self._asked = False

    @property
    def heading(self) -> str:
        return f"Schemas ({len(self._rows)})" if self._asked else "Schemas"

    @property
    def same_as(self) -> str:
        return f"kcli registry list --levels{self.session.registry_option}"

    def body(self) -> ComposeResult:
        yield Rows(self._columns(), key=lambda row: row.name, order=lambda row: row.name, id="subjects", empty=EMPTY)

    def on_mount(self) -> None:
        if self.session.live and not self.session.has_registry:
            rows = self.query_one(Rows)
            rows.empty = UNNAMED
            rows.put([])

    def inquire(self) -> None:
        if self.session.has_registry:
            self.asking.beat_registry(_listed, self.listed)

    def listed(self, answer: list[SubjectRow]) -> None:
        rows = self.query_one(Rows)
        self._rows, self._asked = answer, True
        rows.put(answer)
        self.retitle()
        self.call_after_refresh(self._ask_levels)  # once it is known which rows are seen

    def _ask_levels(self) -> None:
        """Ask for the levels of the subjects in view: each takes a request."""
        if not self.is_there:
            return
        seen = [row.name for row in self.query_one(Rows).in_view]

        async def levels(registry: OpenRegistry) -> Any:
            from kcli.registry.listing.latest import levels_of

            return await levels_of(registry.client, seen)

        self.asking.once_registry(levels, self._leveled)

    def _leveled(self, levels: dict[str, tuple[str, str | None]]) -> None:
        self._levels.update(levels)
        self.query_one(Rows).put(self._rows)

    @property
    def acts_about(self) -> str:
        row = self.query_one(Rows).row
        return "subjects" if row is None else f"subject {printable(row.name)}"

    def acts(self) -> list[Act]:
        row = self.query_one(Rows).row
        return [] if row is None else of_subject(self, row.name, self._levels.get(row.name, ("", None))[0])

    def on_rows_entered(self, event: Rows.Entered) -> None:
        self.go(routes.Subject(event.row.name))

    def _columns(self) -> list[Column]:
        return [
            Column("name", "SUBJECT", lambda r: r.name, printable, letter="N", rank=0, wide=True, most=80),
            Column("version", "VERSION", lambda r: r.latest and r.latest.version, _number, right=True, letter="V"),
            Column("type", "TYPE", lambda r: r.latest.kind if r.latest else "", letter="T", rank=2),
            Column("id", "ID", lambda r: r.latest and r.latest.id, _number, right=True, letter="I", rank=2),
            Column("level", "COMPATIBILITY", lambda r: self._levels.get(r.name, ("", None))[0], printable, letter="C"),
            Column(
                "mode", "MODE", lambda r: self._levels.get(r.name, ("", None))[1] or "", printable, letter="M", rank=4
            ),
        ]


async def _listed(registry: OpenRegistry) -> list[SubjectRow]:
    from kcli.registry.listing.latest import latest_of

    names = sorted(await registry.client.subjects())
    latest = await latest_of(registry.client, names)
    return [SubjectRow(name, latest.get(name)) for name in names]


def _number(value: int | None) -> str:
    return "–" if value is None or value < 0 else str(value)
