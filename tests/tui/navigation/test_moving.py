"""Crumbs, back and forward, and the way home: never more than four steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from kcli.model import TopicPartition
from kcli.tui import routes
from kcli.tui.app import Dashboard
from kcli.tui.navigation.visits import KEPT, Visits
from kcli.tui.screens.page import LEAST, Crumbs, Page, trail
from kcli.tui.tail import Seen
from tests.tui.conftest import seen, shows, until

if TYPE_CHECKING:
    from tests.tui.conftest import Open

pytestmark = pytest.mark.long


def pages(board: Any) -> list[str]:
    return [type(one).__name__ for one in board.screen_stack if isinstance(one, Page)]


def test_what_is_ahead_is_forgotten_by_going_elsewhere() -> None:
    visits, home = Visits(), (routes.Groups(),)
    for stack in (home, (*home, routes.Group("a")), (*home, routes.Topic("t")), (*home, routes.Topic("t"))):
        visits.note(stack)
    assert len(visits) == 3, "the same twice is one visit"
    assert visits.move(-1) == (*home, routes.Group("a"))
    assert visits.move(1) == (*home, routes.Topic("t"))
    assert visits.move(1) is None
    visits.move(-1)
    visits.note((*home, routes.Brokers()))
    assert visits.move(1) is None
    assert visits.move(-1) == (*home, routes.Group("a"))


def test_visits_are_few_and_hold_no_record() -> None:
    visits, value = Visits(), Seen(1, "t", 0, 1, 0, None, b"x" * 10_000_000, ())
    for n in range(3 * KEPT):
        visits.note([routes.Groups(), routes.Topic(f"t{n}"), routes.Record("t", 0, n, value)])
    assert len(visits) == KEPT
    assert not any(isinstance(route, routes.Record) for route in visits.now)


def test_crumbs_keep_the_last_pieces() -> None:
    at = TopicPartition("orders", 3)
    stack = [routes.Groups(), routes.Group("billing"), routes.Records(("orders",), around=(at, 7))]

    def drawn(room: int) -> str:
        return " ▸ ".join(text for text, _ in trail("prod", stack, room))

    assert drawn(80) == "prod ▸ groups ▸ billing ▸ orders[3]"
    assert drawn(30) == "… ▸ billing ▸ orders[3]"
    assert drawn(22) == "… ▸ orders[3]"
    assert drawn(5) == "…"
    assert trail("prod", stack, 0) == []
    assert trail("prod", [routes.Group("x" * 60)], 200)[-1][0] == f"{'x' * 12}…{'x' * 11}"
    assert trail("p", [routes.Groups(), routes.Group("a\x1bb")], 80)[-1][0] == "a\\x1bb"


async def test_crumbs_go_back_and_forward(dashboard: Open) -> None:
    async with dashboard(size=(120, 32)) as pilot:
        board = pilot.app
        assert isinstance(board, Dashboard)
        await shows(pilot, "ORPHANED")
        assert "▸ groups" not in seen(pilot), "the first page needs no crumbs"
        await pilot.press("down", "enter")
        await shows(pilot, "▸ groups ▸ fraud")
        await pilot.press("enter")
        await shows(pilot, "▸ fraud ▸ payments[")
        await pilot.press("ctrl+t")
        await shows(pilot, "▸ groups ▸ topics")
        assert pages(board) == ["Groups", "Topics"], "a jump begins a trail of its own"
        await pilot.press("ctrl+left")
        await shows(pilot, "▸ fraud ▸ payments[")
        assert pages(board) == ["Groups", "Group", "Records"]
        await pilot.press("backspace")
        await until(pilot, lambda: pages(board) == ["Groups", "Group"])
        await pilot.press("ctrl+right", "ctrl+right")
        await until(pilot, lambda: pages(board) == ["Groups", "Topics"])
        await pilot.press("ctrl+right")
        await pilot.pause(0.1)
        assert pages(board) == ["Groups", "Topics"], "there is nothing ahead"


async def test_the_first_page_has_no_crumbs_nor_has_one_without_room(dashboard: Open) -> None:
    async with dashboard(size=(110, 30)) as pilot:
        crumbs = pilot.app.screen.query_one(Crumbs)
        assert crumbs._pieces == []
        stack = [routes.Groups(), routes.Group("billing")]
        for room, there in ((LEAST, False), (LEAST + 1, True), (80, True)):
            crumbs.put("prod", stack, room)
            assert bool(crumbs._pieces) == there
        crumbs.put("prod", stack[:1], 80)
        assert crumbs._pieces == []


async def test_a_click_on_a_crumb_goes_there(dashboard: Open) -> None:
    async with dashboard(size=(120, 32)) as pilot:
        await shows(pilot, "ORPHANED")
        await pilot.press("down", "enter")
        await shows(pilot, "Group fraud")
        await pilot.press("enter")
        await shows(pilot, "▸ fraud ▸ payments[")
        await pilot.click("#crumbs", offset=(pilot.app.screen.query_one("#crumbs").size.width - 20, 0))
        await until(pilot, lambda: pages(pilot.app) == ["Groups", "Group"])


async def test_four_times_escape_is_home_from_everywhere(dashboard: Open) -> None:
    async with dashboard(size=(120, 32)) as pilot:
        board = pilot.app
        assert isinstance(board, Dashboard)
        await shows(pilot, "ORPHANED")
        for route in (routes.Group("fraud"), routes.Topic("payments"), routes.Group("audit"), routes.Topic("orders"),
                      routes.Group("billing"), routes.Brokers(), routes.Broker(1)):  # fmt: skip
            board.go(route)
            await until(pilot, lambda route=route: getattr(board.screen, "route", None) == route)  # type: ignore[misc]
        for _ in range(4):
            await pilot.press("escape")
            await pilot.pause()
        await until(pilot, lambda: pages(board) == ["Groups"])
