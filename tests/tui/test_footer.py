"""The footer: keys of the focus and of the page, pressed by a click, on a line that scrolls where it is too long."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import pytest
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.events import MouseScrollDown
from textual.widgets import Input

from kcli.tui.routes import Route
from kcli.tui.screens.group import Group
from kcli.tui.widgets.footer import Footer
from tests.tui.conftest import seen, shows, until, visit
from tests.tui.every_page import EVERY

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from tests.tui.conftest import Open


def line(pilot: Pilot[int]) -> str:
    """The footer as it is drawn."""
    return pilot.app.screen.query_one(Footer).render_line(0).text


def cell(pilot: Pilot[int], words: str) -> tuple[int, int]:
    return line(pilot).index(words), 0


async def test_the_footer_offers_what_the_focus_and_the_page_do(dashboard: Open) -> None:
    async with dashboard() as pilot:
        await shows(pilot, "ORPHANED")
        assert line(pilot).rstrip().startswith(" ⏎ Open  / Filter")
        await pilot.press("slash")
        await until(pilot, lambda: isinstance(pilot.app.focused, Input) and " ⏎ Open" not in line(pilot))
        assert line(pilot).rstrip() == " ⏎ Keep the filter  esc Show all", "what the other keys do is typed here"
        await pilot.press("escape")
        await until(pilot, lambda: "⏎ Open" in line(pilot) and "esc Back" not in line(pilot))
        assert line(pilot).rstrip() == seen(pilot).splitlines()[-1]


async def test_the_footer_says_that_enter_reads_a_partition(dashboard: Open) -> None:
    async with dashboard() as pilot:
        for place in ("topic orders", "group billing"):
            await visit(pilot, place)
            await until(pilot, lambda: "⏎ Read" in line(pilot))
        await pilot.press("3")
        await until(pilot, lambda: "⏎ Open" in line(pilot))


def test_every_page_is_among_those_of_these_tests() -> None:
    assert EVERY.keys() == set(Route.__subclasses__())


@pytest.mark.long
@pytest.mark.parametrize("route", EVERY.values(), ids=lambda route: type(route).__name__)
async def test_help_and_quit_are_seen_on_80_cells(route: Route, dashboard: Open) -> None:
    async with dashboard(size=(80, 24)) as pilot:
        await shows(pilot, "Groups")
        page = await visit(pilot, route)
        await until(pilot, lambda: pilot.app.screen is page and "esc Back" in line(pilot))
        await pilot.pause(0.3)
        for words in ("? Help", "q Quit", "a Actions"):
            assert words in line(pilot), line(pilot)
        assert line(pilot).rstrip() == seen(pilot).splitlines()[-1]


async def test_a_click_on_a_key_presses_it_and_the_mouse_lights_it(dashboard: Open) -> None:
    async with dashboard() as pilot:
        await shows(pilot, "ORPHANED")
        footer = pilot.app.screen.query_one(Footer)
        await pilot.hover(Footer, offset=cell(pilot, "Filter"))
        await until(pilot, lambda: footer.hovered is not None and footer.hovered.description == "Filter")
        lit = {segment.text: segment.style.bgcolor for segment in footer.render_line(0) if segment.style is not None}
        assert lit["Filter "] == lit[" / "] != lit["Open "]
        await pilot.hover("#heading")
        await until(pilot, lambda: footer.hovered is None)
        await pilot.click(Footer, offset=cell(pilot, "Open"))
        await until(pilot, lambda: isinstance(pilot.app.screen, Group))


async def test_a_line_that_is_too_long_is_scrolled_by_the_wheel(dashboard: Open) -> None:
    async with dashboard(size=(40, 24)) as pilot:
        await shows(pilot, "GROUP ")
        footer = pilot.app.screen.query_one(Footer)
        await until(pilot, lambda: footer.offers)
        assert "Quit" not in line(pilot)
        for _ in range(10):  # 4 cells each
            assert await pilot._post_mouse_events([MouseScrollDown], Footer)
        await until(pilot, lambda: "Quit" in line(pilot))
        await pilot.click(Footer, offset=cell(pilot, "Quit"))
        await until(pilot, lambda: not pilot.app.is_running)


class Disabled(App[None]):
    BINDINGS: ClassVar[list[BindingType]] = [Binding("x", "stop", "Stop")]
    rang = 0

    def compose(self) -> ComposeResult:
        yield Footer()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return None if action == "stop" else True

    def bell(self) -> None:
        self.rang += 1


async def test_a_key_that_cannot_be_used_now_is_dim_and_rings_the_bell() -> None:
    app = Disabled()
    async with app.run_test(size=(40, 5)) as pilot:
        footer = app.query_one(Footer)
        while not footer.offers:
            await pilot.pause(0.02)
        stop = next(segment for segment in footer.render_line(0) if segment.text == "Stop ")
        assert stop.style is not None
        assert stop.style.dim
        await pilot.click(Footer, offset=(footer.render_line(0).text.index("Stop"), 0))
        assert app.rang == 1
