"""Back from the live view to what it showed before, on the same screens as a recording, and on to now again."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kcli.tui.messages import posting
from kcli.tui.replay import Recording, ReplaySession
from kcli.tui.session import LiveSession
from kcli.tui.widgets.filter import Filter
from kcli.tui.widgets.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from contextlib import AbstractContextManager

    from textual.app import App
    from textual.worker import Worker

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
    leaves = "ctrl+r: now"
    waits = "going back …"

    def __init__(self, now: LiveSession, back: int) -> None:
        super().__init__(Recent(now.kept), window=now.window)
        self.now = now
        self.name, self.aim, self.guard, self.bootstrap = now.name, now.aim, now.guard, now.bootstrap
        self.registry_option = now.registry_option
        self.to = max(0, len(self.times) - 1 - back)

    async def open(self, post: Post) -> None:
        self.begin(post, self.to)

    def command(self, words: str, narrowed: str) -> str:
        return self.now.command(words, narrowed)

    async def events(self, group: str) -> list[Event]:
        return [event for event in await self.now.events(group) if event.time <= self.clock()]

    def refusal(self, what: str) -> str:
        return f"The screen shows the past: {what} needs the live cluster (ctrl+r returns to it)."

    def making(self) -> AbstractContextManager[None]:
        return self.now.making()

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
        self._wanted: Session | None = None  # to be shown, by the worker
        self._worker: Worker[None] | None = None

    @property
    def _ahead(self) -> Session:
        """What is shown, or is going to be once its pages are open."""
        opening = self._worker is not None and not self._worker.is_finished
        return self._wanted if opening and self._wanted is not None else self._state.session

    def step(self, by: int) -> None:
        """Move by that many snapshots: from now into the past, within a recording, and from the past to now."""
        session = self._ahead
        if isinstance(session, Rewound) and by > 0 and session.to + by >= len(session.times):
            self.to_now()
        elif isinstance(session, ReplaySession):
            session.step(by)
        elif isinstance(session, LiveSession) and len(session.kept) >= ENOUGH:
            self._begin(Rewound(session, -by))
        else:
            self._app.notify("Nothing older was seen yet.", timeout=3, markup=False)

    def to_now(self) -> bool:
        """Show the cluster as it is now; whether the screen was in the past."""
        session = self._ahead
        if not isinstance(session, Rewound):
            return False
        self._begin(session.now)
        return True

    def _begin(self, session: Session) -> None:
        """Show another session; where pages are being opened for one, when they are all open: else some were lost."""
        self._wanted = session
        if self._worker is None or self._worker.is_finished:
            self._worker = self._app.run_worker(self._turn(), name="rewind", group="rewind")

    async def _turn(self) -> None:
        while (session := self._wanted) is not None:
            if session is not self._state.session:
                await self._show(session)
            if self._wanted is session:
                self._wanted = None

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
        look = self._state.snapshot
        self._state.turn(session)
        await self._reopen(routes)
        if self._state.session is not session:
            return
        if isinstance(before, Rewound) and look is not None:
            session.free(list(look.groups))
        del look
        for page, view in zip(self._pages(), views, strict=False):
            _resume(page, view)
        if isinstance(session, LiveSession):
            session.resume(posting(session, self._app.post_message))
        else:
            await session.open(posting(session, self._app.post_message))


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
