"""Sixty jumps between pages leave nothing behind: no page, no widget, no timer, no task, and no work while idle."""

from __future__ import annotations

import asyncio
import gc
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from textual.dom import DOMNode
from textual.timer import Timer
from textual.worker import Worker

from kcli.tui import routes
from kcli.tui.app import Dashboard
from tests.tui.conftest import shows, until

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from tests.tui.conftest import Open

WARM, JUMPS = 16, 60
PLACES = ("topics", "topic orders", "brokers", "broker 1", "group fraud", "heatmap", "records orders", "groups")
QUIET = 1.0
"""Seconds in which idle work is counted."""
SLACK = 20
"""Callbacks of the loop more than before that are no sign of anything: a page's timer may fall into either second."""


def alive() -> Counter[str]:
    """What pages are made of, by type; not the library's caches, the sandbox of the test, nor the routes of visits, of
    which few are kept (test_moving.py)."""
    gc.unfreeze()
    gc.collect()
    kinds = (DOMNode, Timer, Worker, asyncio.Task)
    every = [type(one) for one in gc.get_objects() if isinstance(one, kinds) or _is_ours(type(one))]
    return Counter(f"{kind.__module__}.{kind.__qualname__}" for kind in every)


def _is_ours(kind: type[Any]) -> bool:
    name = str(kind.__module__)
    return name.startswith(("kcli.tui", "kcli.consumer", "kcli.lag", "kcli.admin")) and name != routes.__name__


async def jump(pilot: Pilot[int], many: int) -> None:
    """By `:`, by a row, back as in a browser, and by escape; the last page is the first one."""
    board = pilot.app
    assert isinstance(board, Dashboard)

    async def there(route: routes.Route | None = None) -> None:
        await until(
            pilot,
            lambda: (
                not any(worker.group == "move" and not worker.is_finished for worker in board.workers)
                and board.screen.is_mounted
                and route in (None, board.pages[-1].route)
            ),
        )

    for number in range(many):
        place = PLACES[number % len(PLACES)]
        match number % 4:
            case 0 | 1:
                board.action_place(place)
                await there(routes.find(place))
            case 2:
                await pilot.press("enter")
                await there()
                await pilot.press("escape")
                await there()
            case 3:
                await pilot.press("ctrl+left")
                await there()
    board.action_place("groups")
    await there(routes.Groups())


async def idle(board: Dashboard, patch: pytest.MonkeyPatch) -> int:
    """How often the loops of the screens and of the client turn to something while nobody does anything."""
    ran: list[Any] = []
    run = asyncio.events.Handle._run

    def counted(handle: Any) -> None:
        if handle._loop in (asyncio.get_running_loop(), board.session._thread._loop):  # type: ignore[attr-defined]
            ran.append(handle)
        run(handle)

    with patch.context() as inside:
        inside.setattr(asyncio.events.Handle, "_run", counted)
        await asyncio.sleep(QUIET)
    return len(ran)


@pytest.mark.long
async def test_sixty_jumps_leave_nothing_behind(dashboard: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    async with dashboard(size=(120, 32), interval=3600.0) as pilot:
        board = pilot.app
        assert isinstance(board, Dashboard)
        await shows(pilot, "ORPHANED")
        await jump(pilot, WARM)
        await until(pilot, lambda: len([one for one in alive() if one.startswith("kcli.tui.screens")]) <= 2)
        before, work = alive(), await idle(board, monkeypatch)
        await jump(pilot, JUMPS)
        await until(pilot, lambda: not alive() - before, 15.0)
        assert await idle(board, monkeypatch) <= work + SLACK
