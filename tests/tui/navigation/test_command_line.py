"""Dialogs of one line: `:` stays where it is while its list changes, and says what there is; `@` says its forms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from textual.widgets import Input, OptionList

from kcli.tui import routes
from kcli.tui.dialogs.command import MOST, Command
from kcli.tui.dialogs.records import FORMS, Seek
from tests.tui.conftest import seen, shows, until, visit

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from tests.tui.conftest import Open


def line_of(pilot: Pilot[int]) -> int:
    return pilot.app.screen.query_one(Input).region.y


@pytest.mark.parametrize("size", [(80, 24), (200, 60)], ids=str)
async def test_the_line_stays_while_its_list_gets_shorter(dashboard: Open, size: tuple[int, int]) -> None:
    async with dashboard(size=size) as pilot:
        await pilot.press("colon")
        await until(pilot, lambda: isinstance(pilot.app.screen, Command) and line_of(pilot) > 0)
        await shows(pilot, "Go to a page, or do something")
        await shows(pilot, "more: type a part of a name")
        listed = pilot.app.screen.query_one(OptionList)
        assert listed.option_count == (MOST if size[1] == 60 else 11)
        assert listed.max_scroll_y == 0
        before = line_of(pilot)
        await pilot.press(*"orders")
        await until(pilot, lambda: listed.option_count < 6 and "type a part" not in seen(pilot))
        assert line_of(pilot) == before
        await pilot.press(*" nonsense", "enter")
        text = await shows(pilot, "There is no place called orders nonsense.")
        assert "heatmap," in text


async def test_the_line_to_seek_names_its_forms_and_its_keys(dashboard: Open) -> None:
    async with dashboard(size=(80, 24)) as pilot:
        await visit(pilot, routes.Records(("orders",)))
        await shows(pilot, "orders")
        await pilot.press("at")
        await until(pilot, lambda: isinstance(pilot.app.screen, Seek))
        text = await shows(pilot, "Go to a time or an offset")
        for form in FORMS.strip().splitlines():
            assert form in text
        assert text.splitlines()[-1].split() == ["esc", "Close"]
        await pilot.press(*"nonsense", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, Seek) and "nonsense" in seen(pilot).split("log", 1)[1])
