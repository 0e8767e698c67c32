"""What is wrong now, with the cluster and its groups; which alerts are on; and the alerts of this session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from textual.binding import Binding, BindingType
from textual.widgets import TabPane

from kcli.lag.formats.page import STATUSES
from kcli.lag.formats.sentences import reason
from kcli.text.numbers import duration
from kcli.tui import routes
from kcli.tui.alerts.incidents import KINDS, UNKNOWN
from kcli.tui.alerts.silences import Silence, switch
from kcli.tui.alerts.silencing import acknowledge, silence, silencing_of
from kcli.tui.screens.page import Page
from kcli.tui.text.formatting import clocked, others, status
from kcli.tui.text.incidents import WRONG, incidents, lasting
from kcli.tui.text.printable import printable
from kcli.tui.widgets.columns import Cell, Column
from kcli.tui.widgets.frames import Tabs
from kcli.tui.widgets.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import ComposeResult

    from kcli.lag.watch import LagSnapshot
    from kcli.tui.actions.acts import Act
    from kcli.tui.state import State

WAYS = {"bell": "the terminal rings", "desktop": "a notification", "webhooks": "JSON is posted to an address"}
"""The ways of `--alert`, which can be switched off."""


class Now(NamedTuple):
    """Something that is wrong. `key` is what it is acknowledged by; `silence` why it is quiet."""

    key: tuple[str, str]
    kind: str
    name: str
    text: str
    lasts: float
    least: bool
    place: routes.Route | None
    silence: Silence | None
    order: int


class Switch(NamedTuple):
    """A kind of alert, or a way of telling."""

    name: str
    about: str
    off: bool
    order: int


class Alerts(Page):
    """The page of alerts."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("1", "tab('now')", "Now", show=False, id="alerts.now"),
        Binding("2", "tab('switches')", "Switches", show=False, id="alerts.switches"),
        Binding("3", "tab('told')", "Told", show=False, id="alerts.told"),
        Binding("o", "switch", "On or off", show=False, id="alerts.switch"),
        Binding("K", "acknowledge", "Acknowledge", id="alerts.acknowledge"),
        Binding("M", "mute", "Mute, or not", show=False, id="alerts.mute"),
    ]

    asks = False

    def __init__(self, state: State, route: routes.Alerts) -> None:
        super().__init__(state, route)
        self._quiet = self._many = 0

    @property
    def heading(self) -> str:
        quiet = f", {self._quiet} acknowledged, muted or off" if self._quiet else ""
        return f"Alerts ({self._many:,}){quiet}"

    @property
    def same_as(self) -> str:
        return "kcli lag --watch"

    def body(self) -> ComposeResult:
        with Tabs():
            with TabPane("Now", id="tab-now"):
                yield Rows(_now_columns(), key=lambda row: row.key, order=_order, id="now", empty="● Nothing is wrong.")
            with TabPane("Switches", id="tab-switches"):
                yield Rows(_switch_columns(), key=_name, order=_order, id="switches", empty="")
            with TabPane("Told", id="tab-told"):
                columns = _told_columns(self.session.clock)
                yield Rows(columns, key=id, id="told", opens=False, empty="No alerts in this session.")

    def on_mount(self) -> None:
        self.query_one("#now", Rows).focus()

    def show_snapshot(self, snapshot: LagSnapshot) -> None:
        self._draw()

    def on_changed(self) -> None:
        super().on_changed()
        if self.stands and self.is_seen:
            self._draw()

    def _draw(self) -> None:
        rows = self._wrong()
        self._quiet = sum(row.silence is not None for row in rows)
        self._many = len(rows) - self._quiet
        self.query_one("#now", Rows).put(rows)
        off = self.state.silences.off
        kinds = {**KINDS, **{one: f"groups that are {status(one)[0]}" for one in WRONG}, **WAYS}
        switches = [Switch(name, about, off(name), n) for n, (name, about) in enumerate(kinds.items())]
        self.query_one("#switches", Rows).put(switches)
        self.query_one("#told", Rows).put(reversed(self.state.told))
        self.retitle()

    def _wrong(self) -> list[Now]:
        """What is wrong with the cluster, then with groups, the worst first; what is quiet comes last."""
        found: list[Now] = []
        state = self.state
        for one in state.incidents if self.session.live else ():
            lasts, quiet = self.session.clock() - one.begun, state.silences.why(*one.key)
            place = routes.find(one.place)
            found.append(Now(one.key, one.kind, one.name, one.text, lasts, one.before, place, quiet, len(found)))
        snapshot = state.snapshot
        for standing in incidents(others(snapshot)) if snapshot is not None else ():
            group = standing.described.group
            since = state.trails.since(group) if state.trails is not None else None
            lasts = 0.0 if snapshot is None else lasting(standing, snapshot.time, since)
            least = since is not None and snapshot is not None and snapshot.time - lasts <= since.known
            why = "" if snapshot is None else reason(standing, snapshot)
            now, place = standing.status, routes.Group(group)
            quiet = state.silences.why(group, now)
            found.append(Now((group, now), now, group, why, lasts, least, place, quiet, len(found)))
        return found

    @property
    def _row(self) -> Any:
        return self.query_one(f"#{self.tab}", Rows).row if self.tab else None

    @property
    def acts_about(self) -> str:
        return "alerts" if self._row is None or self.tab == "told" else printable(self._row.name)

    def acts(self) -> list[Act]:
        row = self._row
        if self.tab != "now" or row is None:
            return []
        name, now = row.key
        return silencing_of(self, name, now, row.silence, wrong=True)

    def action_acknowledge(self) -> None:
        """Keep the incident under the cursor quiet, with a reason, until its status changes."""
        if self.tab == "now" and self._row is not None:
            acknowledge(self, *self._row.key)

    def action_mute(self) -> None:
        """Keep what is under the cursor quiet whatever its status is, or tell of it again."""
        if self.tab == "now" and self._row is not None:
            name, _ = self._row.key
            muted = self._row.silence is not None
            silence(
                self, name, None if muted else Silence("", "", self.session.clock()), "told again" if muted else "muted"
            )

    def action_switch(self) -> None:
        """Switch the alerts of a kind off, or on again: of the incident, or the switch, under the cursor."""
        row = self._row if self.tab in ("now", "switches") else None
        if row is not None:
            kind = row.name if self.tab == "switches" else row.kind
            off = self.state.silences.off(kind)
            entry = None if off else Silence("", "switched off", self.session.clock())
            silence(self, switch(kind), entry, f"{kind}: {'on' if off else 'off'}", noted=False)

    def on_rows_entered(self, event: Rows.Entered) -> None:
        if event.rows.id == "switches":
            self.action_switch()
        elif event.row.place is not None:
            self.go(event.row.place)


def _order(row: Now | Switch) -> tuple[bool, int]:
    return isinstance(row, Now) and row.silence is not None, row.order


def _name(row: Switch) -> str:
    return row.name


def _now_columns() -> list[Column]:
    return [
        Column("kind", "WHAT", lambda r: r.kind, draw=_kind, letter="W", rank=0),
        Column("name", "WHERE", lambda r: r.name, printable, letter="N", rank=0, name=True),
        Column("lasts", "SINCE", lambda r: r.lasts, draw=_lasts, right=True, letter="S", rank=0),
        Column("quiet", "QUIET", _why_quiet, printable, tone="dim", letter="Q", most=40),
        Column("text", "", lambda r: r.text, printable, wide=True, rank=1, most=200),
    ]


def _kind(row: Now) -> Cell:
    glyph, tone = ("?", "warn") if row.kind == UNKNOWN else STATUSES.get(row.kind, ("✖", "bad"))
    return Cell(f"{glyph} {row.kind}", "dim" if row.silence is not None else tone)


def _lasts(row: Now) -> Cell:
    return Cell(f"{'>' * row.least}{duration(max(row.lasts, 0.0))}")


def _why_quiet(row: Now) -> str:
    return "" if row.silence is None else row.silence.reason or "muted"


def _switch_columns() -> list[Column]:
    return [
        Column("name", "ALERT", lambda r: r.name, letter="N", rank=0),
        Column(
            "off", "", lambda r: r.off, draw=lambda r: Cell("○ off", "warn") if r.off else Cell("● on", "good"), rank=0
        ),
        Column("about", "WHEN", lambda r: r.about, wide=True, rank=1, most=200),
    ]


def _told_columns(clock: Callable[[], float]) -> list[Column]:
    return [
        Column("time", "TIME", lambda t: t[0], draw=lambda t: Cell(clocked(t[0], clock()), "dim"), rank=0),
        Column(
            "words", "", lambda t: t[1], draw=lambda t: Cell(printable(t[1]), "bad" if t[2] else "good"), rank=0,
            wide=True, most=300,
        ),
    ]  # fmt: skip
