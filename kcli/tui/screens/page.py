"""What every screen has: the masthead, a title, a table to filter and sort, the command that does the same.

A page takes the newest look from the app when one arrives and asks the session for what a look does not hold; a
question that is under way is cancelled when a newer one is asked or the page is left.
"""

from __future__ import annotations

import time
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import Screen
from textual.widgets import Input, Static, TabbedContent

from kcli.errors import KcliError
from kcli.tui.replay import ReplaySession
from kcli.tui.text.formatting import elapsed
from kcli.tui.text.printable import printable, quoted
from kcli.tui.text.trouble import card
from kcli.tui.widgets.debug import Debug
from kcli.tui.widgets.footer import Footer
from kcli.tui.widgets.masthead import Masthead
from kcli.tui.widgets.rows import Rows
from kcli.tui.widgets.slider import Slider

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from textual.dom import DOMNode

    from kcli.client import Client
    from kcli.lag.watch import Look
    from kcli.tui.app import Dashboard
    from kcli.tui.session import Session

HIGH = 30  # lines from which there is room for a plot beside a list
LEAST_LATE = 3.0  # seconds before anybody is told that nothing came
ASKING = "Asking the cluster …"
WHY = "A broker is slow, or paused: ctrl+b shows which."
DRAWN = 50e-6  # seconds: less than that nothing was drawn


class Page(Screen[None]):
    """A screen of the dashboard. A kind says its `heading`, its `same_as`, its body, and what a look changes."""

    VERTICAL_BREAKPOINTS = [(0, "-low"), (HIGH, "-high")]  # noqa: RUF012  # as Textual declares it

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back", id="page.back"),
        Binding("slash", "filter", "Filter", id="page.filter", key_display="/"),
        Binding("y", "copy", "Copy command", show=False, id="page.copy"),
        Binding("ctrl+r", "now", "Refresh", show=False, id="page.now"),
        Binding("n", "produce", "Produce", show=False, id="page.produce"),
        Binding("s", "save", "Save a snapshot", show=False, id="page.save"),
        Binding(
            "left_square_bracket",
            "window(-1)",
            "Shorter window of rates",
            show=False,
            id="page.narrower",
            key_display="[",
        ),
        Binding(
            "right_square_bracket", "window(1)", "Longer window of rates", show=False, id="page.wider", key_display="]"
        ),
    ]

    @property
    def board(self) -> Dashboard:
        """The application."""
        return cast("Dashboard", self.app)

    @property
    def session(self) -> Session:
        """Where the data come from."""
        return self.board.session

    unrecorded: str = ""
    """What of this page a recording does not hold; "" when it holds all."""
    recorded: tuple[str, ...] = ()
    """The tables that a recording can fill all the same."""
    told: str = ""
    """What kind of trouble this page has told of, until an answer comes again."""
    trouble: str = ""
    """What went wrong when the cluster was asked last."""
    asks: bool = True
    """Whether its tables are empty until the cluster, or a look at it, has answered."""

    _asking = 0
    _look_drawn: Look | None = None
    _parts: Sequence[DOMNode] = ()

    # -- what each kind says ---

    @property
    def place(self) -> tuple[object, ...]:
        """What it is a page of: the same place is never opened twice."""
        return (type(self).__name__,)

    @property
    def heading(self) -> str:
        """Where one is."""
        return ""

    @property
    def same_as(self) -> str:
        """The kcli command that shows the same."""
        return ""

    def body(self) -> ComposeResult:
        """What stands between the title and the footer."""
        yield from ()

    def looked(self, look: Look) -> None:
        """A look has arrived."""

    async def fetch(self, client: Client) -> Any:
        """What this page asks the cluster when it opens and at each beat; None asks nothing."""
        return None

    def fetched(self, answer: Any) -> None:
        """The answer of `fetch`."""

    @property
    def narrowed(self) -> str:
        """What does the same as the filter, where `same_as` has no option for it: the words in a pipe."""
        words = [word for rows in self.query(Rows).results() if rows.is_on_screen for word in rows.wanted.split()]
        needed = [f" | grep -iF {quoted(word)}" for word in words if not word.startswith("!")]
        return "".join(needed + [f" | grep -viF {quoted(word[1:])}" for word in words if word[0] == "!" and word[1:]])

    @property
    def command(self) -> str:
        """As `same_as`, of this cluster and with the filter; of the recording where there is one."""
        if not isinstance(self.session, ReplaySession):
            return self.session.aimed(self.same_as) + self.narrowed
        path = quoted(str(self.session.recording.path))
        if self.same_as.startswith("kcli lag"):
            return f"{self.same_as.replace(' --watch', '')} --replay {path}"
        return f"kcli tui --replay {path}"

    @property
    def tab(self) -> str:
        """Which tab is open; "" while there is none."""
        tabs = self.query(TabbedContent)
        return tabs.first().active.removeprefix("tab-") if tabs else ""

    def on_tabbed_content_tab_activated(self) -> None:
        if self.is_there:
            self.retitle()

    def on_rows_sorted(self) -> None:
        """The command names the order."""
        if self.is_there:
            self.retitle()

    def sorted_by(self, table: str) -> str:
        """The option --sort for the order of a table."""
        return next((rows.sort_option for rows in self.query(f"#{table}").results(Rows)), "")

    @property
    def topic_here(self) -> str:
        """The topic that a new record is probably for."""
        return ""

    # -- what all have ---

    def compose(self) -> ComposeResult:
        yield Masthead()
        yield Static(id="stale", markup=False)
        yield Static(id="heading", markup=False)
        with Vertical(id="body"):
            yield from self.body()
        if isinstance(self.session, ReplaySession):
            yield Slider()
        yield Input(placeholder="words that must be there, !words that must not", id="filter")
        yield Static(id="same-as", markup=False)
        if self.board.frames is not None:
            yield Debug(self.board.frames, self._facts)
        yield Footer()

    def on_mount(self) -> None:
        self.query_one("#filter", Input).display = False
        self.query_one("#stale", Static).display = False
        if not self.session.live and self.unrecorded:
            for rows in self.query(Rows):
                if rows.id not in self.recorded:
                    rows.empty = f"Not in a recording: {self.unrecorded}. It holds groups, their members and lag."
        self._beat()
        if self.session.live:
            self.set_interval(1.0, self._beat)
        self.watch(self.board, "look", self._new_look, init=True)
        self.watch(self.board, "cluster", self._tell_masthead, init=True)
        self.retitle()

    def on_screen_resume(self) -> None:
        """What came while another page was in front is drawn now."""
        self._tell_masthead()
        if self.is_mounted and self.board.look is not self._look_drawn:
            self._new_look(self.board.look)
        self._beat()

    @property
    def is_seen(self) -> bool:
        """Whether it is the page in front; a dialog may be before it."""
        pages = (one for one in reversed(self.app.screen_stack) if isinstance(one, Page))
        return next(pages, None) is self

    def _beat(self) -> None:
        """Each second: how old what is shown is, and what is said while nothing is known."""
        if not self.is_seen or not self.stands:
            return
        board, look = self.board, self.board.look
        unknown = ""
        if self.session.live:
            asking = card(self.session, board.trouble, board.began, board.profiles) if look is None else ASKING
            unknown = asking if self.asks or look is None else ""
        late = self.session.live and not self.session.paused and look is not None and self._late(look)
        for rows in self.query(Rows):
            rows.waiting = self.trouble or unknown
            rows.faded = late
        banner = self.query_one("#stale", Static)
        banner.display = late
        if late and look is not None:
            then = f"{datetime.fromtimestamp(look.time):%H:%M:%S}"
            age = elapsed(self.session.clock() - look.time)
            banner.update(f"No answer for {age}: this is how it was at {then}. {board.problem or WHY}")

    def settle(self) -> None:
        """What this page is of is not there: tables that were never filled are empty, those that were stay."""
        for rows in self.query(Rows):
            if not rows.told:
                rows.put([])

    def _late(self, look: Look) -> bool:
        """Whether two looks should have come since."""
        return self.session.clock() - look.time > max(2 * self.session.interval, LEAST_LATE) + 2 * look.took

    def retitle(self) -> None:
        """The heading and the command, as they are now."""
        if not self.stands:
            return
        for part, text in (("#heading", self.heading), ("#same-as", f"$ {self.command}")):
            line = self.query_one(part, Static)
            if line.content != text:  # always one line: nothing else has to move, and most looks change no word
                line.update(text, layout=False)

    def _tell_masthead(self) -> None:
        if not self.stands or not self.is_seen:
            return
        self.board.inform(self.query_one(Masthead))
        if isinstance(self.session, ReplaySession):
            one = self.session
            self.query_one(Slider).put(one.times, one.at, playing=not one.paused, speed=one.speed)

    def _new_look(self, look: Look | None) -> None:
        if not self.is_seen:
            self._look_drawn = None
            return
        self._look_drawn = look
        self._tell_masthead()
        if look is not None and self.stands:
            self.looked(look)
            self.retitle()
        if self.session.live and self.is_current and not self._asking:
            self.inquire()  # an answer that takes longer than a beat is waited for

    @work(exclusive=True, group="fetch")
    async def inquire(self) -> None:
        """Ask what this page asks, and show the answer; an error is a toast, and what was there stays."""
        self._asking += 1
        try:
            answer = await self.session.ask(self.fetch)
        except KcliError as problem:
            self._trouble(problem)
            return
        finally:
            self._asking -= 1
        self.told = self.trouble = ""
        if self.is_there:
            self.fetched(answer)

    def _trouble(self, problem: KcliError) -> None:
        """One toast for one trouble, however many beats it lasts; the masthead shows it as long as it does."""
        self.trouble = f"✖ {printable(str(problem))}"
        kind = type(problem).__name__
        if kind != self.told and not self.board.problem:
            self.board.toast(problem)
        self.told = kind

    @work(group="ask")
    async def ask(self, what: Callable[[Client], Awaitable[Any]], then: Callable[[Any], object]) -> None:
        """One question more; `then` gets the answer."""
        try:
            answer = await self.session.ask(what)
        except KcliError as problem:
            self.board.toast(problem)
            return
        if self.is_there:
            then(answer)

    @property
    def is_there(self) -> bool:
        """Whether there is anything to show an answer on: an answer may come while the page is being taken down."""
        return self.is_mounted and self.stands

    @property
    def stands(self) -> bool:
        """Whether all its parts are there: a look may come while they are made or taken down. Asked at every look, so
        the parts are looked up once and not each time."""
        if not self._parts or not all(part.is_attached for part in self._parts):
            found = [self.query(part) for part in (Masthead, "#heading", Rows, "#filter", "#same-as")]
            self._parts = [parts.first() for parts in found] if all(found) else []
        return bool(self._parts)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """There is no way back from the first screen, except out of its filter."""
        return action != "back" or len(self.app.screen_stack) > 2 or any(one.display for one in self.query("#filter"))

    def action_back(self) -> None:
        shown = [field for field in self.query("#filter").results(Input) if field.display]
        if shown and self.is_mounted:
            shown[0].value = ""
            self._close_filter()
        elif len(self.app.screen_stack) > 2:
            self.app.pop_screen()

    def refused(self, what: str) -> bool:
        """Whether an action cannot be begun here; why not is said in one sentence."""
        sentence = self.session.refusal(what)
        if sentence:
            self.notify(printable(sentence), severity="warning", markup=False)
        return bool(sentence)

    def counted(self) -> list[tuple[str, int]]:
        """What this page keeps, for --debug."""
        return [(f"rows of {rows.id}", len(rows.shown)) for rows in self.query(Rows)][:1]

    def _facts(self) -> list[tuple[str, int]]:
        trails = self.board.trails
        queued = self.board.message_queue_size + self.message_queue_size
        return [*self.counted(), ("points", len(trails) if trails is not None else 0), ("queued", queued)]

    def _compositor_refresh(self) -> None:
        """Textual's own drawing, with a clock beside it when somebody wants to know."""
        begun = time.perf_counter()
        super()._compositor_refresh()
        took = time.perf_counter() - begun
        if self.board.frames is not None and took > DRAWN:
            self.board.frames.add(took)

    def action_save(self) -> None:
        from kcli.tui.actions.saving import save

        try:
            files = save(self.session.name, self.board.look, self.app.export_screenshot(title=f"kcli {self.heading}"))
        except KcliError as problem:
            self.board.toast(problem)
            return
        self.notify("\n".join(files), title="Saved", markup=False)

    def action_window(self, by: int) -> None:
        self.session.widen(by)
        self.notify(f"rates over {self.session.window:g} s", timeout=2, markup=False)

    def action_produce(self) -> None:
        if self.refused("producing"):
            return
        from kcli.tui.dialogs.produce import Produce

        self.app.push_screen(Produce(self.topic_here))

    def action_now(self) -> None:
        self.session.look_now()

    def action_copy(self) -> None:
        self.app.copy_to_clipboard(self.command)
        self.notify(self.command, title="Copied", markup=False)

    # -- the filter ---

    def action_filter(self) -> None:
        field = self.query_one("#filter", Input)
        field.display = True
        field.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        if event.input.id == "filter":
            self.filtered(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.input.id == "filter":
            self._close_filter()

    def filtered(self, words: str) -> None:
        """Hide what a filter does not want."""
        for rows in self.query(Rows):
            rows.wanted = words
        self.retitle()

    def _close_filter(self) -> None:
        field = self.query_one("#filter", Input)
        field.display = bool(field.value)
        for rows in self.query(Rows):
            if rows.is_on_screen:
                rows.focus()
                break
