"""Back from the live view to what it showed before, on the same screens as a recording, and on to now again."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kcli.tui.replay import Recording, ReplaySession
from kcli.tui.session import LiveSession
from kcli.tui.widgets.filter import Filter
from kcli.tui.widgets.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from textual.app import App

    from kcli.lag.events import Event
    from kcli.tui.beat.kept import Kept
    from kcli.tui.routes import Route
    from kcli.tui.screens.page import Page
    from kcli.tui.session import Post, Session
    from kcli.tui.state import State

ENOUGH = 2
"""Snapshots without which there is nothing to go back to."""


class Recent(Recording):
    """The snapshots that a live session kept, as they are now."""

    def __init__(self, kept: Kept) -> None:
        self.path, self.unfinished = Path(), False
        self._lines = kept.lines()
        self.times = [time for time, _ in self._lines]

    def line(self, number: int) -> str:
        return zlib.decompress(self._lines[number][1]).decode()


class Rewound(ReplaySession):
    """What a live session saw, from `back` snapshots before the newest one. The live session, `now`, watches the
    cluster meanwhile."""

    word = "REWOUND"
    lacks = "Not of the past"

    def __init__(self, now: LiveSession, back: int) -> None:
        super().__init__(Recent(now.kept), window=now.window)
        self.now = now
        self.name, self.aim, self.guard, self.bootstrap = now.name, now.aim, now.guard, now.bootstrap
        self.registry_option = now.registry_option
        self._first = len(self.times) - 1 - back

    async def open(self, post: Post) -> None:
        self.begin(post, self._first)

    def command(self, words: str, narrowed: str) -> str:
        return self.now.command(words, narrowed)

    async def events(self, group: str) -> list[Event]:
        return [event for event in await self.now.events(group) if event.time <= self.clock()]

    def refusal(self, what: str) -> str:
        return f"The screen shows the past: {what} needs the cluster of now (ctrl+r goes there)."

    async def stop(self) -> None:
        """End the replay, but not the live session."""
        await super().close()

    async def close(self) -> None:
        await self.stop()
        await self.now.close()


class View(NamedTuple):
    """What of a page is the same at another time: its filter, the key of the row under the cursor, the open tab."""

    words: str
    at: object
    tab: str


class Rewinding:
    """What the keys of a replay do on a dashboard, and on a live one. `pages` are those that are open, `reopen` makes
    them again."""

    def __init__(
        self,
        app: App[int],
        state: State,
        pages: Callable[[], Sequence[Page]],
        reopen: Callable[[Sequence[Route]], Awaitable[None]],
    ) -> None:
        self._app = app
        self._state = state
        self._pages = pages
        self._reopen = reopen

    def step(self, by: int) -> None:
        """Move by that many snapshots: from now into the past, within a recording, and from the past to now."""
        session = self._state.session
        if isinstance(session, Rewound) and by > 0 and session.at + by >= len(session.times):
            self.to_now()
        elif isinstance(session, ReplaySession):
            session.step(by)
        elif isinstance(session, LiveSession) and len(session.kept) >= ENOUGH:
            self._begin(Rewound(session, -by))
        else:
            self._app.notify("Nothing older was seen yet.", timeout=3, markup=False)

    def to_now(self) -> bool:
        """Show the cluster as it is now; whether the screen was in the past."""
        session = self._state.session
        if not isinstance(session, Rewound):
            return False
        self._begin(session.now)
        return True

    def _begin(self, session: Session) -> None:
        self._app.run_worker(self._show(session), name="rewind", group="rewind", exclusive=True)

    async def _show(self, session: Session) -> None:
        """Open the same pages again, of another time: a recording holds less than a cluster tells. It ends where
        another session took the place of its own meanwhile."""
        before, pages = self._state.session, self._pages()
        if isinstance(before, LiveSession):
            before.mute()
        elif isinstance(before, Rewound):
            await before.stop()
        if self._state.session is not before:
            return
        routes, views = [page.route for page in pages], [_view(page) for page in pages]
        self._state.turn(session)
        await self._reopen(routes)
        if self._state.session is not session:
            return
        for page, view in zip(self._pages(), views, strict=False):
            _resume(page, view)
        if isinstance(session, LiveSession):
            session.resume(self._app.post_message)
        else:
            await session.open(self._app.post_message)


def _view(page: Page) -> View:
    rows = page.query(Rows)
    lines = page.query(Filter)
    return View(lines.first().value if lines else "", rows.first().at if rows else None, page.tab)


def _resume(page: Page, view: View) -> None:
    if view.tab:
        page.action_tab(view.tab)
    for rows in list(page.query(Rows))[:1]:
        rows.at = view.at
    if view.words:
        page.query_one(Filter).put(view.words)
