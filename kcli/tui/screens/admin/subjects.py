"""The subjects of the schema registry: the latest version of each, its type, and the level that changes must keep."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import TabPane

from kcli.tui import routes
from kcli.tui.actions.menus import of_subject, of_version
from kcli.tui.screens.page import Page
from kcli.tui.screens.record import printable_lines
from kcli.tui.text.printable import printable, quoted
from kcli.tui.widgets.columns import Cell, Column
from kcli.tui.widgets.frames import Tabs
from kcli.tui.widgets.pager import Pager
from kcli.tui.widgets.rows import Rows

if TYPE_CHECKING:
    from kcli.registry.listing.history import Version
    from kcli.registry.listing.opened import OpenRegistry
    from kcli.schemas import Schema
    from kcli.tui.actions.acts import Act
    from kcli.tui.state import State

EMPTY = "No subjects yet. Register a schema: kcli registry register --help"
UNNAMED = (
    "No schema registry is configured: add schema.registry.url to the profile, or start with --schema-registry URL."
)
BREAKS = "NONE"


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
        return f"Schemas ({len(self._rows):,})" if self._asked else "Schemas"

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


class Subject(Page):
    """The page of a subject."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("1", "tab('versions')", "Versions", show=False, id="subject.versions"),
        Binding("2", "tab('text')", "Text", id="subject.text"),
    ]

    unrecorded = "schemas"

    def __init__(self, state: State, route: routes.Subject) -> None:
        super().__init__(state, route)
        self.subject = route.name
        self._versions: list[Version] = []
        self._level = ""
        self._gone = False
        self._drawn: tuple[int, str] | None = None  # the version whose text is drawn

    @property
    def heading(self) -> str:
        name = f"Subject {printable(self.subject)}"
        if self._gone:
            return f"{name}: it is not there (any more)"
        level = f"  compatibility {self._level}" if self._level else ""
        shown = self._shown
        version = (
            "" if shown is None else f"  version {shown.schema.version}, id {shown.schema.id}, {shown.schema.kind}"
        )
        return f"{name}{level}{version}"

    @property
    def _shown(self) -> Version | None:
        """The version under the cursor."""
        row: Version | None = self.query_one("#versions", Rows).row if self.query("#versions") else None
        return row

    @property
    def same_as(self) -> str:
        shown = self._shown
        if self.tab == "text" and shown is not None:
            word = quoted(f"{self.subject}@{shown.schema.version}")
            return f"kcli registry describe {word}{self.session.registry_option}"
        return f"kcli registry versions {quoted(self.subject)}{self.session.registry_option}"

    def body(self) -> ComposeResult:
        with Tabs():
            with TabPane("Versions", id="tab-versions"):
                yield Rows(
                    _columns(),
                    key=lambda row: row.schema.version,
                    order=lambda row: -row.schema.version,
                    id="versions",
                    empty="The registry has no version of this subject.",
                )
            with TabPane("Text", id="tab-text"):
                yield Pager(list, id="text")

    def on_mount(self) -> None:
        self.query_one("#versions", Rows).focus()

    def inquire(self) -> None:
        if self.session.has_registry:
            self.asking.beat_registry(self._ask, self.told)

    async def _ask(self, registry: OpenRegistry) -> Any:
        from kcli.registry.errors import NotFound
        from kcli.registry.listing.history import history

        try:
            return await history(registry, self.subject), await registry.client.level(self.subject)
        except NotFound:
            return None

    def told(self, answer: tuple[list[Version], str] | None) -> None:
        """The versions are known."""
        self._gone = answer is None
        self._versions, self._level = answer if answer is not None else ([], "")
        self.query_one("#versions", Rows).put(self._versions)
        self._draw()

    def _draw(self) -> None:
        """The text of the version under the cursor."""
        from kcli.registry.listing.history import pretty

        shown = self._shown
        if shown is not None and self._drawn != (shown.schema.version, shown.schema.text):
            self._drawn = (shown.schema.version, shown.schema.text)
            words = printable_lines(pretty(shown.schema.text, shown.schema.kind))
            pager = self.query_one("#text", Pager)
            pager.json = words[:1] in ("{", "[")
            pager.put(words.split("\n"))
        self.retitle()

    @property
    def acts_about(self) -> str:
        shown = self._shown
        return f"subject {printable(self.subject)}{'' if shown is None else f' version {shown.schema.version}'}"

    def acts(self) -> list[Act]:
        shown = self._shown
        return of_version(self, self.subject, None if shown is None else shown.schema.version, self._level)

    def on_rows_moved(self) -> None:
        self._draw()

    def on_rows_entered(self, event: Rows.Entered) -> None:
        self.action_tab("text")


def _columns() -> list[Column]:
    return [
        Column("version", "VERSION", lambda r: r.schema.version, right=True, letter="V", rank=0),
        Column("id", "ID", lambda r: r.schema.id, right=True, letter="I", rank=2),
        Column("type", "TYPE", lambda r: r.schema.kind, letter="T", rank=3),
        Column("level", "KEEPS", lambda r: r.level, draw=_keeps, letter="K", rank=0),
        Column("note", "WHAT CHANGED", lambda r: r.note, printable, letter="W", rank=0, wide=True, most=200),
    ]


def _keeps(version: Version) -> Cell:
    """The level between a version and the one before; a change that keeps none breaks readers."""
    if version.level == BREAKS:
        return Cell("✖ NONE", "bad")
    return Cell(f"● {version.level}", "good") if version.level else Cell("")
