"""All groups, the worst first: their lag, since when, and whether it gets better."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from kcli.admin.groups.groups import progress_of
from kcli.lag.formats.sentences import explained, reason
from kcli.lag.status import CALM, GROWING
from kcli.text.numbers import count, duration, rate
from kcli.tui import routes
from kcli.tui.actions.menus import of_group, of_groups
from kcli.tui.screens.columns import lag_column, status_column
from kcli.tui.screens.page import Page
from kcli.tui.text.chart import Chart, Mark, spark
from kcli.tui.text.formatting import age, between, calm, elapsed, others, spread, status
from kcli.tui.text.incidents import PAGE, board, details, folded, loudness, places_in, unknown
from kcli.tui.text.printable import printable, quoted
from kcli.tui.widgets.columns import Cell, Column, nothing
from kcli.tui.widgets.lines import Lines
from kcli.tui.widgets.overview import curves
from kcli.tui.widgets.plot import Plot
from kcli.tui.widgets.rows import Rows

if TYPE_CHECKING:
    from kcli.admin.groups.rows import Described
    from kcli.lag.history import GroupStanding
    from kcli.lag.partition_lag import PartitionFigures
    from kcli.lag.watch import LagSnapshot
    from kcli.tui.actions.acts import Act
    from kcli.tui.state import State
    from kcli.tui.trails import Trails

NAMED = 8  # groups that a command names, not more
STEADY = 0.02  # of the larger rate: a difference below that is within what rates are off by
SPARK = 12  # cells, and more where the table has room
CARDS = 5  # lines of what is wrong


def arrow(standing: GroupStanding) -> Cell:
    """Whether the lag of the whole group grows or shrinks, as the plot shows it; nothing where lag just waits for the
    next commit. Rates that are too close count as neither."""
    if standing.growth is None or not standing.total.lag or standing.status in CALM:
        return Cell("")
    steady = abs(standing.growth) <= STEADY * max(standing.in_least, standing.out_least)
    if not standing.growth or (steady and not (standing.growth > 0 and standing.status == GROWING)):
        return Cell("→", "dim")
    return Cell("↗", "bad") if standing.growth > 0 else Cell("↘", "good")


def until(standing: GroupStanding | PartitionFigures) -> Cell:
    """The time until the lag is worked off, or how fast it grows."""
    if standing.eta is not None:
        return Cell(duration(standing.eta) if standing.eta else "")
    if standing.status in CALM:
        return Cell("")  # its lag only waits for the next commit
    return Cell(f"+{rate(standing.falling)}/s", "bad") if standing.falling else Cell(duration(None), "dim")


def draw(
    plot: Plot, standing: GroupStanding, snapshot: LagSnapshot, trails: Trails, *, timely: bool, name: str = ""
) -> None:
    """The lag (or time lag) of a group over the snapshots, with the reason for its status above."""
    group = standing.described.group
    points = trails.late(group) if timely else trails.of(group)
    plot.title = "  ".join(
        filter(None, (f"{name} {'time lag' if timely else 'lag'}".strip(), explained(standing, snapshot)))
    )
    plot.put(
        Chart(
            points=points,
            name="time lag" if timely else "lag",
            unit=duration if timely else count,
            seconds=timely,
            curves=curves(trails.moments(group)),
            marks=[Mark(event.time, printable(event.text)) for event in trails.events(group)],
            eta=standing.eta,
        )
    )


def _type(standing: GroupStanding) -> str:
    command = progress_of(standing.described.group)
    return standing.described.type or "" if command is None else f"kcli {command}"


class Groups(Page):
    """The first screen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "reset", "Reset", id="groups.reset"),
        Binding("t", "app.timely", "Lag or time lag", show=False, id="groups.time"),
        Binding("o", "old", "Small orphans of long ago", show=False, id="groups.old"),
        Binding("i", "internal", "kcli's own", show=False, id="groups.internal"),
    ]

    def __init__(self, state: State, route: routes.Groups) -> None:
        super().__init__(state, route)
        self._recent: dict[tuple[str, int], tuple[str, str]] = {}
        self._internal = self._old = False

    @property
    def heading(self) -> str:
        snapshot = self.state.snapshot
        if snapshot is None:
            return "Groups"
        groups, *hidden = self._how_many(snapshot)
        why = self._reason(snapshot)
        if why and cell_len(groups) + cell_len(why) > self.size.width - 4:
            return why  # with the rest it would be cut
        return self._words(groups, *hidden, reason=why)

    @staticmethod
    def _words(groups: str, *hidden: str, reason: str) -> str:
        """The reason comes before what is hidden: it is the first that room is for."""
        return "  ".join((groups, reason, *hidden)) if reason else ", ".join((groups, *hidden))

    def _how_many(self, snapshot: LagSnapshot) -> list[str]:
        own = len(snapshot.groups) - len(others(snapshot))
        old = sum(map(folded, others(snapshot)))
        told = [f"Groups ({len(snapshot.groups) - (0 if self._internal else own):,})"]
        if own:
            told.append(f"{own:,} of kcli's own" + ("" if self._internal else " hidden: i"))
        if old:
            told.append(f"{old:,} small orphan{'s' * (old > 1)} of long ago" + (" hidden: o" if self._folds else ""))
        return told

    @property
    def _folds(self) -> bool:
        """Whether small orphans of long ago are hidden: not while there is a filter, which may ask for them."""
        return not self._old and not any(rows.wanted for rows in self.query(Rows))

    def _reason(self, snapshot: LagSnapshot) -> str:
        """Why the group under the cursor has its status, where there is no plot that says it."""
        row = self.query_one(Rows).row if self.is_there and self.has_class("-low") else None
        return "" if row is None else f"{status(row.status)[0]}: {reason(row, snapshot)}"

    @property
    def same_as(self) -> str:
        named = self._named()
        return f"kcli lag{named}{' --internal' if self._internal and not named else ''} --watch"

    @property
    def narrowed(self) -> str:
        return "" if self._named() else super().narrowed

    def _named(self) -> str:
        """The groups that the filter leaves, where they are few; of a recording all."""
        rows = self.query(Rows)
        if not rows or not rows.first().wanted or not 0 < len(rows.first().shown) <= NAMED:
            return ""
        return "".join(f" {quoted(group.described.group)}" for group in rows.first().shown) + " --by group"

    def columns(self) -> list[Column]:
        return [
            Column("group", "GROUP", lambda g: g.described.group, printable, letter="N", rank=0, name=True),
            status_column(rank=0),
            lag_column(rank=0),
            Column("trend", "", lambda g: g.growth, draw=arrow),
            *self._recent_columns(),
            Column("in", "IN/S", lambda g: g.in_rate, rate, right=True, letter="I", rank=2),
            Column("out", "OUT/S", lambda g: g.out_rate, rate, right=True, letter="O", rank=2),
            Column("eta", "ETA", lambda g: g.eta, draw=until, right=True, letter="E"),
            Column(
                "time", "TIME LAG", lambda g: g.time_lag, draw=lambda g: Cell(age(g)), right=True, letter="T", rank=3
            ),
            Column("state", "STATE", lambda g: g.described.state, draw=lambda g: Cell(g.described.state or ""), rank=4),
            Column("members", "MEM", lambda g: g.total.members, count, right=True, letter="M", rank=5),
            Column("type", "TYPE", _type, draw=lambda g: Cell(_type(g)), rank=6),
        ]

    def _recent_columns(self) -> list[Column]:
        """How the lag went, and between which figures."""
        return [
            Column(
                "spark",
                "LAST",
                nothing,
                draw=lambda g: Cell(self.recent(g.described.group)[0], calm(g.status)),
                right=True,
                rank=4,
                pieces=lambda g, room: [Cell(self.recent(g.described.group, room)[0], calm(g.status))],
            ),
            Column(
                "range",
                "MIN..MAX",
                nothing,
                draw=lambda g: Cell(self.recent(g.described.group)[1], "dim"),
                right=True,
                rank=4,
            ),
        ]

    def body(self) -> ComposeResult:
        yield Lines(aligned=True, id="board")  # not where the terminal is low
        with Vertical(id="details"):
            yield Plot(id="plot")
            yield Lines(id="about")
        yield Rows(
            self.columns(),
            key=lambda g: g.described.group,
            order=loudness,
            marks=True,
            id="groups",
            empty="No groups yet. Make one: kcli consume TOPIC --group NAME",
        )

    def recent(self, group: str, cells: int = SPARK) -> tuple[str, str]:
        """How the lag went over all the snapshots that are kept, in equal parts of time, and between which figures."""
        if (group, cells) not in self._recent:
            trails = self.state.trails
            trail = [] if trails is None else trails.late(group) if self.state.timely else trails.of(group)
            now = self.state.snapshot.time if self.state.snapshot is not None else 0.0
            line = spark(spread(trail, now - (trails.span if trails is not None else 0.0), now, cells * 2))
            unit = duration if self.state.timely else count
            self._recent[group, cells] = line.rjust(cells), between([value for _, value in trail], unit)
        return self._recent[group, cells]

    def on_resize(self) -> None:
        self._recent.clear()
        super().on_resize()

    def show_snapshot(self, snapshot: LagSnapshot) -> None:
        self._recent.clear()
        rows = self.query_one(Rows)
        rows.relabel("spark", f"LAST {elapsed(self.state.trails.span)}" if self.state.trails is not None else "LAST")
        known = snapshot.groups if self._internal else others(snapshot)
        rows.put([group for group in known if not folded(group)] if self._folds else known)
        self._draw_board(snapshot)
        self._about()

    def _draw_board(self, snapshot: LagSnapshot) -> None:
        known = snapshot.groups if self._internal else others(snapshot)
        state, trails = self.state, self.state.trails
        since = unknown if trails is None else trails.since
        cards = board(known, snapshot, CARDS, since, state.silences, state.urgent)
        self.query_one("#board", Lines).put(cards)

    def on_changed(self) -> None:
        super().on_changed()
        if self.stands and self.is_seen and self.state.snapshot is not None:
            self._draw_board(self.state.snapshot)

    def filtered(self, words: str) -> None:
        super().filtered(words)
        if self.state.snapshot is not None:
            self.show_snapshot(self.state.snapshot)
            self.retitle()

    def on_lines_chosen(self, event: Lines.Chosen) -> None:
        """A click on a card opens its group, or the page about it."""
        page = routes.find(event.key.removeprefix(PAGE)) if event.key.startswith(PAGE) else None
        self.go(page or routes.Group(event.key))

    def on_rows_moved(self, event: Rows.Moved) -> None:
        self._about()
        self.retitle()

    def _about(self) -> None:
        """The plot is of the group under the cursor, and says in a sentence the reason for its status."""
        if not self.is_there:
            return
        plot, row, snapshot, trails = (
            self.query_one(Plot),
            self.query_one(Rows).row,
            self.state.snapshot,
            self.state.trails,
        )
        about = self.query_one("#about", Lines)
        if row is None or snapshot is None or trails is None:
            plot.title = ""
            plot.put(Chart())
            about.put([])
        else:
            happened = trails.events(row.described.group)
            about.put(details(row, snapshot, happened, aimed=self.session.aimed, most=places_in(self.size.height)))
            draw(plot, row, snapshot, trails, timely=self.state.timely, name=printable(row.described.group))

    def action_internal(self) -> None:
        """Show the groups in which kcli keeps its own progress, or hide them again."""
        self._internal = not self._internal
        if self.state.snapshot is not None:
            self.show_snapshot(self.state.snapshot)
        self.retitle()

    @property
    def acts_about(self) -> str:
        rows = self.query_one(Rows)
        if rows.marked:
            return f"{len(rows.marked)} marked groups"
        return f"group {rows.row.described.group}" if rows.row is not None else "groups"

    def acts(self) -> list[Act]:
        row = self.query_one(Rows).row
        if self.query_one(Rows).marked:
            return of_groups(self, self._meant, self.action_reset)
        return of_group(self, row.described.group, self.action_reset, row) if row is not None else []

    def action_old(self) -> None:
        """Show the small orphans of long ago, or hide them again."""
        self._old = not self._old
        if self.state.snapshot is not None:
            self.show_snapshot(self.state.snapshot)
        self.retitle()

    @property
    def _meant(self) -> list[Described]:
        """The groups that are marked, else the one under the cursor."""
        rows = self.query_one(Rows)
        meant = rows.marked or ([rows.row] if rows.row is not None else [])
        return [standing.described for standing in meant]

    def action_reset(self) -> None:
        """The scope of a reset of the marked groups, or of the one under the cursor: all their topics."""
        if not self._meant or self.refused("a reset"):
            return
        from kcli.tui.dialogs.reset import Reset

        self.app.push_screen(Reset(self.session, [group.group for group in self._meant], None))

    def on_rows_entered(self, event: Rows.Entered) -> None:
        self.go(routes.Group(event.row.described.group))
