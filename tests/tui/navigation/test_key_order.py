"""Keys that arrive in one go do what they do when they are typed slowly."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from textual.events import Key
from textual.pilot import Pilot
from textual.widgets import Input

from kcli.tui.navigation.key_order import LATE_TICKS, TICK, TICKS, KeyOrder
from kcli.tui.screens.groups import Groups
from kcli.tui.screens.records import Records
from kcli.tui.widgets.filter import Filter
from tests.tui.conftest import until

if TYPE_CHECKING:
    from tests.tui.conftest import Open

NAMES = {":": "colon", "/": "slash", " ": "space", ".": "full_stop", ">": "greater_than_sign", "\n": "enter"}


def typed(pilot: Pilot[int], text: str) -> None:
    """Give all of it to the dashboard before it handles the first key."""
    for letter in text:
        pilot.app.post_message(Key(NAMES.get(letter, letter), None if letter == "\n" else letter))


def line(pilot: Pilot[int]) -> str:
    found = pilot.app.screen.query(Filter)
    return found.first().value if found else ""


async def test_a_place_and_its_filter(dashboard: Open) -> None:
    async with dashboard() as pilot:
        typed(pilot, ":records orders\n/value.id > 4")
        await until(pilot, lambda: line(pilot) == "value.id > 4")
        assert isinstance(pilot.app.screen, Records)


async def test_the_words_of_a_filter_are_no_actions(dashboard: Open) -> None:
    """r resets, d and e open dialogs, H and t other pages, q quits."""
    async with dashboard() as pilot:
        typed(pilot, "/rdeqHt")
        await until(pilot, lambda: line(pilot) == "rdeqHt")
        assert isinstance(pilot.app.screen, Groups)


async def test_what_is_typed_before_its_line_is_there_is_in_it(dashboard: Open) -> None:
    async with dashboard() as pilot:
        typed(pilot, ":brok")
        await until(pilot, lambda: bool(pilot.app.screen.query(Input)) and line_of(pilot).value == "brok")
        await pilot.press("e")
        assert line_of(pilot).value == "broke"


def line_of(pilot: Pilot[int]) -> Any:
    return pilot.app.screen.query_one(Input)


async def test_a_key_whose_widget_goes_away_holds_up_the_next_for_a_moment_only(dashboard: Open) -> None:
    async with dashboard() as pilot:
        board: Any = pilot.app
        keys = board._keys
        keys._awaited = 10**9  # what would follow was lost
        typed(pilot, "/ab")
        await until(pilot, lambda: line(pilot) == "ab", 3)


class Board:
    """An app whose screen takes messages and never answers."""

    focused = None

    def __init__(self) -> None:
        self.screen = SimpleNamespace(is_mounted=True, post_message=lambda message: True)

    def set_interval(self, interval: float, callback: object) -> Any:
        return SimpleNamespace(stop=lambda: None)


@pytest.mark.parametrize(("late", "after"), [(0.0, TICKS), (0.2, LATE_TICKS)])
async def test_a_busy_machine_gets_more_time(late: float, after: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ticks that come late are no sign that a widget went away; but no key waits for ever."""
    now, handled = 0.0, []
    monkeypatch.setattr("kcli.tui.navigation.key_order.monotonic", lambda: now)

    async def handle(event: Any) -> None:
        handled.append(event.key)

    order: Any = KeyOrder(Board(), handle)  # type: ignore[arg-type]
    for letter in "ab":
        await order.take(Key(letter, letter))
    for count in range(after):
        assert handled == ["a"], count
        now += TICK + late
        await order._tick()
    assert handled == ["a", "b"]
