"""The application: the state of one cluster, and the screens that were opened on top of one another."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.app import App
from textual.events import Event, Key
from textual.notifications import Notify
from textual.screen import Screen
from textual.widgets import Input, TextArea

from kcli import watchdog
from kcli.errors import KcliError
from kcli.tui.actions.keys import EVERYWHERE
from kcli.tui.actions.palette import Everything
from kcli.tui.alerts.alerting import Alerting, AlertToast, toast
from kcli.tui.beat.leaving import Leaving, cut, ended, under_way
from kcli.tui.messages import (
    Changed,
    ChangeProfile,
    Connected,
    Go,
    Inspected,
    KeepProfile,
    Noted,
    Reported,
    SnapshotArrived,
    SnapshotFailed,
    StateUpdated,
    TopicsListed,
    Unseen,
    posting,
)
from kcli.tui.navigation.key_order import KeyOrder, KeyPassed
from kcli.tui.navigation.rewinding import Rewinding, Rewound
from kcli.tui.navigation.visits import Visits
from kcli.tui.pages import page_of
from kcli.tui.replay import ReplaySession
from kcli.tui.routes import Groups, Route, Topics, find
from kcli.tui.screens.page import Page
from kcli.tui.state import State, Trouble
from kcli.tui.text.formatting import status
from kcli.tui.text.printable import LONG, printable
from kcli.tui.themes import THEMES
from kcli.tui.widgets.frames import Frames
from kcli.tui.widgets.masthead import Masthead
from kcli.tui.widgets.slider import Slider

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rich.console import RenderableType
    from textual.actions import ActionParseResult
    from textual.binding import Binding
    from textual.command import Provider
    from textual.dom import DOMNode
    from textual.driver import Driver

    from kcli.client import Client
    from kcli.tui.actions.palette import Choice
    from kcli.tui.alerts.alerting import Ways
    from kcli.tui.dialogs.command import Command
    from kcli.tui.session import Session


LEAVE = (
    b"\x1b[?7h\x1b[<u\x1b[?2048l\x1b[?2004l\x1b[?1004l\x1b[?1015l\x1b[?1006l\x1b[?1003l\x1b[?1000l\x1b[?1049l\x1b[?25h"
)
"""What gives a terminal back that Textual no longer can: lines, keys, sizes, paste, focus, mouse, screen, cursor."""
UPWARDS = 4
"""Steps that lead from every page to the first."""
LEAVING = ("back", "dismiss", "dismiss(None)")
"""Actions that leave a screen."""


class Dashboard(App[int]):
    """`kcli tui`. The session fills the state; messages tell the pages that it changed, and they read it."""

    TITLE = "kcli"
    CSS_PATH = Path(__file__).with_name("dashboard.tcss")
    ENABLE_COMMAND_PALETTE = True
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {Everything}
    BINDINGS = EVERYWHERE

    def __init__(
        self,
        session: Session,
        *,
        place: Route | None = None,
        keymap: dict[str, str] | None = None,
        theme: str = "kcli-dark",
        profiles: dict[str, Callable[[], Session]] | None = None,
        debug: bool = False,
        ways: Ways | None = None,
        tour: bool = False,
    ) -> None:
        """`tour`: begin with the five steps of the tour."""
        super().__init__()
        self._profiles = profiles or {}
        self.state = State(session, self._profiles, Frames() if debug else None)
        self._place = place
        self._keymap_given = keymap or {}
        for each in THEMES:
            self.register_theme(each)
        self.set_reactive(App.theme, theme)
        self.stylesheet.set_variables(self.get_css_variables())
        self._tour = tour
        self._clashes: set[str] = set()
        self._deafen: Callable[[], None] | None = None
        self._leaving = Leaving(LEAVE)
        self.visits = Visits()
        self._keys = KeyOrder(self, super().on_event)
        self._rewinding = Rewinding(self, self.state, lambda: self.pages, self._reopen)
        self._alerting = Alerting(self, self.state, ways, lambda sequence: self.write_out(sequence))

    def get_driver_class(self) -> type[Driver]:
        """Textual's, with a way out of a terminal that went away."""
        found = super().get_driver_class()
        if found.__name__ != "LinuxDriver":
            return found
        from kcli.tui.beat.leaving import TerminalDriver

        return TerminalDriver

    def on_resize(self) -> None:
        forget = getattr(self._driver, "forget", None)
        if forget is not None:
            forget()

    @property
    def session(self) -> Session:
        """Where the data come from."""
        return self.state.session

    async def on_mount(self) -> None:
        self.set_keymap(self._keymap_given)
        if self._keymap_given:
            from kcli.tui.actions.keys import taken

            for sentence in taken(self._keymap_given):
                self.notify(sentence, severity="warning", markup=False, timeout=LONG)
        self._heed_signals()
        await self.push_screen(page_of(Groups(), self.state))
        if self._place not in (None, Groups()):
            await self.push_screen(page_of(self._place, self.state))
        self._note()
        self.run_worker(self.session.open(posting(self.session, self.post_message)), name="open")
        if self._tour:
            self._show_step(0)

    def _show_step(self, number: int | None) -> None:
        """A step of the tour; None ends it."""
        if number is not None:
            self.run_worker(self._open_step(number), name="tour", group="tour", exclusive=True)

    async def _open_step(self, number: int) -> None:
        """The page that a step is about, and the step before it."""
        from kcli.tui.navigation.tour import STEPS, Tour

        await self._open_only(self._way_to(STEPS[number].place(self.state.snapshot)))
        self.push_screen(Tour(number), self._show_step)

    def handle_bindings_clash(self, clashed_bindings: set[Binding], node: DOMNode) -> None:
        """What is on a key that the keymap file gave to something else, said once."""
        new = {binding.description for binding in clashed_bindings} - self._clashes
        self._clashes |= new
        if new:
            self.notify(f"keys.toml overrides the keys of: {', '.join(sorted(new))}", severity="warning", markup=False)

    def on_change_profile(self, message: ChangeProfile) -> None:
        """Open another cluster; the same one again, while it waits, is cancelled."""
        if message.name == self.state.waits:
            self.post_message(KeepProfile(message.name))
        else:
            self.run_worker(self._change_profile(message.name), name="change", group="profile", exclusive=True)

    def on_keep_profile(self, message: KeepProfile) -> None:
        """It may be open by now, or be opening: then it stays so."""
        if message.name == self.state.waits:
            self.workers.cancel_group(self, "profile")
            self.notify(f"{printable(message.name)} is not opened.", markup=False, timeout=3)

    async def _change_profile(self, name: str) -> None:
        """Not before a change of this cluster has ended: to close its session would cut it. The secrets of the other
        one are looked up beside the screens: a command or a keyring may take its time."""
        await self._wait(name)
        try:
            fresh = await asyncio.to_thread(self._profiles[name])
        except KcliError as problem:
            toast(self, problem)
            return
        try:
            await self._wait(name)  # a change may have begun meanwhile
        except BaseException:
            await fresh.close()  # another change of the profile took the place of this one
            raise
        await self._change_session(fresh)

    async def _wait(self, name: str) -> None:
        """Until no change is under way; until then the profile can be cancelled."""
        if under_way(self.workers):
            words = f"A change is under way: {printable(name)} opens when it has ended; escape cancels this."
            self.notify(words, severity="warning", markup=False, timeout=LONG)
            self._offer_way_back(name)
        try:
            await ended(self.workers)
        finally:
            if self.state.waits == name:
                self._offer_way_back("")

    def _offer_way_back(self, name: str) -> None:
        """From a profile that waits; "" takes the offer away."""
        self.state.waits = name
        for page in self.pages:
            page.refresh_bindings()

    async def _change_session(self, fresh: Session) -> None:
        for group in ("rewind", "move", "default"):  # what is being opened is of the old one
            self.workers.cancel_group(self, group)
        old, self.state.session = self.session, fresh
        await old.close()
        while len(self.screen_stack) > 2:
            await self.pop_screen()
        self.state.enter(fresh)  # now: until it was closed the old one may have brought another snapshot
        await self.switch_screen(page_of(Groups(), self.state))
        self.visits, self._alerting = Visits(), self._alerting.of_another_cluster()
        self._note()
        await fresh.open(posting(fresh, self.post_message))

    def action_timely(self) -> None:
        """Plots show time lag, or lag again."""
        self.state.timely = not self.state.timely
        self._tell(StateUpdated)

    def _heed_signals(self) -> None:
        """A signal to the process, or a closed window, leaves a clean terminal too."""
        if not self.is_headless:
            watchdog.part(LEAVE)
            self._deafen = watchdog.listen(asyncio.get_running_loop(), lambda number: self.exit(128 + number))

    def exit(self, result: int | None = None, return_code: int = 0, message: RenderableType | None = None) -> None:
        """Leave it; what is under way then has two seconds."""
        told = "" if self._exit else cut(self.workers)
        super().exit(result, return_code, message or told or None)
        if self._driver is not None and not self.is_headless:
            self._leaving.begin(return_code if result is None else result, told)

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

    def _tell(self, what: type[StateUpdated | Changed]) -> None:
        """Tell every page that is open."""
        for page in self.screen_stack:
            if isinstance(page, Page):
                page.post_message(what())

    def _is_shown(self, message: Reported) -> bool:
        """Whether it is of the session on the screen; one without a source is."""
        return message.source in (None, self.session)

    def on_snapshot_arrived(self, message: SnapshotArrived) -> None:
        if not self._is_shown(message):
            return
        self.state.trouble = None
        self.state.trails = message.trails
        before, self.state.snapshot = self.state.snapshot, message.snapshot
        if self.session.live:  # a recording rings no bell
            self._alerting.see(message.snapshot)
        self._tell(StateUpdated)
        if before is not None and before is not message.snapshot:
            self.session.free(list(before.groups))

    def on_inspected(self, message: Inspected) -> None:
        if self._is_shown(message) or (isinstance(self.session, Rewound) and message.source is self.session.now):
            self.state.incidents = message.incidents
            self._alerting.inspected(message.incidents, self.session.clock())
            self._tell(Changed)

    def on_unseen(self, message: Unseen) -> None:
        if self._is_shown(message) or (isinstance(self.session, Rewound) and message.source is self.session.now):
            self._alerting.see(message.snapshot)

    def write_out(self, sequence: str) -> None:
        """Send a sequence to the terminal, as the clipboard does."""
        if self._driver is not None:
            self._driver.write(sequence)

    def on_snapshot_failed(self, message: SnapshotFailed) -> None:
        if not self._is_shown(message):
            return
        before = self.state.trouble
        front = self.screen_stack[-1] if self.screen_stack else None  # none while the dashboard is being closed
        if before is None and not (isinstance(front, Page) and front.asking.told):
            toast(self, message.problem)
        since, tries = (before.since, before.tries) if before is not None else (self.session.clock(), 0)
        self.state.trouble = Trouble(printable(str(message.problem)), since, tries + 1, message.again)
        self._tell(Changed)

    def on_notify(self, event: Notify) -> None:
        """An alert takes the place of the one before: the table is not to be covered by them."""
        if not isinstance(event.notification, AlertToast):
            return
        for older in [one for one in self._notifications if isinstance(one, AlertToast)]:
            self._unnotify(older, refresh=False)
            for below in self.screen_stack[:-1]:  # Textual takes it from the screen in front alone
                for shown in below.query("ToastHolder"):
                    if (shown.id or "").endswith(older.identity):
                        shown.remove()

    def on_noted(self, message: Noted) -> None:
        self.notify(printable(message.words), severity="warning", markup=False, timeout=LONG)

    def on_connected(self, message: Connected) -> None:
        if not self._is_shown(message):
            return
        self.state.down = message.down
        if message.cluster_id and message.cluster_id != self.state.cluster_id and self.session.remembers:
            self._alerting.open(message.cluster_id)
        self.state.cluster_id, self.state.brokers = message.cluster_id, message.brokers
        if self.state.topics is None and not (self.pages and isinstance(self.pages[-1].route, Topics)):
            self._learn_topics()
        self._tell(Changed)

    def on_topics_listed(self, message: TopicsListed) -> None:
        if self.state.topics is None:
            self.state.topics = sorted(message.names)

    # -- keys that work everywhere ---

    async def on_event(self, event: Event) -> None:
        if not isinstance(event, Key):
            await super().on_event(event)
        elif not event.is_forwarded:
            await self._keys.take(event)
        else:
            await self._keys.act(event)

    async def on_key_passed(self, message: KeyPassed) -> None:
        await self._keys.passed(message.ticket)

    def action_pause(self) -> None:
        self.session.paused = not self.session.paused
        if not self.session.paused:
            self.session.refresh_now()
        self._tell(Changed)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The keys of a replay are there in a replay only, but for those that go back; its space plays."""
        if action == "step" and self.session.live:
            return parameters in ((-1,), (-12,))
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

    def action_now(self) -> None:
        if not self._rewinding.to_now():
            self.session.refresh_now()

    def action_window(self, by: int) -> None:
        self.session.widen(by)
        self.notify(f"rates over {self.session.window:g} s", timeout=2, markup=False)

    # -- keys of every page ---

    @property
    def _front(self) -> Page:
        """The page in front, whose key was pressed."""
        assert isinstance(self.screen, Page)
        return self.screen

    def action_copy(self) -> None:
        self._front.copy(self._front.command)

    def action_undo(self) -> None:
        """Undo the newest change of this cluster that can be undone and was not, whoever made it with kcli here."""
        from kcli.changes.undo import undoable
        from kcli.tui.dialogs.undo import Undo

        if self._front.refused("undoing"):
            return
        try:
            entries = undoable({self.state.cluster_id or "", self.session.registry_name} - {""})
        except KcliError as problem:
            toast(self, problem)
            return
        if not entries:
            words = "Nothing to undo: the journal has no change of this cluster that can be undone (kcli history)."
            self.notify(words, markup=False, timeout=LONG)
        else:
            self.push_screen(Undo(self.session, entries))

    def action_produce(self) -> None:
        self._front.produce(self._front.topic_here)

    def action_save(self) -> None:
        from kcli.tui.actions.saving import save

        picture = self.export_screenshot(title=f"kcli {self._front.heading}")
        try:
            files = save(self.session.name, self.state.snapshot, picture)
        except KcliError as problem:
            toast(self, problem)
            return
        self.notify("\n".join(files), title="Saved", markup=False)

    def action_play(self) -> None:
        self.action_pause()

    def action_step(self, by: int) -> None:
        self._rewinding.step(by)
        self._tell(Changed)

    def action_faster(self, by: int) -> None:
        if isinstance(self.session, ReplaySession):
            self.session.faster(by)
            self._tell(Changed)

    def on_slider_wanted(self, message: Slider.Wanted) -> None:
        if isinstance(self.session, ReplaySession):
            times = self.session.times
            self.session.go(bisect_right(times, times[0] + message.share * (times[-1] - times[0])) - 1)

    def action_help(self) -> None:
        from kcli.tui.dialogs.help import Help

        self.push_screen(Help(self.screen))

    def action_place(self, name: str) -> None:
        route = find(name)
        if route is not None:
            self.jump(route)

    def action_command(self) -> None:
        from kcli.tui.actions.palette import choices, keys_of_places
        from kcli.tui.dialogs.command import Command

        page = self._front
        others = [name for name in self.state.profiles if name != self.session.name]
        line = Command(self.state.places, choices(self, page, others), keys_of_places(self, page))
        self.push_screen(line, self._chosen)
        self._learn_topics(line)

    def _chosen(self, answer: Route | Choice | None) -> None:
        """The answer of `:`."""
        if isinstance(answer, Route):
            self.jump(answer)
        elif answer is not None:
            self.call_later(answer.do)

    def action_command_palette(self) -> None:
        super().action_command_palette()
        self._learn_topics()

    @work(exclusive=True, group="topics")
    async def _learn_topics(self, line: Command | None = None) -> None:
        """Ask for the names of all topics and the ids of brokers, for `:` and ctrl+p. An error keeps those known."""
        if not self.session.live:
            return

        async def names(client: Client) -> tuple[list[str], list[int]]:
            with self.session.making():
                topics = sorted(await client.cluster.topics())
            return topics, sorted(node.id for node in await client.cluster.nodes())

        try:
            self.state.topics, self.state.numbers = await self.session.ask(names)
        except KcliError:
            return  # the page tells what is wrong with the cluster
        if line is not None:
            line.offer(self.state.places)

    async def on_masthead_only(self, message: Masthead.Only) -> None:
        """The groups, filtered by a status; a click on the same count again shows all."""
        self.jump(Groups())
        self.pages[0].only(status(message.status)[0] if message.status else "")

    def on_go(self, message: Go) -> None:
        if message.jump:
            self.jump(message.route)
        else:
            self.go(message.route)

    # -- the stack of pages ---

    @property
    def pages(self) -> list[Page]:
        """The pages that are open, the first at the bottom."""
        return [screen for screen in self.screen_stack if isinstance(screen, Page)]

    def _note(self) -> None:
        self.visits.note(page.route for page in self.pages)

    def go(self, route: Route) -> None:
        """Open a page on top of the one in front. One that is open already comes to the front again, and what was
        opened from it is left: a place that is visited a hundred times is one page."""
        stack = [page.route for page in self.pages]
        if route in stack:
            self._move(stack[: stack.index(route) + 1])
        else:
            self.push_screen(page_of(route, self.state))
            self._note()

    def jump(self, route: Route) -> None:
        """Open a page on top of the first one: the way home is one step, whatever was open before. One that is open
        already comes to the front again."""
        self._move(self._way_to(route))

    def _way_to(self, route: Route) -> tuple[Route, ...]:
        """The pages from the first to this one."""
        stack = [page.route for page in self.pages]
        return tuple(stack[: stack.index(route) + 1] if route in stack else (stack[0], route))

    def _move(self, stack: Sequence[Route]) -> None:
        self.run_worker(self._open_only(tuple(stack)), name="move", group="move", exclusive=True)

    async def _open_only(self, wanted: tuple[Route, ...]) -> None:
        """Leave what does not belong to a stack, and open what is missing of it."""
        pages = self.pages
        same = next(
            (n for n, (page, route) in enumerate(zip(pages, wanted, strict=False)) if page.route != route),
            min(len(pages), len(wanted)),
        )
        while self.screen is not pages[same - 1]:
            await self.pop_screen()
        for route in wanted[same:]:
            await self.push_screen(page_of(route, self.state))
        self._note()

    async def _reopen(self, routes: Sequence[Route]) -> None:
        """Open the pages of these routes again, the first of which are the groups."""
        while len(self.screen_stack) > 2:
            await self.pop_screen()
        await self.switch_screen(page_of(Groups(), self.state))
        await self._open_only(tuple(routes))

    def action_up(self) -> None:
        """Leave the page in front, and from far below several at once: four steps are always enough."""
        for _ in range(max(1, len(self.pages) - UPWARDS)):
            if len(self.pages) > 1:  # else another cluster is being opened
                self.pop_screen()
        self._note()

    def action_travel(self, by: int) -> None:
        """To the pages that were open before, or after; from a record first to where it was opened."""
        now = self.visits.now
        changed = by < 0 and any(page.route not in now for page in self.pages)
        stack = now if changed else self.visits.move(by)
        if stack is not None:
            self._move(stack)

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
