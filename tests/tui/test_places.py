"""A place that is visited twice is one page; what is not seen is not drawn; keys end or suspend it anywhere."""

from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING, Any

import pytest
from textual.widgets import Input, TextArea

from kcli.admin.topics.topics import NewTopic, create_topics
from kcli.client import Client
from kcli.model import TopicPartition
from kcli.tui import routes
from kcli.tui.app import Dashboard
from kcli.tui.screens.groups import Groups
from kcli.tui.screens.page import Page
from kcli.tui.screens.topics.topics import Topics
from kcli.tui.tail import Seen
from tests.tui.conftest import shows, until
from tests.tui.world import World, a_world

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kcli.lag.watch import LagSnapshot
    from tests.tui.conftest import Open

pytestmark = pytest.mark.long


def pages(board: Any) -> list[str]:
    return [type(one).__name__ for one in board.screen_stack if isinstance(one, Page)]


async def test_twenty_one_jumps_leave_as_many_pages_as_there_are_places(dashboard: Open) -> None:
    async with dashboard() as pilot:
        for _ in range(7):
            for key, name in (("ctrl+t", "Topics"), ("ctrl+g", "Groups"), ("ctrl+b", "Brokers")):
                await pilot.press(key)
                await until(pilot, lambda name=name: type(pilot.app.screen).__name__ == name)  # type: ignore[misc]
        assert pages(pilot.app) == ["Groups", "Brokers"]
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, Groups))


def test_pages_of_other_things_are_other_places() -> None:
    def seen_as(number: int) -> Seen:
        return Seen(number, "t", 0, 1, 0, None, None, ())

    at = TopicPartition("t", 0)

    def every() -> list[routes.Route]:
        return [
            routes.Topic("a"), routes.Topic("b"), routes.Group("a"), routes.Group("b"), routes.Broker(1),
            routes.Broker(2), routes.Member("a", "m"), routes.Member("b", "m"), routes.Member("a", "n"),
            routes.Records(("a",)), routes.Records(("b",)), routes.Records(("a", "b")), routes.Groups(),
            routes.Records(("t",), around=(at, 5)), routes.Records(("t",), around=(at, 6)), routes.Topics(),
            routes.Record("t", 0, 1, seen_as(1)), routes.Record("t", 0, 2, seen_as(1)),
        ]  # fmt: skip

    assert len(set(every())) == len(every())
    assert every() == every()
    assert routes.Record("t", 0, 1, seen_as(1)) == routes.Record("t", 0, 1, seen_as(2)), "read twice"


async def test_a_group_that_is_opened_from_its_topic_is_the_group_one_came_from(dashboard: Open) -> None:
    async with dashboard() as pilot:
        await shows(pilot, "ORPHANED")
        await pilot.press("down", "enter")
        await shows(pilot, "Group fraud")
        group = pilot.app.screen
        await pilot.press("3", "enter")
        await shows(pilot, "Topic payments")
        await pilot.press("2")
        await shows(pilot, "fraud")
        await pilot.press("colon", *"group fraud", "enter")
        await until(pilot, lambda: pilot.app.screen is group)
        assert pages(pilot.app) == ["Groups", "Group"]
        await pilot.press("colon", *"group audit", "enter")
        await shows(pilot, "Group audit")
        assert pages(pilot.app) == ["Groups", "Group"], "`:` begins at the first page again"


def drawn_snapshots(monkeypatch: pytest.MonkeyPatch) -> list[LagSnapshot]:
    """The snapshots that the list of groups draws from now on."""
    drawn: list[LagSnapshot] = []
    original = Groups.show_snapshot

    def show_snapshot(self: Groups, look: LagSnapshot) -> None:
        drawn.append(look)
        original(self, look)

    monkeypatch.setattr(Groups, "show_snapshot", show_snapshot)
    return drawn


async def test_a_page_that_is_not_seen_draws_no_look_and_catches_up_when_it_is(
    dashboard: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = drawn_snapshots(monkeypatch)
    async with dashboard() as pilot:
        board = pilot.app
        assert isinstance(board, Dashboard)
        await pilot.press("ctrl+t")
        await until(pilot, lambda: isinstance(board.screen, Topics))
        many, look = len(drawn), board.state.snapshot
        await until(pilot, lambda: board.state.snapshot is not look)
        look = board.state.snapshot
        await until(pilot, lambda: board.state.snapshot is not look)
        assert len(drawn) == many
        await pilot.press("ctrl+g")
        await until(pilot, lambda: drawn[-1] is board.state.snapshot)
        assert len(drawn) > many


@pytest.fixture
def world() -> Iterator[World]:
    with a_world() as one:
        yield one


async def test_a_page_that_comes_to_the_front_draws_what_it_missed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = drawn_snapshots(monkeypatch)
    async with world.open(interval=3600.0) as pilot:  # no look comes by itself
        board: Any = pilot.app
        await until(pilot, lambda: bool(drawn))
        await pilot.press("ctrl+t")
        await until(pilot, lambda: isinstance(board.screen, Topics))
        first = board.state.snapshot
        await pilot.press("ctrl+r")
        await until(pilot, lambda: board.state.snapshot is not first)
        assert drawn[-1] is first
        await pilot.press("ctrl+g")
        await until(pilot, lambda: drawn[-1] is board.state.snapshot)


@pytest.mark.parametrize("keys", [(), ("n",), ("r",), ("colon",), ("slash",), ("ctrl+p",)])
async def test_ctrl_c_ends_the_dashboard_wherever_one_types(world: World, keys: tuple[str, ...]) -> None:
    async with world.open() as pilot:
        await shows(pilot, "billing")
        if keys:
            await pilot.press(*keys)
            await until(pilot, lambda: isinstance(pilot.app.focused, (Input, TextArea)) or "r" in keys)
        await pilot.press("ctrl+c")
        await until(pilot, lambda: not pilot.app.is_running)
        assert pilot.app.return_code == 0


async def test_ctrl_c_copies_what_is_marked_in_a_field(world: World) -> None:
    async with world.open() as pilot:
        await shows(pilot, "billing")
        await pilot.press("slash", *"bill", "shift+home")
        await pilot.press("ctrl+c")
        await until(pilot, lambda: pilot.app.clipboard == "bill")
        assert pilot.app.is_running


@pytest.mark.parametrize("keys", [(), ("slash",), ("n",)])
async def test_ctrl_z_suspends_everywhere(world: World, keys: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[int] = []
    async with world.open() as pilot:
        await shows(pilot, "billing")
        await pilot.press(*keys)
        assert pilot.app._driver is not None
        monkeypatch.setattr(type(pilot.app._driver), "can_suspend", True)
        monkeypatch.setattr(os, "kill", lambda pid, number: sent.append(number))
        await pilot.press("ctrl+z")
        await until(pilot, lambda: sent == [signal.SIGTSTP])


async def test_the_line_lists_every_topic_and_refuses_one_that_is_not_there(world: World) -> None:
    async with Client(world.settings()) as client:
        await create_topics(client.cluster, [NewTopic(topic="nobody.reads.this", partitions=1)])
    async with world.open(size=(120, 40)) as pilot:
        await pilot.press("colon", *"readsthis")
        await shows(pilot, "topic nobody.reads.this")
        await pilot.press("tab", "enter")
        await shows(pilot, "written per second")
        await pilot.press("colon", *"topic nonsense")
        await until(pilot, lambda: pilot.app.screen._whole)  # type: ignore[attr-defined]
        await pilot.press("enter")
        await shows(pilot, "There is no topic called nonsense.")
        await pilot.press(*["backspace"] * 8, *"orders", "down", "enter")
        await shows(pilot, "orders")
        await until(pilot, lambda: type(pilot.app.screen).__name__ == "Topic")
        await pilot.press("colon", *"broke")
        await shows(pilot, "brokers")
        await pilot.press("enter")  # the closest place
        await until(pilot, lambda: type(pilot.app.screen).__name__ == "Brokers")
        await pilot.press("colon", *"zzz", "enter")
        await shows(pilot, "There is no place called zzz.")


async def test_the_palette_has_every_topic_and_themes_only_by_name(world: World) -> None:
    async with Client(world.settings()) as client:
        await create_topics(client.cluster, [NewTopic(topic="nobody.reads.this", partitions=1)])
    async with world.open(size=(120, 40)) as pilot:
        await until(pilot, lambda: pilot.app.state.topics is not None)  # type: ignore[attr-defined]
        await pilot.press("ctrl+p")
        text = await shows(pilot, "Copy command")
        assert "Theme " not in text
        await pilot.press(*"nobody.reads")
        await shows(pilot, "Go to topic nobody.reads.this")
        await pilot.press("escape", "ctrl+p", *"theme kcli-light")
        await shows(pilot, "Theme kcli-light")


def test_the_closest_places_come_first() -> None:
    known = ["groups", "topics", "group pay-out", "group payments", "topic payments", "topic p.a.y", "records payments"]
    assert routes.offered("", known, 3) == ["groups", "topics", "group pay-out"]
    assert routes.offered("pay", known, 9) == [
        "group pay-out", "group payments", "topic payments", "records payments", "topic p.a.y",
    ]  # fmt: skip
    words = ["records clicks", "topic border", "records orders", "topic orders", "topic late-orders"]
    assert routes.offered("ord", words, 4) == ["topic orders", "records orders", "topic late-orders", "records clicks"]
    assert routes.offered("TPAYM", known, 9) == ["topic payments"]
    assert routes.offered("xyz", known, 9) == []
    assert routes.offered("prod", ["Produce a record", "profile prod"], 9)[0] == "profile prod"
    many = [f"topic orders-{n}" for n in range(30_000)]
    begun = time.perf_counter()
    assert routes.offered("ord77", many, 10)[0] == "topic orders-77"
    assert time.perf_counter() - begun < 0.5
