"""The application: one session, the newest look, and the screens that were opened on top of one another."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import App
from textual.binding import Binding, BindingType
from textual.reactive import reactive
from textual.screen import Screen
from textual.widgets import Input, TextArea

from kcli import watchdog
from kcli.errors import KcliError
from kcli.tui.actions.palette import Actions, Places, Profiles, Themes
from kcli.tui.messages import Connected, Looked, LookFailed
from kcli.tui.replay import ReplaySession
from kcli.tui.routes import find
from kcli.tui.screens.groups import Groups
from kcli.tui.screens.page import Page
from kcli.tui.text.printable import LONG, printable
from kcli.tui.text.trouble import Trouble
from kcli.tui.themes import THEMES
from kcli.tui.widgets.debug import Frames
from kcli.tui.widgets.slider import Slider

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from textual.actions import ActionParseResult
    from textual.command import Provider
    from textual.dom import DOMNode

    from kcli.lag.watch import Look
    from kcli.tui.session import Session, Trails
    from kcli.tui.widgets.masthead import Masthead


LEAVE = (
    b"\x1b[?7h\x1b[<u\x1b[?2048l\x1b[?2004l\x1b[?1004l\x1b[?1015l\x1b[?1006l\x1b[?1003l\x1b[?1000l\x1b[?1049l\x1b[?25h"
)
"""What gives a terminal back that Textual no longer can: lines, keys, sizes, paste, focus, mouse, screen, cursor."""
LEAVING = ("back", "dismiss", "dismiss(None)")
"""Actions that leave a screen."""


class Dashboard(App[int]):
    """`kcli tui`. The screens watch `look`; the session fills it."""

    TITLE = "kcli"
    CSS_PATH = Path(__file__).with_name("dashboard.tcss")
    ENABLE_COMMAND_PALETTE = True
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {Actions, Places, Themes, Profiles}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("comma", "step(-1)", "Earlier", show=False, id="replay.back", key_display=","),
        Binding("full_stop", "step(1)", "Later", show=False, id="replay.on", key_display="."),
        Binding("less_than_sign", "step(-12)", "Much earlier", show=False, id="replay.far_back", key_display="<"),
        Binding("greater_than_sign", "step(12)", "Much later", show=False, id="replay.far_on", key_display=">"),
        Binding("minus", "faster(-1)", "Slower", show=False, id="replay.slower", key_display="-"),
        Binding("plus,equals_sign", "faster(1)", "Faster", show=False, id="replay.faster", key_display="+"),
        Binding("question_mark", "help", "Help", id="app.help", key_display="?"),
        Binding("colon", "command", "Go to", id="app.command", key_display=":"),
        Binding("ctrl+g", "place('groups')", "Groups", show=False, id="app.groups"),
        Binding("ctrl+t", "place('topics')", "Topics", show=False, id="app.topics"),
        Binding("ctrl+b", "place('brokers')", "Brokers", show=False, id="app.brokers"),
        Binding("ctrl+f", "place('faults')", "Sandbox faults", show=False, id="app.faults"),
        Binding("ctrl+p", "command_palette", "Palette", show=False, id="app.palette", priority=True),
        Binding("space", "pause", "Pause", id="app.pause"),
        Binding("space", "play", "Play", id="replay.play"),
        Binding("q", "quit", "Quit", id="app.quit"),
        Binding("ctrl+c", "interrupt", "Quit, or copy what is marked", show=False, id="app.interrupt", priority=True),
        Binding("ctrl+z", "suspend", "To the background", show=False, id="app.suspend", priority=True),
    ]

    look: reactive[Look | None] = reactive(None, always_update=True)
    cluster: reactive[tuple[str | None, int]] = reactive((None, 0))

    def __init__(
        self,
        session: Session,
        *,
        place: Screen[Any] | None = None,
        keymap: dict[str, str] | None = None,
        theme: str = "kcli-dark",
        profiles: dict[str, Callable[[], Session]] | None = None,
        debug: bool = False,
    ) -> None:
        super().__init__()
        self.session = session
        self.trails: Trails | None = None
        self.trouble: Trouble | None = None
        self.began = session.clock()  # when this cluster was first asked
        self.down = 0
        self._place = place
        self._keymap_given = keymap or {}
        self._theme_given = theme
        self.profiles = profiles or {}
        self.frames = Frames() if debug else None
        self.timely = False  # plots and sparklines show time lag instead of lag
        self._clashes: set[str] = set()
        self._deafen: Callable[[], None] | None = None

    async def on_mount(self) -> None:
        for one in THEMES:
            self.register_theme(one)
        self.theme = self._theme_given
        self.set_keymap(self._keymap_given)
        if self._keymap_given:
            from kcli.tui.actions.key_clashes import taken

            for sentence in taken(self._keymap_given):
                self.notify(sentence, severity="warning", markup=False, timeout=LONG)
        self._heed_signals()
        await self.push_screen(Groups())
        if self._place is not None and not isinstance(self._place, Groups):
            await self.push_screen(self._place)
        self.run_worker(self.session.open(self.post_message), name="open")

    def handle_bindings_clash(self, clashed_bindings: set[Binding], node: DOMNode) -> None:
        """What is on a key that the keymap file gave to something else, said once."""
        new = {one.description for one in clashed_bindings} - self._clashes
        self._clashes |= new
        if new:
            self.notify(f"keys.toml takes the keys of: {', '.join(sorted(new))}", severity="warning", markup=False)

    def change_profile(self, name: str) -> None:
        """Leave this cluster for another one."""
        self.run_worker(self._change_profile(name), name="change", exclusive=True)

    async def _change_profile(self, name: str) -> None:
        """Its secrets are looked up beside the screens: a command or a keyring may take its time."""
        try:
            fresh = await asyncio.to_thread(self.profiles[name])
        except KcliError as problem:
            self.toast(problem)
            return
        await self._change_session(fresh)

    async def _change_session(self, fresh: Session) -> None:
        old, self.session = self.session, fresh
        await old.close()
        while len(self.screen_stack) > 2:
            await self.pop_screen()
        self.trouble, self.trails, self.down, self.began = None, None, 0, fresh.clock()
        self.cluster = (None, 0)
        self.look = None
        await self.switch_screen(Groups())
        await fresh.open(self.post_message)

    def action_timely(self) -> None:
        """Plots show time lag, or lag again."""
        self.timely = not self.timely
        self.mutate_reactive(Dashboard.look)

    def _heed_signals(self) -> None:
        """Who ends the process, or closes its window, gets a clean terminal back too."""
        if not self.is_headless:
            watchdog.part(LEAVE)
            self._deafen = watchdog.listen(asyncio.get_running_loop(), lambda number: self.exit(128 + number))

    async def on_unmount(self) -> None:
        await self.session.close()
        if self._deafen is not None:
            self._deafen()

    def _fatal_error(self) -> None:
        """As Textual's own, for an error of ours: without the values of variables, for there may be secrets in them."""
        from rich.traceback import Traceback

        self._exit_renderables.append(Traceback(show_locals=False, width=100, word_wrap=True))
        self._close_messages_no_wait()

    # -- what the session tells ---

    @property
    def problem(self) -> str:
        """Why the last look could not be made; "" when it could."""
        return self.trouble.problem if self.trouble is not None else ""

    def on_looked(self, message: Looked) -> None:
        self.trouble = None
        self.trails = message.trails
        self.look = message.look

    def on_look_failed(self, message: LookFailed) -> None:
        before = self.trouble
        if before is None and not getattr(self.screen, "told", ""):
            self.toast(message.problem)
        since, tries = (before.since, before.tries) if before is not None else (self.session.clock(), 0)
        self.trouble = Trouble(printable(str(message.problem)), since, tries + 1, message.again)
        self.mutate_reactive(Dashboard.cluster)

    def on_connected(self, message: Connected) -> None:
        self.down = message.down
        self.cluster = (message.cluster_id, message.brokers)

    def inform(self, masthead: Masthead) -> None:
        """Tell a masthead what it shows."""
        masthead.profile, masthead.guard = printable(self.session.name), self.session.guard
        masthead.cluster_id, masthead.brokers = self.cluster
        masthead.down = self.down
        masthead.live = self.session.live
        masthead.now = self.session.clock
        masthead.look, masthead.problem, masthead.paused = self.look, self.problem, self.session.paused
        masthead.refresh()

    def toast(self, problem: KcliError) -> None:
        """Say what went wrong and go on."""
        self.notify(printable(str(problem)), severity="error", markup=False)

    # -- keys that work everywhere ---

    def action_pause(self) -> None:
        self.session.paused = not self.session.paused
        if not self.session.paused:
            self.session.look_now()
        self.mutate_reactive(Dashboard.cluster)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The keys of a replay are there in a replay only, and its space plays."""
        if action in ("step", "faster", "play"):
            return not self.session.live
        return action != "pause" or self.session.live

    async def run_action(
        self,
        action: str | ActionParseResult,
        default_namespace: DOMNode | None = None,
        namespaces: Mapping[str, DOMNode] | None = None,
    ) -> bool:
        """A key that is typed before its screen is made does nothing there; what leaves it waits until it is made."""
        if isinstance(default_namespace, Screen) and not default_namespace.is_mounted:
            if action in LEAVING:
                default_namespace.call_later(self.run_action, action, default_namespace, namespaces)
            return True
        return await super().run_action(action, default_namespace, namespaces)

    def action_play(self) -> None:
        self.action_pause()

    def action_step(self, by: int) -> None:
        if isinstance(self.session, ReplaySession):
            self.session.step(by)

    def action_faster(self, by: int) -> None:
        if isinstance(self.session, ReplaySession):
            self.session.faster(by)
            self.mutate_reactive(Dashboard.cluster)

    def on_slider_wanted(self, message: Slider.Wanted) -> None:
        if isinstance(self.session, ReplaySession):
            times = self.session.times
            self.session.go(bisect_right(times, times[0] + message.share * (times[-1] - times[0])) - 1)

    def action_help(self) -> None:
        from kcli.tui.dialogs.help import Help

        self.push_screen(Help(self.screen))

    def action_place(self, name: str) -> None:
        where = find(name)
        if where is not None:
            self.go(where)

    def action_command(self) -> None:
        from kcli.tui.dialogs.command import Command

        self.push_screen(Command(), lambda where: None if where is None else self.go(where))

    def go(self, where: Screen[Any]) -> None:
        """Open a page. One that is open already comes to the front again, and what was opened from it is left: a place
        that is visited a hundred times is one page."""
        place = where.place if isinstance(where, Page) else None
        there = [one for one in self.screen_stack if isinstance(one, Page) and one.place == place]
        if there:
            self.run_worker(self._back_to(there[0]), name="back", group="back", exclusive=True)
        else:
            self.push_screen(where)

    async def _back_to(self, page: Page) -> None:
        while self.screen is not page and page in self.screen_stack:
            await self.pop_screen()

    def action_interrupt(self) -> None:
        """ctrl+c, wherever one types: what is marked is copied; where nothing is, it ends the dashboard."""
        field = self.focused
        if isinstance(field, (Input, TextArea)) and field.selected_text:
            field.action_copy()
        elif self.screen.get_selected_text():
            self.screen.action_copy_text()
        else:
            self.exit(0)

    def action_suspend(self) -> None:
        """ctrl+z: to the background, or back one step where text is edited."""
        if isinstance(self.focused, TextArea) and not self.focused.read_only:
            self.focused.undo()
        else:
            self.action_suspend_process()
