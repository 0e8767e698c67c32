"""The head of every screen, and what a click on it filters; the line of the filter; keys of dialogs; help in columns;
emoji whose width no two terminals agree on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kcli.tui.app import Dashboard
from kcli.tui.dialogs.help import Help, side_by_side
from kcli.tui.replay import ReplaySession
from kcli.tui.screens.brokers import Brokers
from kcli.tui.screens.groups import Groups
from kcli.tui.text.printable import printable
from kcli.tui.widgets.filter import Filter
from kcli.tui.widgets.footer import Footer
from kcli.tui.widgets.masthead import Masthead, shortened
from kcli.tui.widgets.rows import Rows
from tests.tui.conftest import seen, shows, until, visit
from tests.tui.widgets.fifty import GROUPS, fifty

if TYPE_CHECKING:
    from pathlib import Path

    from textual.pilot import Pilot

    from tests.tui.conftest import Open


def head(pilot: Pilot[int]) -> str:
    return seen(pilot).split("\n", 1)[0]


async def click(pilot: Pilot[int], words: str) -> None:
    await pilot.click(Masthead, offset=(head(pilot).index(words), 0))


async def test_the_head_counts_the_groups_by_status_the_worst_first(tmp_path: Path) -> None:
    app = Dashboard(ReplaySession(fifty(tmp_path / "fifty.ndjson")))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: len(app.screen.query_one(Rows).shown) == GROUPS)
        assert head(pilot) == " kcli fifty.ndjson RECORDING ▏◌17 ■17 ●16 ▏lag 1.21M ▏PAUSED"


async def test_a_click_on_a_count_filters_and_another_one_shows_all(tmp_path: Path) -> None:
    app = Dashboard(ReplaySession(fifty(tmp_path / "fifty.ndjson")))
    async with app.run_test(size=(120, 30)) as pilot:
        await until(pilot, lambda: len(app.screen.query_one(Rows).shown) == GROUPS)
        await visit(pilot, "brokers")
        await shows(pilot, "Brokers")
        await click(pilot, "■17")
        await until(pilot, lambda: isinstance(app.screen, Groups) and len(app.screen.query_one(Rows).shown) == 17)
        assert {group.status for group in app.screen.query_one(Rows).shown} == {"STUCK"}
        text = await shows(pilot, "17 of 50")
        assert " /■ STUCK" in text
        assert "■ STUCK" not in text.split("$ kcli")[-1]
        await click(pilot, "●16")
        await until(pilot, lambda: len(app.screen.query_one(Rows).shown) == 16)
        await click(pilot, "●16")
        await until(pilot, lambda: len(app.screen.query_one(Rows).shown) == GROUPS)
        assert not app.screen.query_one(Filter).display
        assert "of 50" not in seen(pilot)


async def test_a_click_on_the_brokers_shows_them_and_the_lag_all_groups(dashboard: Open) -> None:
    async with dashboard() as pilot:
        await shows(pilot, "▏1/1 ▏")
        await click(pilot, "1/1")
        await until(pilot, lambda: isinstance(pilot.app.screen, Brokers))
        await click(pilot, "lag 450")
        await until(pilot, lambda: isinstance(pilot.app.screen, Groups))
        await click(pilot, "kcli")
        await pilot.pause()
        assert isinstance(pilot.app.screen, Groups)


async def test_the_filter_says_how_many_rows_fit(dashboard: Open) -> None:
    async with dashboard() as pilot:
        await shows(pilot, "ORPHANED")
        await pilot.press("slash", *"fraud")
        text = await shows(pilot, "1 of 3")
        line = next(line for line in text.split("\n") if "1 of 3" in line)
        assert line.startswith(" /fraud")
        await pilot.press(*"x")
        text = await shows(pilot, "None of 3 fits the filter; escape shows all.")
        assert "No groups yet" not in text
        await pilot.press("escape")
        await until(pilot, lambda: "1 of 3" not in seen(pilot) and "/fraud" not in seen(pilot))


@pytest.mark.parametrize(
    ("key", "offers"), [("r", "^o Copy command"), ("colon", "tab Complete"), ("question_mark", "Close")]
)
async def test_a_dialog_offers_its_own_keys(key: str, offers: str, dashboard: Open) -> None:
    async with dashboard() as pilot:
        await shows(pilot, "ORPHANED")
        page = pilot.app.screen
        await pilot.press(key)
        await until(pilot, lambda: pilot.app.screen is not page and bool(pilot.app.screen.query(Footer)))
        footer = pilot.app.screen.query_one(Footer)
        await until(pilot, lambda: offers in footer.render_line(0).text)
        assert offers in seen(pilot).split("\n")[-1]
        assert "Filter" not in footer.render_line(0).text


@pytest.mark.parametrize("size", [(120, 40), (200, 60)])
async def test_help_is_seen_whole(size: tuple[int, int], dashboard: Open) -> None:
    async with dashboard(size=size) as pilot:
        await shows(pilot, "ORPHANED")
        await pilot.press("question_mark")
        text = await shows(pilot, "Sort by")
        assert isinstance(pilot.app.screen, Help)
        titles = next(line for line in text.split("\n") if "This page" in line)
        assert "Everywhere" in titles or "Every page" in titles
        assert "Lag or time lag" in text
        assert "Columns right" in text


@pytest.mark.parametrize("size", [(80, 24), (100, 25), (110, 30), (120, 40)])
async def test_no_line_of_help_wraps_also_beside_a_scrollbar(size: tuple[int, int], dashboard: Open) -> None:
    async with dashboard(size=size) as pilot:
        await visit(pilot, "group audit")
        await shows(pilot, "ORPHANED")
        await pilot.press("question_mark")
        await shows(pilot, "This page")
        await pilot.pause()
        screen = pilot.app.screen
        assert isinstance(screen, Help)
        lines = screen.text(size[0]).split("\n")
        assert screen.query_one("#keys").size.height == len(lines)
        scrolls = screen.query_one(".dialog").max_scroll_y > 0
        assert scrolls or size != (80, 24)
        footer = screen.query_one(Footer)
        await until(pilot, lambda: ("↑↓ Scroll" in footer.render_line(0).text) == scrolls)
        text = seen(pilot)
        assert all(key in text for key in ("Everywhere", "Quit", "Go", "Help")), "before any scrolling"
        await pilot.press("j")
        await until(pilot, lambda: (screen.query_one(".dialog").scroll_y > 0) == scrolls)


def test_blocks_of_help_stay_whole_and_take_as_many_columns_as_fit() -> None:
    blocks = [[f"{name}{n}" * 3 for n in range(many)] for name, many in (("a", 5), ("b", 3), ("c", 4))]
    wide = side_by_side(blocks, 100)
    assert wide[0].split() == ["a0a0a0", "b0b0b0", "c0c0c0"]
    assert len(wide) == 5
    two = side_by_side(blocks, 20)
    assert two[0].split() == ["a0a0a0", "b0b0b0"]
    assert len(two) == 8
    assert side_by_side(blocks, 5) == [*blocks[0], "", *blocks[1], "", *blocks[2]]


def test_a_family_of_emoji_is_its_members_and_a_joiner_elsewhere_is_spelled_out() -> None:
    assert printable("👨\u200d👩\u200d👧") == "👨👩👧"
    assert printable("❤\ufe0f\u200d🔥") == "❤\ufe0f🔥"
    assert printable("pay\u200dments") == "pay\\u200dments"
    assert printable("👨\u200dx") == "👨\\u200dx"


@pytest.mark.parametrize(
    ("name", "short"),
    [("prod", "prod"), ("k-1:9092", "k-1:9092"), ("k-1:9092,k-2:9092,k-3:9092", "k-1:9092 +2")],
)
def test_of_several_addresses_the_first_is_named(name: str, short: str) -> None:
    assert shortened(name) == short
