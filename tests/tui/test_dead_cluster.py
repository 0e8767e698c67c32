"""A cluster that cannot be reached is not an empty one, and a broker that is paused is told after two beats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from kcli.errors import ConnectError
from kcli.lag.watch import LagSnapshot
from kcli.sandbox.faults.planned import FOREVER
from kcli.settings import ClientSettings, parse_bootstrap
from kcli.tui.app import Dashboard
from kcli.tui.messages import SnapshotFailed
from kcli.tui.screens.page import card
from kcli.tui.session import LiveSession
from kcli.tui.state import State, Trouble
from kcli.tui.widgets.rows import Rows
from tests.ports import free_port
from tests.tui.conftest import seen, shows, until, visit
from tests.tui.world import World, a_world

if TYPE_CHECKING:
    from collections.abc import Iterator

QUICK: dict[str, Any] = {"connect_timeout": 0.3, "deadline": 0.5, "request_timeout": 0.5}
EMPTY = ("No groups yet", "No topics yet", "No broker known", "Groups (0)", "Topics (0)", "Brokers (0)")


def at(port: int) -> ClientSettings:
    return ClientSettings(bootstrap=parse_bootstrap(f"127.0.0.1:{port}"))


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_nobody_sees_an_empty_list_on_a_dead_cluster(size: tuple[int, int]) -> None:
    port = free_port()
    session = LiveSession(at(port).replace(**QUICK), name="prod", aim="--profile prod", interval=5.0)
    app = Dashboard(session, profiles={"prod": lambda: session, "test": lambda: session})
    async with app.run_test(size=size) as pilot:
        text = await shows(pilot, "Connecting to prod")
        assert not any(words in text for words in EMPTY)
        text = await shows(pilot, "✖ prod cannot be reached: ")
        assert "connection refused" in text
        assert f"tried       127.0.0.1:{port}, 1 time in " in text
        assert "(ctrl+r: now)" in text
        assert "which step  kcli doctor --profile prod" in text
        assert "elsewhere   test (ctrl+p, Profile)" in text
        assert "a sandbox   kcli demo" in text
        assert not any(words in text for words in EMPTY)
        for key, title in (("ctrl+t", "Topics"), ("ctrl+b", "Brokers")):
            await pilot.press(key)
            text = await shows(pilot, title)
            await until(pilot, lambda: pilot.app.screen.query_one(Rows).waiting)
            text = await shows(pilot, "connection refused")
            assert not any(words in text for words in EMPTY)
            assert f"{title} (0)" not in text
        await pilot.press("ctrl+r")
        await until(pilot, lambda: app.state.trouble is not None and app.state.trouble.tries > 1)


async def test_a_cluster_that_comes_takes_the_card_away() -> None:
    port = free_port()
    app = Dashboard(LiveSession(at(port).replace(**QUICK), interval=0.2))
    async with app.run_test(size=(120, 30)) as pilot:
        await shows(pilot, "cannot be reached")
        from kcli.sandbox.thread import SandboxThread

        with SandboxThread(port=port):
            await until(pilot, lambda: app.state.snapshot is not None)
            text = await shows(pilot, "No groups yet")  # now it is true
            assert "cannot be reached" not in text


async def test_the_card_counts_down() -> None:
    session = LiveSession(at(1), interval=5.0)
    now = session.clock()
    state = State(session)
    state.began = now - 4
    session.clock = lambda: now  # type: ignore[method-assign]
    assert card(state).startswith("Connecting to 127.0.0.1:1 … 4s\n")
    state.trouble = Trouble("no", now - 12, 3, now + 4)
    text = card(state)
    assert "3 times in 12s; again in 4s (ctrl+r: now)" in text
    assert "elsewhere" not in text
    state.trouble = Trouble("no", now - 12, 3, now - 1)
    assert "trying now" in card(state)
    await session.close()


@pytest.fixture
def world() -> Iterator[World]:
    with a_world() as one:
        yield one


def tones(rows: Rows) -> set[object]:
    """The colours of the cells of the first row."""
    line = rows._line(rows.shown[0], False, rows.size.width)
    return {part.style.color for part in line if part.style is not None and part.text.strip(" ▌")}


async def test_a_paused_broker_is_told_after_two_beats_and_the_rows_are_dim(world: World) -> None:
    """The request itself runs for half a minute before it fails."""
    async with world.open(size=(120, 30)) as pilot:
        board = pilot.app
        assert isinstance(board, Dashboard)
        await shows(pilot, "billing")
        assert "No answer for" not in seen(pilot)
        assert len(tones(board.screen.query_one(Rows))) > 1
        for api in ("Metadata", "ListGroups", "OffsetFetch", "ListOffsets"):
            world.sandbox.faults.wire.never_answer(api, times=FOREVER)
        text = await shows(pilot, "No answer for")
        assert board.state.problem == ""  # nothing has failed yet
        assert "this is how it was at" in text
        assert "billing" in text
        assert board.screen.query_one(Rows).faded
        assert len(tones(board.screen.query_one(Rows))) == 1
        await visit(pilot, "records orders")
        await shows(pilot, "Asking the cluster")
        assert "Nothing yet" not in seen(pilot)
        world.sandbox.faults.clear()


async def test_a_pause_that_one_asked_for_is_no_trouble(world: World) -> None:
    async with world.open() as pilot:
        board = pilot.app
        assert isinstance(board, Dashboard)
        await shows(pilot, "billing")
        await pilot.press("space")
        await shows(pilot, "PAUSED")
        assert isinstance(board.state.snapshot, LagSnapshot)
        board.state.snapshot.time -= 60.0
        board.screen._beat()  # type: ignore[attr-defined]
        assert "No answer for" not in seen(pilot)
        assert not board.screen.query_one(Rows).faded


async def test_a_look_that_fails_while_the_dashboard_closes_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last screen is gone by then."""
    app = Dashboard(LiveSession(at(free_port()).replace(**QUICK), interval=60.0))
    async with app.run_test():
        with monkeypatch.context() as patch:
            patch.setattr(Dashboard, "screen_stack", [])
            app.on_snapshot_failed(SnapshotFailed(ConnectError("refused")))
        assert app.state.trouble is not None
