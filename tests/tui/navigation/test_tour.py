"""The tour: five steps over pages that go on meanwhile, also where there is nothing yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kcli.sandbox.thread import SandboxThread
from kcli.settings import ClientSettings, parse_bootstrap
from kcli.tui import routes
from kcli.tui.app import Dashboard
from kcli.tui.navigation.tour import STEPS, Tour, record_page, worst
from kcli.tui.session import LiveSession
from tests.tui.conftest import seen, shows, until
from tests.tui.world import World, a_world

if TYPE_CHECKING:
    from collections.abc import Iterator

    from textual.pilot import Pilot


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with a_world() as one:
        yield one


def board(bootstrap: str) -> Dashboard:
    session = LiveSession(ClientSettings(bootstrap=parse_bootstrap(bootstrap)), interval=0.5)
    return Dashboard(session, tour=True)


def below(pilot: Pilot[int]) -> str:
    """The page under the step."""
    return type(pilot.app.screen_stack[-2].route).__name__  # type: ignore[attr-defined]


@pytest.mark.long
@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)], ids=str)
async def test_five_steps_lead_to_the_record_a_group_reads_next_and_back(world: World, size: tuple[int, int]) -> None:
    app = board(world.sandbox.bootstrap)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: worst(app.state.snapshot) is not None)
        for number, page in enumerate(("Groups", "Group", "Records", "Heatmap", "Group"), 1):
            text = await shows(pilot, f"Tour {number} of 5: {STEPS[number - 1].title}")
            assert all(line in text for line in STEPS[number - 1].text.split("\n")) or size[0] == 80
            await until(pilot, lambda page=page: below(pilot) == page)  # type: ignore[misc]
            if number < len(STEPS):
                await pilot.press("enter")
        await pilot.press("left")
        await shows(pilot, "Tour 4 of 5")
        assert below(pilot) == "Heatmap"
        await pilot.press("right")
        await shows(pilot, "Tour 5 of 5")
        await pilot.press("enter")
        await until(pilot, lambda: not isinstance(app.screen, Tour))
        assert "Tour" not in seen(pilot)


async def test_keys_in_one_go_and_escape_end_it_on_a_cluster_without_groups() -> None:
    with SandboxThread() as sandbox:
        app = board(sandbox.bootstrap)
        async with app.run_test(size=(100, 30)) as pilot:
            await shows(pilot, "Tour 1 of 5")
            await pilot.press("enter")
            await shows(pilot, "Tour 2 of 5")
            await pilot.press("enter")
            await shows(pilot, "Tour 3 of 5")
            assert below(pilot) == "Topics"
            await pilot.press("left")
            await shows(pilot, "Tour 2 of 5")
            await pilot.press("escape")
            await until(pilot, lambda: not isinstance(app.screen, Tour))


def test_without_a_snapshot_the_record_is_not_known() -> None:
    assert worst(None) is None
    assert record_page(None) == routes.Topics()
