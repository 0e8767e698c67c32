"""A member that is gone is removed from its group, on its page and in the tab of members."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kcli.client import Client
from kcli.settings import GroupSettings
from kcli.tui.screens.group import Group, Member
from kcli.tui.widgets.rows import Rows
from tests.tui.conftest import shows, until, visit
from tests.tui.world import World, a_world

if TYPE_CHECKING:
    from collections.abc import Iterator

    from textual.pilot import Pilot


@pytest.fixture
def world() -> Iterator[World]:
    with a_world() as one:
        yield one


async def static_members(world: World, *names: str, protocol: str = "classic") -> None:
    async with Client(world.settings(client_id="app")) as client:
        for name in names:
            settings = GroupSettings(group=world.group, instance_id=name, auto_commit=False, protocol=protocol)
            async with client.consumer(group=settings) as consumer:
                await consumer.subscribe([world.topic])
                await consumer.poll(0.5)


async def removed(pilot: Pilot[int], name: str) -> None:
    """Through the menu and the dialog."""
    await pilot.press("X")
    text = await shows(pilot, "1 of 1 would change")
    assert f"$ kcli groups remove-members billing --member {name} --execute" in text
    pilot.app.screen.query_one("#confirm").focus()
    await pilot.press(*name, "enter")
    await shows(pilot, "1 removed")
    await pilot.press("escape")


async def test_a_member_is_removed_from_the_tab_and_from_its_page(world: World) -> None:
    await static_members(world, "pod7", "pod8")
    async with world.open(size=(150, 36)) as pilot:
        page = await visit(pilot, "group billing")
        assert isinstance(page, Group)
        await pilot.press("2")
        table = page.query_one("#members", Rows)
        await until(pilot, lambda: len(table.shown) == 2)
        table.cursor = next(n for n, member in enumerate(table.shown) if member.instance_id == "pod8")
        await pilot.press("a")
        await shows(pilot, "Remove the member …")
        await removed(pilot, "pod8")
        await until(pilot, lambda: [member.instance_id for member in table.shown] == ["pod7"])
        table.focus()
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, Member))
        await shows(pilot, "Member pod7@")
        await pilot.press("a")
        await shows(pilot, "Actions on member pod7@")
        await removed(pilot, "pod7")
        await shows(pilot, "it is not there (any more)")


async def test_in_the_other_tabs_the_menu_is_of_the_group_alone(world: World) -> None:
    await static_members(world, "pod7")
    async with world.open(size=(150, 36)) as pilot:
        await visit(pilot, "group billing")
        await pilot.press("a")
        assert "Remove the member" not in await shows(pilot, "Delete the group …")


async def test_a_member_of_a_kip_848_group_is_removed_too(world: World) -> None:
    await static_members(world, "pod7", protocol="consumer")
    async with world.open(size=(170, 36)) as pilot:
        page = await visit(pilot, "group billing")
        await pilot.press("2")
        table = page.query_one("#members", Rows)
        await until(pilot, lambda: table.shown)
        await pilot.press("a")
        await shows(pilot, "Remove the member …")
        await removed(pilot, "pod7")
        await until(pilot, lambda: not table.shown)
