"""`:` lists places with their keys, actions of the row, keys of the page, other clusters; each is begun by its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kcli.tui.app import Dashboard
from kcli.tui.dialogs.reset import Reset
from kcli.tui.session import LiveSession
from tests.tui.conftest import seen, shows, until
from tests.tui.world import World, a_world

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with a_world() as one:
        yield one


async def test_the_line_has_the_keys_of_places(world: World) -> None:
    async with world.open(size=(120, 40)) as pilot:
        await pilot.press("colon")
        text = await shows(pilot, "reassignments")
        assert any(
            line.split("│")[1].split() == ["topics", "^t"]
            for line in text.splitlines()
            if "topics" in line and "^t" in line
        )


async def test_an_action_and_a_key_are_begun_by_their_names(world: World) -> None:
    async with world.open(size=(120, 40)) as pilot:
        await shows(pilot, "ORPHANED")
        await pilot.press("colon", *"reset its")
        text = await shows(pilot, "Reset its offsets …")
        assert "a r" in text
        await pilot.press("down", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, Reset))
        await pilot.press("escape", "colon", *"kcli's own", "down", "enter")
        await shows(pilot, "Groups (1)")
        assert pilot.app.screen._internal  # type: ignore[attr-defined]


async def test_brokers_and_profiles_are_listed(world: World) -> None:
    def other() -> LiveSession:
        return LiveSession(world.settings(), name="staging", interval=1.0)

    board = Dashboard(LiveSession(world.settings(), name="prod"), profiles={"staging": other, "prod": other})
    async with board.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: board.state.numbers)
        await pilot.press("colon", *"broker 1", "enter")
        await shows(pilot, "Broker 1")
        await pilot.press("colon", *"profile")
        text = await shows(pilot, "profile staging")
        assert "profile prod" not in text, "that is the one that is open"
        await pilot.press("down", "enter")
        await until(pilot, lambda: board.session.name == "staging")
        await until(pilot, lambda: "staging" in seen(pilot).splitlines()[0])


async def test_nothing_is_changed_in_a_read_only_session_by_its_name(world: World) -> None:
    async with world.open(size=(120, 40), guard="read_only") as pilot:
        await shows(pilot, "ORPHANED")
        await pilot.press("colon", *"delete the group", "down", "enter")
        await shows(pilot, "read-only")
        assert type(pilot.app.screen).__name__ == "Groups"
