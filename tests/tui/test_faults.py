"""The fault panel on a sandbox that may be told; and that there is none elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from textual.widgets import Input

from kcli.tui.app import Dashboard
from kcli.tui.screens.faults import Fault, Faults
from kcli.tui.text.printable import named
from kcli.tui.widgets.rows import Rows
from tests.tui.conftest import seen, shows, until
from tests.tui.world import World, a_world

if TYPE_CHECKING:
    from collections.abc import Iterator

    from textual.pilot import Pilot

pytestmark = pytest.mark.long


@pytest.fixture
def world() -> Iterator[World]:
    with a_world(control=True) as made:
        yield made


async def panel(pilot: Pilot[int]) -> Rows:
    await pilot.press("ctrl+f")
    await shows(pilot, "Sandbox faults (0 to happen)")
    return pilot.app.screen.query_one("#faults", Rows)


async def test_a_fault_is_ordered_with_its_parameters_and_taken_back(world: World) -> None:
    async with world.open() as pilot:
        await panel(pilot)
        await pilot.press("slash", *"throttle", "enter", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, Fault))
        pilot.app.screen.query_one("#p-api", Input).value = "Produce"
        await pilot.press("enter")
        await shows(pilot, "throttle needs milliseconds")
        pilot.app.screen.query_one("#p-milliseconds", Input).value = "20"
        pilot.app.screen.query_one("#p-times", Input).value = "3"
        await shows(pilot, "$ kcli faults throttle api=Produce milliseconds=20 times=3")
        await pilot.press("enter")
        await shows(pilot, "ordered")
        assert world.sandbox.call(lambda sandbox: sandbox.faults.pending) == 3
        await pilot.press("escape")
        await shows(pilot, "Sandbox faults (1 to happen)")
        await pilot.press("escape", "2")
        text = await shows(pilot, "TIMES")
        assert "throttle" in text
        await pilot.press("c")
        await shows(pilot, "Nothing is to happen.")
        assert world.sandbox.call(lambda sandbox: sandbox.faults.pending) == 0


async def test_the_only_broker_is_killed_and_started_again(world: World) -> None:
    async with world.open() as pilot:
        await panel(pilot)
        await pilot.press("3", "enter")
        await shows(pilot, "✖ killed")
        assert not world.sandbox.call(lambda sandbox: sandbox.brokers.living())
        await pilot.press("enter")
        await shows(pilot, "● up")
        board = pilot.app
        assert isinstance(board, Dashboard)
        look = board.state.snapshot
        await until(pilot, lambda: board.state.snapshot is not look, 10.0)


async def test_a_text_that_is_cut_is_whole_below_the_table(world: World) -> None:
    async with world.open(size=(120, 40)) as pilot:
        rows = await panel(pilot)
        await until(pilot, lambda: rows.row is not None)
        await pilot.pause()
        line = pilot.app.screen.query_one("#whole-text")
        await until(pilot, lambda: line.is_on_screen)
        before = rows.size.height
        for _ in range(3):
            assert rows.row is not None
            words = named(rows.row["text"])
            await until(pilot, lambda words=words: words[-20:] in seen(pilot))  # type: ignore[misc]
            assert rows.size.height == before, "the table does not jump"
            await pilot.press("down")


async def test_a_read_only_profile_orders_nothing(world: World) -> None:
    async with world.open(guard="read_only", profile="prod") as pilot:
        await panel(pilot)
        await pilot.press("enter")
        await shows(pilot, "Profile prod is read-only: a fault")
        await pilot.press("3", "enter")
        await pilot.pause(0.1)
        assert world.sandbox.call(lambda sandbox: len(sandbox.brokers.living())) == 1


@pytest.fixture
def plain() -> Iterator[World]:
    with a_world() as made:
        yield made


async def test_what_is_no_sandbox_has_no_faults(plain: World) -> None:
    async with plain.open(size=(80, 24)) as pilot:
        await pilot.press("ctrl+f")
        text = await shows(pilot, "Sandbox faults: this cluster is not a sandbox")
        assert "This cluster is not a sandbox with fault injection." in text
        assert "kcli sandbox (without --no-control)." in text
        assert "Clear all" not in text
        await pilot.press("c", "enter", "3")
        assert "not a sandbox with fault injection" in seen(pilot)


async def test_an_answer_after_the_dialog_was_left_is_a_toast(world: World) -> None:
    async with world.open() as pilot:
        await panel(pilot)
        await pilot.press("slash", *"throttle", "enter", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, Fault))
        dialog = pilot.app.screen
        assert isinstance(dialog, Fault)
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is not dialog and not dialog.is_attached)
        dialog.say("too late", "bad")
        await shows(pilot, "too late")


async def test_the_menu_injects_a_fault_kills_a_broker_and_clears_all(world: World) -> None:
    async with world.open() as pilot:
        await panel(pilot)
        await pilot.press("slash", *"throttle", "enter", "a")
        await shows(pilot, "Actions on fault throttle")
        await shows(pilot, "$ kcli faults throttle api=")
        await pilot.press("o")
        await until(pilot, lambda: isinstance(pilot.app.screen, Fault))
        pilot.app.screen.query_one("#p-api", Input).value = "Produce"
        pilot.app.screen.query_one("#p-milliseconds", Input).value = "20"
        await pilot.press("ctrl+s")
        await shows(pilot, "ordered")
        await pilot.press("escape", "escape", "2", "a")
        assert "Kill" not in await shows(pilot, "Actions on this sandbox")
        await pilot.press("c")
        await shows(pilot, "Nothing is to happen.")
        assert world.sandbox.call(lambda sandbox: sandbox.faults.pending) == 0
        await pilot.press("3", "a")
        await shows(pilot, "Actions on broker 1")
        await pilot.press("x")
        await shows(pilot, "✖ killed")
        await pilot.press("a")
        await shows(pilot, "Start broker 1")
        await pilot.press("x")
        await shows(pilot, "● up")


async def test_the_menu_does_what_it_said_when_it_was_opened(world: World) -> None:
    async with world.open() as pilot:
        await panel(pilot)
        await pilot.press("3")
        await shows(pilot, "kills it")
        page = pilot.app.screen
        assert isinstance(page, Faults)
        kill = next(act for act in page.acts() if act.label == "Kill broker 1")
        page.query_one("#brokers", Rows).put([{"id": 1, "port": 1, "alive": False}])
        kill.do()
        await until(pilot, lambda: not world.sandbox.call(lambda sandbox: sandbox.brokers.living()))


async def test_the_menu_of_a_read_only_profile_injects_nothing(world: World) -> None:
    async with world.open(guard="read_only", profile="prod") as pilot:
        await panel(pilot)
        await pilot.press("a")
        await shows(pilot, "Profile prod is read-only: this would change the cluster")
