"""The frame of every page: masthead, heading, a body of tables to filter and sort, the command that does the same.

A page reads the state, and gets a message when it changed; it asks the session for what a snapshot does not hold, and
posts `Go` to open another page. A question that is under way is cancelled when a newer one is asked or the page is
left.
"""

from __future__ import annotations

import time
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static

from kcli.errors import KcliError
from kcli.system.processes import memory
from kcli.text.numbers import count, size
from kcli.tui import routes
from kcli.tui.actions.asking import Asking
from kcli.tui.alerts.alerting import toast
from kcli.tui.messages import Go, KeepProfile
from kcli.tui.replay import ReplaySession
from kcli.tui.text.formatting import GLYPHS, elapsed
from kcli.tui.text.printable import fitted, piped, printable
from kcli.tui.widgets.filter import Filter, FilterLine
from kcli.tui.widgets.footer import Footer
from kcli.tui.widgets.frames import Tabs, TimedScreen
from kcli.tui.widgets.masthead import Masthead, shortened
from kcli.tui.widgets.overview import ClusterPlot, Overview
from kcli.tui.widgets.plot import Plot
from kcli.tui.widgets.rows import Rows
from kcli.tui.widgets.slider import Slider

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.dom import DOMNode

    from kcli.admin.configs import Resource
    from kcli.client import Client
    from kcli.lag.watch import LagSnapshot
    from kcli.tui.actions.acts import Act
    from kcli.tui.actions.changes.change import Change
    from kcli.tui.actions.producing import Draft
    from kcli.tui.routes import Route
    from kcli.tui.session import Session
    from kcli.tui.state import State, Trouble
    from kcli.tui.tail import Seen
    from kcli.tui.widgets.frames import Frames

WIDE = 160  # cells from which there is room for details beside a list
HIGH = 30  # lines from which there is room for a plot beside a list
TALL, BELOW = 40, 14  # lines of a page, and those that its table leaves, from which its details are below the table
EMPTY = 6  # lines for what a table without rows says
LEAST_LATE = 3.0  # seconds before a line says that nothing came
ASKING = "Asking the cluster …"
WHY = "A broker is slow, or paused: ctrl+b shows which."
BEAT = 0.5  # seconds
RULE = " ▸ "
CUT = "… ▸ "
LEAST = 16  # cells below which nothing is shown
MOST = 24  # cells of one name


class Page(TimedScreen):
    """The page of a route. A kind says its `heading`, its `same_as`, its body, and what a refresh changes."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide")]  # noqa: RUF012  # as Textual declares it
    VERTICAL_BREAKPOINTS = [(0, "-low"), (HIGH, "-high")]  # noqa: RUF012  # as Textual declares it

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back", id="page.back"),
        Binding("ctrl+left,backspace", "app.travel(-1)", "Back to where I was", show=False, id="page.before"),
        Binding("ctrl+right", "app.travel(1)", "Forward again", show=False, id="page.after"),
        Binding("slash", "filter", "Filter", id="page.filter", key_display="/"),
        Binding("a", "acts", "Actions", id="page.acts"),
        Binding("left", "point(-1)", "Earlier, or columns left", show=False, id="page.earlier"),
        Binding("right", "point(1)", "Later, or columns right", show=False, id="page.later"),
        Binding("y", "app.copy", "Copy command", show=False, id="page.copy"),
        Binding("ctrl+r", "app.now", "Refresh", show=False, id="page.now"),
        Binding("n", "app.produce", "Produce", show=False, id="page.produce"),
        Binding("z", "app.undo", "Undo", show=False, id="page.undo"),
        Binding("ctrl+e", "program('edit')", "Edit in $EDITOR", show=False, id="page.edit"),
        Binding("v", "program('view')", "Show in $PAGER", show=False, id="page.view"),
        Binding("s", "app.save", "Save a snapshot", show=False, id="page.save"),
        Binding(
            "left_square_bracket",
            "app.window(-1)",
            "Shorter window of rates",
            show=False,
            id="page.narrower",
            key_display="[",
        ),
        Binding(
            "right_square_bracket",
            "app.window(1)",
            "Longer window of rates",
            show=False,
            id="page.wider",
            key_display="]",
        ),
    ]

    unrecorded: str = ""
    """What of this page a recording does not hold; "" when it holds all."""
    recorded: tuple[str, ...] = ()
    """The tables that a recording can fill all the same."""
    asks: bool = True
    """Whether its tables are empty until the cluster, or a snapshot of it, has answered."""

    _look_drawn: LagSnapshot | None = None
    _parts: Sequence[DOMNode] = ()

    def __init__(self, state: State, route: Route) -> None:
        super().__init__(state.frames)
        self.state = state
        self.route = route
        self.asking = Asking(self, state, lambda: self.is_there)

    @property
    def session(self) -> Session:
        """Where the data come from."""
        return self.state.session

    # -- what each kind says ---

    @property
    def heading(self) -> str:
        """Where one is."""
        return ""

    @property
    def same_as(self) -> str:
        """The kcli command that shows the same."""
        return ""

    @property
    def topic_here(self) -> str:
        """The topic that a new record is probably for."""
        return ""

    def as_shown(self, record: Seen) -> Seen:
        """The record with its key and value as the page shows them."""
        return record

    def body(self) -> ComposeResult:
        """The widgets between the heading and the filter."""
        yield from ()

    def show_snapshot(self, snapshot: LagSnapshot) -> None:
        """A snapshot has arrived."""

    async def fetch(self, client: Client) -> Any:
        """What this page asks the cluster when it opens and at each beat; None asks nothing."""
        return None

    def fetched(self, answer: Any) -> None:
        """The answer of `fetch`."""

    @property
    def narrowed(self) -> str:
        """What does the same as the filter, where `same_as` has no option for it: the words in a pipe."""
        words = [word for rows in self.query(Rows) if rows.is_on_screen for word in rows.wanted.split()]
        return piped([word for word in words if word not in GLYPHS])

    @property
    def fits(self) -> str:
        """How many rows the filter leaves, and of how many: `1 of 52`; "" without a filter."""
        tables = [rows for rows in self.query(Rows) if rows.is_on_screen and rows.wanted]
        return f"{len(tables[0].shown):,} of {tables[0].known:,}" if tables else ""

    def counted(self) -> list[tuple[str, int]]:
        """What this page keeps, for --debug."""
        return [(f"rows of {rows.id}", len(rows.shown)) for rows in self.query(Rows)][:1]

    # -- its parts ---

    def compose(self) -> ComposeResult:
        yield Masthead(self.state)
        yield Static(id="stale", markup=False)
        with Horizontal(id="top"):
            yield Static(id="heading", markup=False)
            yield Crumbs()
        with Vertical(id="body"):
            yield from self.body()
        if isinstance(self.session, ReplaySession):
            yield Slider(self.session)
        yield FilterLine()
        yield Static(id="same-as", markup=False)
        if self.state.frames is not None:
            yield Debug(self.state, self.state.frames, self.counted)
        yield Footer()

    def on_mount(self) -> None:
        self.query_one("#stale", Static).display = False
        if not self.session.live and self.unrecorded:
            for rows in self.query(Rows):
                if rows.id not in self.recorded:
                    rows.empty = f"{self.session.lacks}: {self.unrecorded}. It holds groups, their members and lag."
        self._beat()
        if self.session.live:
            self.set_interval(1.0, self._beat)
        self.on_state_updated()
        self.retitle()

    @property
    def is_seen(self) -> bool:
        """Whether it is the page in front; a dialog may be before it."""
        pages = (screen for screen in reversed(self.app.screen_stack) if isinstance(screen, Page))
        return next(pages, None) is self

    @property
    def is_there(self) -> bool:
        """Whether there is anything to show an answer on: an answer may come while the page is being taken down."""
        return self.is_mounted and self.stands

    @property
    def stands(self) -> bool:
        """Whether all its parts are there: a snapshot may come while they are made or removed. Called at each of
        them, so the parts are looked up once and not each time."""
        if not self._parts or not all(part.is_attached for part in self._parts):
            queries = [self.query(part) for part in (Masthead, "#heading", Rows, Filter, "#same-as")]
            self._parts = [query.first() for query in queries] if all(queries) else []
        return bool(self._parts)

    @property
    def command(self) -> str:
        """As `same_as`, of this cluster and with the filter; of the recording where there is one."""
        return self.session.command(self.same_as, self.narrowed)

    @property
    def tab(self) -> str:
        """Which tab is open; "" without tabs."""
        tabs = self.query(Tabs)
        return tabs.first().name_of_open if tabs else ""

    def sorted_by(self, table: str) -> str:
        """The option --sort for the order of a table."""
        return next((rows.sort_option for rows in self.query(f"#{table}").results(Rows)), "")

    # -- what is drawn when ---

    def on_resize(self) -> None:
        self.call_after_refresh(self.retitle)  # there is another room for the crumbs

    def on_screen_resume(self) -> None:
        """What came while another page was in front is drawn now."""
        self.on_changed()
        if self.is_mounted and self.state.snapshot is not self._look_drawn:
            self.on_state_updated()
        self._beat()

    def on_screen_suspend(self) -> None:
        """Another page is in front: its question is not to wait for the answer to this one's."""
        if not self.is_seen:
            self.asking.stop()

    def on_state_updated(self) -> None:
        """Draw the newest snapshot, and ask for what it does not hold; a page that is not seen does so when it is."""
        if not self.is_seen:
            self._look_drawn = None
            return
        self._look_drawn = snapshot = self.state.snapshot
        self.on_changed()
        if snapshot is not None and self.stands:
            self.show_snapshot(snapshot)
            for part in (*self.query(Overview), *self.query(ClusterPlot)):
                part.redraw()
            self.retitle()
        if not self.session.live:
            self._beat()  # a recording has no other beat
        if self.session.live and self.is_current and self.asking.due:
            self.inquire()

    def inquire(self) -> None:
        """Ask what this page asks, and show the answer."""
        self.asking.beat(self.fetch, self.fetched)

    def on_changed(self) -> None:
        """The lines about the cluster and the session, as they are now."""
        if self.stands and self.is_seen:
            for line in (*self.query(Masthead), *self.query(Slider)):
                line.refresh()

    def _beat(self) -> None:
        """Each second: the age of what is shown, and the sentence while nothing is known."""
        if not self.is_seen or not self.stands:
            return
        for line in self.query(Masthead):
            line.refresh()
        stale = late(self.state)
        unknown = waiting(self.state) if self.asks or stale or self.state.snapshot is None else ""
        for rows in self.query(Rows):
            rows.waiting = self.asking.trouble or unknown
            rows.faded = bool(stale)
        if self.asking.age is not None:
            self.retitle()
        banner = self.query_one("#stale", Static)
        banner.display = bool(stale)
        if stale:
            banner.update(stale)

    def retitle(self) -> None:
        """The heading and the command, as they are now."""
        if not self.stands:
            return
        self._arrange()
        heading = self.heading + self.marked_words + self._aged
        for part, text in (("#heading", heading), ("#fits", self.fits), ("#same-as", f"$ {self.command}")):
            line = self.query_one(part, Static)
            if line.content != text:  # always one line: nothing else has to move, and most snapshots change no word
                line.update(text, layout=False)
        room = self.size.width - cell_len(heading) - 3
        self.query_one(Crumbs).put(shortened(self.session.name), [page.route for page in self._below], room)

    def _arrange(self) -> None:
        """On a large terminal, put the details below a short table instead of beside it, so that both have the whole
        width. A page without details shows all groups there."""
        large = self.size.width >= WIDE and self.size.height >= TALL
        self.set_class(large, "-large")
        if not large:
            self._put_below(0)
            return
        body, main = self.query_one("#body"), self.query("#body > Rows, #tabs Rows, #tabs Pager")
        seen = [part for part in main if part.is_on_screen and (part.told if isinstance(part, Rows) else True)]
        if seen:  # else how long it is becomes known later
            if not self.query("#details"):
                body.mount(Overview(self.state))
            lines = max(
                max(part.known + 1, EMPTY) if isinstance(part, Rows) else part.virtual_size.height for part in seen
            )
            beside = [part for part in body.children if part.id not in ("tabs", "details") and part not in main]
            lines += sum(part.outer_size.height for part in beside) + 2 * bool(self.query("#tabs"))
            self._put_below(body.size.height - lines)

    def _put_below(self, lines: int) -> None:
        """Put the details below, in this number of lines, if that is enough for them."""
        roomy = lines >= BELOW
        self.set_class(roomy, "-roomy")
        for details in self.query("#details"):
            details.styles.height = lines if roomy else None

    @property
    def marked_words(self) -> str:
        """How many rows are marked, for the heading."""
        many = sum(len(rows.marked) for rows in self.query(Rows) if rows.is_on_screen)
        return f"  ✓ {many:,} marked" if many else ""

    @property
    def _aged(self) -> str:
        """How old the answer is, where it costs too much to be asked for at each beat."""
        age = self.asking.age
        return "" if age is None else f"  {elapsed(age)} old (ctrl+r: now)"

    @property
    def _below(self) -> list[Page]:
        """The pages from the first to this one."""
        pages = [screen for screen in self.app.screen_stack if isinstance(screen, Page)]
        return pages[: pages.index(self) + 1] if self in pages else []

    @on(Tabs.TabActivated)
    @on(Rows.Sorted)
    @on(Rows.Marked)
    def renamed(self) -> None:
        """The command names the tab and the order."""
        if self.is_there:
            self.retitle()

    # -- what can be done with a row ---

    def acts(self) -> list[Act]:
        """What can be done with the row under the cursor."""
        return []

    @property
    def acts_about(self) -> str:
        """What the acts are about, for the menu's title."""
        return self.heading.partition("  ")[0]

    def action_acts(self) -> None:
        """Open the menu of acts; what is chosen is begun."""
        acts = self.acts()
        if not acts:
            self.notify("Nothing can be done with this row; ? lists the keys.", timeout=3, markup=False)
            return
        from kcli.tui.dialogs.menu import Menu

        self.app.push_screen(Menu(self.session, self.acts_about, acts), lambda act: act.do() if act else None)

    def copy(self, command: str) -> None:
        """Copy a command, and show it."""
        self.app.copy_to_clipboard(command)
        self.notify(printable(command), title="Copied", markup=False)

    def produce(self, topic: str, draft: Draft | None = None) -> None:
        """Open the form of a new record, empty or with the fields of a draft."""
        if self.refused("producing"):
            return
        from kcli.tui.dialogs.produce import Produce

        self.app.push_screen(Produce(self.session, topic, draft, topics=self.state.topics or ()))

    def begin(self, change: Change) -> None:
        """Open the dialog of a change."""
        if self.refused("this"):
            return
        from kcli.tui.actions.changes.topics import AlterConfigs
        from kcli.tui.dialogs.change import Changing
        from kcli.tui.dialogs.configs import Configuring

        configs = isinstance(change, AlterConfigs)
        self.app.push_screen(Configuring(self.session, change) if configs else Changing(self.session, change))

    @property
    def resource(self) -> Resource | None:
        """The resource whose configs this page has."""
        return None

    @property
    def tables(self) -> list[Rows]:
        """The tables that are seen."""
        return [rows for rows in self.query(Rows) if rows.is_on_screen]

    def action_program(self, what: str) -> None:
        """Open the user's editor or pager for what is under the cursor."""
        from kcli.tui.actions import programs

        try:
            (programs.action_edit if what == "edit" else programs.action_view)(self)
        except KcliError as problem:
            toast(self.app, problem)

    # -- where one goes, and what keys do ---

    def go(self, route: Route) -> None:
        """Open another page."""
        self.post_message(Go(route))

    def refused(self, what: str) -> bool:
        """Whether an action cannot be begun here; a sentence says why."""
        sentence = self.session.refusal(what)
        if sentence:
            self.notify(printable(sentence), severity="warning", markup=False)
        return bool(sentence)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """There is no way back from the first screen, except out of its filter and from a profile that waits."""
        if action != "back" or self.state.waits or len(self.app.screen_stack) > 2:
            return True
        return any(line.display for line in self.query(Filter))

    async def action_back(self) -> None:
        shown = [field for field in self.query(Filter) if field.display]
        if self.state.waits:
            self.post_message(KeepProfile(self.state.waits))
        elif shown and self.is_mounted:
            shown[0].clear_words()
        elif len(self.app.screen_stack) > 2:
            await self.run_action("app.up")

    def action_point(self, by: int) -> None:
        """Move the cursor of the plot through time; where no plot is seen, the columns of the table."""
        plots = [plot for plot in self.query(Plot) if plot.is_on_screen]
        if plots:
            plots[0].move(by)
        elif isinstance(self.focused, Rows):
            self.focused.action_shift(by)

    def action_tab(self, name: str) -> None:
        self.query_one(Tabs).open(name)

    def action_filter(self) -> None:
        self.query_one(Filter).open()

    def only(self, words: str) -> None:
        """Filter by these words, or no longer where it is filtered by them."""
        line = self.query_one(Filter)
        line.put("" if line.value == words else words)

    def on_filter_wanted(self, event: Filter.Wanted) -> None:
        self.filtered(event.words)

    def filtered(self, words: str) -> None:
        """Hide what a filter does not want."""
        for rows in self.query(Rows):
            rows.wanted = words
        self.retitle()


def waiting(state: State) -> str:
    """The text instead of a table, while nothing is known of the cluster, or nothing is read of a recording yet."""
    if not state.session.live:
        return "" if state.snapshot is not None else state.session.waits.capitalize()
    return ASKING if state.snapshot is not None else card(state)


def late(state: State) -> str:
    """The line above tables that are older than two refreshes should be; "" while they are not."""
    session, snapshot = state.session, state.snapshot
    if snapshot is None or not session.live or session.paused:
        return ""
    age = session.clock() - snapshot.time
    if age <= max(2 * session.beat, LEAST_LATE) + 2 * snapshot.took:
        return ""
    then = f"{datetime.fromtimestamp(snapshot.time):%H:%M:%S}"
    return f"No answer for {elapsed(age)}: this is how it was at {then}. {state.problem or WHY}"


def card(state: State) -> str:
    """What is known of a cluster that has not answered yet: what was tried, when again, what else one can do."""
    session, trouble = state.session, state.trouble
    now, name, where = session.clock(), printable(session.name), printable(session.bootstrap)
    if trouble is None:
        head = f"Connecting to {name} … {elapsed(now - state.began)}"
        tried = where
    else:
        head = f"✖ {name} cannot be reached: {trouble.problem}"
        times = f"{trouble.tries} time{'s' * (trouble.tries > 1)} in {elapsed(now - trouble.since)}"
        tried = f"{where}, {times}; {_next(trouble, now)}"
    others = ", ".join(printable(profile) for profile in state.profiles if profile != session.name)
    rows = [
        ("tried", tried),
        ("which step", session.aimed("kcli doctor")),
        *([("elsewhere", f"{others} (ctrl+p, Profile)")] if others else []),
        ("a sandbox", "kcli demo"),
    ]
    return "\n".join([head, "", *(f"{label:<12}{text}" for label, text in rows)])


def _next(trouble: Trouble, now: float) -> str:
    if trouble.again is None or trouble.again <= now:
        return "trying now"
    return f"again in {elapsed(trouble.again - now)} (ctrl+r: now)"


class Debug(Static):
    """`counted` tells what the page keeps: (name, number)."""

    def __init__(self, state: State, frames: Frames, counted: Callable[[], list[tuple[str, int]]]) -> None:
        super().__init__(id="debug", markup=False)
        self._state = state
        self._frames = frames
        self._counted = counted
        self._late = 0.0
        self._due = time.monotonic() + BEAT

    def on_mount(self) -> None:
        self.set_interval(BEAT, self._beat)

    def _beat(self) -> None:
        now = time.monotonic()
        self._late = max(now - self._due, 0.0)
        self._due = now + BEAT
        trails = self._state.trails
        queued = self.app.message_queue_size + self.screen.message_queue_size
        told = [*self._counted(), ("points", len(trails) if trails is not None else 0), ("queued", queued)]
        facts = "  ".join(f"{name} {count(number)}" for name, number in told)
        self.update(f"mem {size(memory())}  {self._frames.said()}  loop +{self._late * 1000:.0f} ms  {facts}")


def name_of(route: Route) -> str:
    """A page in a word."""
    plain = {kind: word for word, kind in routes.SINGLE.items()}.get(type(route))
    if plain is not None:
        return plain
    match route:
        case routes.Records(around=around) if around is not None:
            return f"{around[0].topic}[{around[0].partition}]"
        case routes.Records(topics=topics):
            return f"records {' '.join(topics)}"
        case routes.Record(offset=offset):
            return f"@{offset}"
        case routes.Member(member_id=member):
            return member
        case routes.Broker(number=number):
            return f"broker {number}"
        case routes.Access(kind=kind, name=name):
            return f"{kind} {name}"
    return str(getattr(route, "name", ""))


def trail(cluster: str, stack: Sequence[Route], room: int) -> list[tuple[str, Route | None]]:
    """The pieces that have room, the last ones: each a text and the page that it names. Where not all have room, the
    first piece says so."""
    named: list[tuple[str, Route | None]] = [(cluster, None), *((name_of(route), route) for route in stack)]
    named = [(fitted(printable(text), min(cell_len(printable(text)), MOST), middle=True), at) for text, at in named]
    while len(named) > 1 and _width(named) > room:
        named = [("…", None), *named[2 if named[0][0] == "…" else 1 :]]
    return named if _width(named) <= room else []


def _width(pieces: Sequence[tuple[str, Route | None]]) -> int:
    return sum(cell_len(text) for text, _ in pieces) + len(RULE) * (len(pieces) - 1)


class Crumbs(Widget):
    """At the right of the heading, where it leaves room; nothing on the first page."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"crumbs--here", "crumbs--rule"}

    def __init__(self) -> None:
        super().__init__(id="crumbs")
        self._pieces: list[tuple[str, Route | None]] = []

    def put(self, cluster: str, stack: Sequence[Route], room: int) -> None:
        """The pages that are open, the first at the bottom."""
        pieces = trail(cluster, stack, room - 1) if len(stack) > 1 and room > LEAST else []
        if pieces != self._pieces:
            self._pieces = pieces
            self.styles.width = _width(pieces) + 1 if pieces else 0
            self.refresh()

    def render_line(self, y: int) -> Strip:
        ground, segments = self.rich_style, []
        rule = ground + self.get_component_rich_style("crumbs--rule", partial=True)
        here = ground + self.get_component_rich_style("crumbs--here", partial=True)
        for n, (text, _) in enumerate(self._pieces):
            last = n == len(self._pieces) - 1
            segments += [Segment(text, here if last else ground), Segment("" if last else RULE, rule)]
        return Strip(segments).adjust_cell_length(self.size.width, ground)

    def on_click(self, event: events.Click) -> None:
        left = 0
        for text, route in self._pieces:
            left += cell_len(text) + len(RULE)
            if event.x < left:
                if route is not None:
                    self.post_message(Go(route))
                return
