"""Every screen can be read in the dark and in the light theme, with 256 colours, and says nothing by colour alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from rich.color import Color, ColorSystem
from textual.color import Color as PageColor

from kcli.tui.screens.page import Page
from kcli.tui.themes import THEMES, readable
from kcli.tui.widgets.rows import Rows
from tests.tui.conftest import shows, until, visit

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from textual.pilot import Pilot

    from tests.tui.conftest import Open

SCREENS = {
    "groups": "billing",
    "group audit": "ORPHANED",
    "topics": "in sync",
    "topic orders": "OF THE LARGEST",
    "records orders": "$ kcli consume orders",
    "brokers": "ms",
    "heatmap": "payments",
    "clusters": "Clusters",
    "transactions": "ransaction",
    "acls": "ACLs",
    "quotas": "uotas",
    "reassignments": "eassignments",
    "schemas": "schema registry",
}
"""The words of a place, and a word that is there then."""
DIALOGS = {"r": "Reset the offsets", "question_mark": "Keys", "a": "kcli ", "n": "by key", "colon": "part of a name"}
"""A key on a group's page, and a word of the dialog that it opens."""
LEAST, LEAST_OF_FEW = 4.5, 4.3
"""The contrast under which no text is: what WCAG asks for, also of dim words and of what a field says while it is
empty; and that of the nearest of 256 colours."""
QUIET = (("─", "▟"), ("⠀", "⣿"))
"""Lines, blocks and braille, which are drawings and no text: from, to."""


def luminance(colour: Color) -> float:
    parts = [
        part / 255 / 12.92 if part / 255 <= 0.03928 else ((part / 255 + 0.055) / 1.055) ** 2.4
        for part in colour.get_truecolor()
    ]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(one: Color, other: Color) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def words(pilot: Pilot[int]) -> list[tuple[str, Color, Color]]:
    """The text of the page, or of the dialog before it, with its colour and its ground."""
    found, screen = [], pilot.app.screen
    box = screen.region if isinstance(screen, Page) else screen.children[0].region
    for strip in screen._compositor.render_strips()[box.y : box.bottom]:
        for text, style, _ in strip.crop(box.x, box.right):
            said = "".join(letter for letter in text if not any(first <= letter <= last for first, last in QUIET))
            if said.strip() and style is not None and style.color is not None and style.bgcolor is not None:
                found.append((said, style.color, style.bgcolor))
    return found


@pytest.mark.long
@pytest.mark.parametrize("theme", ["kcli-dark", "kcli-light"])
async def test_every_word_can_be_read(dashboard: Open, theme: str) -> None:
    async with dashboard(size=(170, 40)) as pilot:
        pilot.app.theme = theme
        for place, word in SCREENS.items():
            await visit(pilot, place)
            await shows(pilot, word)
            legible(pilot, place, theme)
            while len(pilot.app.screen_stack) > 2:
                await pilot.app.pop_screen()
        async for key in dialogs(pilot):
            legible(pilot, f"dialog {key}", theme)


async def dialogs(pilot: Pilot[int]) -> AsyncIterator[str]:
    """One dialog of a group's page after another."""
    await visit(pilot, "group audit")
    await shows(pilot, "ORPHANED")
    for key, word in DIALOGS.items():
        await pilot.press(key)
        await shows(pilot, word)
        yield key
        await pilot.press("escape")


async def test_another_theme_is_drawn_at_once(dashboard: Open) -> None:
    async with dashboard(size=(100, 30)) as pilot:
        for theme, ground in (("kcli-light", "#fbfbf8"), ("kcli-dark", "#121417")):
            pilot.app.theme = theme
            await until(pilot, lambda ground=ground: grounds(pilot) >= {ground})  # type: ignore[misc]


def test_the_ground_of_the_cursor_stands_out_and_every_tone_can_be_read_on_it_in_its_own_hue() -> None:
    for theme in THEMES:
        ground, cursor = (Color.parse(one or "") for one in (theme.background, theme.variables["cursor"]))
        assert contrast(ground, cursor) >= 1.6, theme.name
        for tone in (theme.error, theme.warning, theme.success, theme.accent, theme.foreground):
            color = Color.parse(tone or "")
            shown = readable(color, cursor)
            assert contrast(shown, cursor) >= LEAST, (theme.name, tone)
            few = (shown.downgrade(ColorSystem.EIGHT_BIT), cursor.downgrade(ColorSystem.EIGHT_BIT))
            assert contrast(*few) >= LEAST_OF_FEW, (theme.name, tone, "256 colours")
            hues = [PageColor.from_rich_color(one).hsl.h for one in (color, shown)]
            assert abs(hues[0] - hues[1]) < 0.02, (theme.name, tone)


@pytest.mark.parametrize("theme", ["kcli-dark", "kcli-light"])
async def test_the_row_of_the_cursor_keeps_the_colour_of_its_status(dashboard: Open, theme: str) -> None:
    async with dashboard(size=(100, 30)) as pilot:
        pilot.app.theme = theme
        text = await shows(pilot, "ORPHANED")
        rows = pilot.app.screen.query_one(Rows)
        await pilot.pause()
        here = next(line for line in text.split("\n") if line.startswith("▌"))
        assert "ORPHANED" in here
        bad, cursor = (
            rows.get_component_rich_style("rows--bad").color,
            rows.get_component_rich_style("rows--cursor").bgcolor,
        )
        assert bad is not None
        assert cursor is not None
        drawn = [colour for said, colour, ground in words(pilot) if "ORPHANED" in said and ground == cursor]
        assert drawn == [readable(bad, cursor)]
        legible(pilot, "groups", theme)
        assert rows.cursor == 0


def test_grounds_differ_with_256_colours() -> None:
    for theme in THEMES:
        grounds = [theme.background, theme.panel, theme.variables["cursor"]]
        few = [Color.parse(one or "").downgrade(ColorSystem.EIGHT_BIT).number for one in grounds]
        assert few[0] not in few[1:], theme.name
        assert all(number is not None and number >= 231 for number in few), "shades of grey, not navy"


async def test_without_colours_what_is_bad_is_brighter_than_what_is_idle(
    dashboard: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with dashboard(size=(100, 30)) as pilot:
        await shows(pilot, "ORPHANED")
        rows = pilot.app.screen.query_one(Rows)
        ground = Color.parse(pilot.app.theme_variables["background"])
        tones = [rows.get_component_rich_style(f"rows--{tone}") for tone in ("bad", "warn", "dim")]
        bad, warn, dim = (contrast(tone.color, ground) for tone in tones if tone.color is not None)
        assert bad >= warn > dim
        assert tones[0].bold
        assert not tones[2].bold


async def test_the_tab_with_the_keys_can_be_read(dashboard: Open) -> None:
    async with dashboard(size=(100, 30)) as pilot:
        await visit(pilot, "group audit")
        await shows(pilot, "Partitions")
        pilot.app.screen.query_one("ContentTabs").focus()
        await until(pilot, lambda: any("Partitions" in said and contrast(*pair) > 4 for said, *pair in words(pilot)))
        await pilot.pause(0.3)
        legible(pilot, "tabs", "kcli-dark")


def grounds(pilot: Pilot[int]) -> set[str]:
    return {ground.name for _, _, ground in words(pilot)}


def grey(pilot: Pilot[int], place: str) -> None:
    """No word on the screen has a colour."""
    for said, *colours in words(pilot):
        for colour in colours:
            red, green, blue = colour.get_truecolor()
            assert max(red, green, blue) - min(red, green, blue) < 16, (place, said, colour)


def legible(pilot: Pilot[int], place: str, theme: str) -> None:
    """Every word on the screen can be read."""
    for text, colour, ground in words(pilot):
        assert contrast(colour, ground) >= LEAST, (place, theme, text)
        few = [each.downgrade(ColorSystem.EIGHT_BIT) for each in (colour, ground)]
        assert contrast(*few) >= LEAST_OF_FEW, (place, theme, "256 colours", text)


@pytest.mark.long
async def test_without_colours_every_screen_is_grey_and_has_its_glyphs(
    dashboard: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with dashboard(size=(170, 40)) as pilot:
        for place, word in SCREENS.items():
            await visit(pilot, place)
            text = await shows(pilot, word)
            grey(pilot, place)
            if place in ("groups", "group audit", "topics", "brokers"):
                assert "◌" in text or "●" in text, place
            while len(pilot.app.screen_stack) > 2:
                await pilot.app.pop_screen()
        async for key in dialogs(pilot):
            grey(pilot, f"dialog {key}")
