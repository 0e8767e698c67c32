"""A refresh that costs much is repeated less often, and what is shown says how old it is."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from kcli.tui.app import Dashboard
from kcli.tui.beat.gc_tuning import FREE, SHARE, Pace
from kcli.tui.messages import SnapshotArrived
from kcli.tui.screens.page import late
from kcli.tui.screens.topics.topics import Topics
from tests.tui.conftest import seen, shows, until, visit
from tests.tui.world import World, a_world

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with a_world() as one:
        yield one


def costly(pace: Pace, cost: float = 3.0) -> None:
    pace.add(cost)
    pace.add(cost)


@pytest.mark.parametrize(
    ("costs", "interval"),
    [
        ((), 5.0),
        ((FREE, FREE), 5.0),
        ((3.0,), 5.0),
        ((3.0, 0.01), 5.0),
        ((0.2, 0.2), 0.2 / SHARE),
        ((4.0, 3.0), 300.0),
    ],
)
def test_two_costly_refreshes_stretch_the_interval(costs: tuple[float, ...], interval: float) -> None:
    pace = Pace()
    for cost in costs:
        pace.add(cost)
    assert pace.interval(5.0) == pytest.approx(interval)
    assert pace.interval(1000.0) == 1000.0


def test_computing_is_counted_and_waiting_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([10.0, 11.0, 20.0, 22.0, 30.0, 30.5])
    monkeypatch.setattr("kcli.tui.beat.gc_tuning.time.thread_time", lambda: next(clock))
    pace = Pace()
    for _ in range(2):
        with pace.measured():
            pass
    assert pace.interval(5.0) == pytest.approx(1.0 / SHARE)
    with pace.continued():
        pass
    pace.add(9.0)
    assert pace.interval(5.0) == pytest.approx(2.5 / SHARE)


async def test_a_costly_snapshot_rests_and_is_not_called_late(world: World) -> None:
    looks: list[SnapshotArrived] = []
    async with world.open(interval=0.05) as pilot:
        board: Any = pilot.app
        post = board.session._post

        def counted(message: object) -> None:
            if isinstance(message, SnapshotArrived):
                looks.append(message)
            post(message)

        board.session._post = counted
        await until(pilot, lambda: len(looks) > 2)
        costly(board.session.pace)
        board.session.pace.add = lambda cost: None
        before = len(looks)
        board.session.refresh_now()
        await until(pilot, lambda: len(looks) > before)
        await asyncio.sleep(0.5)
        assert len(looks) <= before + 2  # one was under way
        board.state.snapshot.time -= 100
        assert late(board.state) == ""
        board.session.pace._costs = (0.0, 0.0)
        assert "No answer for 1m4" in late(board.state)


async def test_a_costly_page_asks_seldom_says_its_age_and_asks_when_told_to(world: World) -> None:
    async with world.open(interval=0.05, size=(140, 30)) as pilot:
        page: Any = await visit(pilot, "topics")
        asked: list[object] = []
        fetch = page.fetch

        async def counted(client: Any) -> Any:
            asked.append(client)
            return await fetch(client)

        page.fetch = counted
        await until(pilot, lambda: len(asked) > 2)
        assert " old" not in seen(pilot)
        await until(pilot, lambda: not page.asking.busy)
        costly(page.asking._pace)  # after the last cheap one, which would count
        page.asking._pace.add = lambda cost: None
        asked.clear()
        await shows(pilot, " old (ctrl+r: now)")
        await asyncio.sleep(0.3)
        assert not asked
        await pilot.press("ctrl+r")
        await until(pilot, lambda: len(asked) == 1)
        await asyncio.sleep(0.3)
        assert len(asked) == 1


async def test_a_page_that_is_left_does_not_wait_for_its_answer(world: World) -> None:
    async with world.open(interval=3600.0) as pilot:
        ended = asyncio.Event()
        begun = asyncio.Event()
        loop = asyncio.get_running_loop()

        async def slow(client: Any) -> Any:
            loop.call_soon_threadsafe(begun.set)
            try:
                await asyncio.sleep(60)
            finally:
                loop.call_soon_threadsafe(ended.set)

        board = pilot.app
        assert isinstance(board, Dashboard)
        page = await visit(pilot, "topics")
        assert isinstance(page, Topics)
        await shows(pilot, "orders")
        page.fetch = slow  # type: ignore[method-assign]
        page.inquire()
        await asyncio.wait_for(begun.wait(), 20)
        await pilot.press("question_mark")
        await shows(pilot, "Keys")
        assert not ended.is_set(), "a dialog leaves no page"
        await pilot.press("escape")
        await visit(pilot, "topic orders")
        await asyncio.wait_for(ended.wait(), 20)
