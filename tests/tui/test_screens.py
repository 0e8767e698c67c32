"""Every screen, driven by keys against a seeded sandbox."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from kcli.tui.app import Dashboard
from kcli.tui.screens.groups import Groups
from kcli.tui.widgets.rows import Rows
from tests.tui.conftest import seen, shows, until, visit

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from tests.tui.conftest import Open


async def test_the_groups_come_first_and_the_worst_of_them_on_top(dashboard: Open) -> None:
    async with dashboard() as pilot:
        text = await shows(pilot, "ORPHANED")
        lines = text[text.index("STATUS") :].splitlines()[1:]  # of the table
        assert "audit" in lines[0]
        assert "fraud" in lines[1]
        assert "billing" in lines[2]
        assert "ORPHANED" not in lines[2]
        assert "$ kcli lag --watch" in text
        assert text.startswith(" kcli 127.0.0.1:")
        assert re.search(" ▏◌2 [·●]1 ▏lag 450 ▏1/1 ▏", text)


async def test_a_group_has_its_partitions_members_topics_and_a_plot(dashboard: Open) -> None:
    async with dashboard() as pilot:
        await pilot.press("enter")
        text = await shows(pilot, "Group audit")
        assert "Partitions" in text
        assert "┤" in text  # the plot's axis
        await pilot.press("2")
        await shows(pilot, "No members: no consumer reads for this group now.")
        await pilot.press("3")
        text = await shows(pilot, "PARTITIONS")
        assert "payments" in text
        await pilot.press("escape")
        await shows(pilot, "Groups (3)")


async def test_enter_on_a_partition_shows_the_record_the_group_reads_next(dashboard: Open) -> None:
    async with dashboard() as pilot:
        await pilot.press("down", "enter")
        await shows(pilot, "Group fraud")
        rows = pilot.app.screen.query_one("#partitions", Rows)
        await until(pilot, lambda: rows.row is not None)
        assert rows.row is not None
        sample = rows.row.lag.sample
        await pilot.press("enter")
        await shows(pilot, f"payments[{sample.partition}] at {sample.committed}")
        records = pilot.app.screen.query_one(Rows)
        await until(pilot, lambda: records.row is not None and records.row.offset == sample.committed)
        assert f"$ kcli consume payments -p {sample.partition} -o {sample.committed}" in seen(pilot)


async def test_topics_have_sizes_and_lead_to_their_partitions_configs_and_groups(dashboard: Open) -> None:
    async with dashboard() as pilot:
        await pilot.press("ctrl+t")
        text = await shows(pilot, "Topics (2)")
        assert "orders" in text
        await shows(pilot, "KiB")
        await pilot.press("enter")
        await shows(pilot, "Topic orders")
        await shows(pilot, "OF THE LARGEST")
        await pilot.press("2")
        text = await shows(pilot, "billing")
        assert "audit" in text
        await pilot.press("3")
        text = await shows(pilot, "cleanup.policy")
        assert "$ kcli configs get topic orders --all" in text


async def test_records_are_tailed_by_time_filtered_held_and_shown_whole(dashboard: Open) -> None:
    async with dashboard() as pilot:
        await pilot.press("ctrl+t")
        await shows(pilot, "Topics (2)")
        await pilot.press("t")
        text = await shows(pilot, '{"order": 29')
        assert "$ kcli tail orders" in text
        await pilot.press("slash", *"~order...29")
        await shows(pilot, "found 10;")  # 290 to 299
        await until(pilot, lambda: '"order": 28' not in seen(pilot) and '"order": 29' in seen(pilot))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.focused, Rows))
        await pilot.press("enter")
        text = await shows(pilot, "Decoded")
        await shows(pilot, '"who": "c')
        await pilot.press("3")
        await shows(pilot, "7b 22 6f 72 64 65 72")


async def test_brokers_say_how_quickly_they_answer(dashboard: Open) -> None:
    async with dashboard() as pilot:
        await pilot.press("ctrl+b")
        text = await shows(pilot, " ms")
        assert "controller" in text
        assert "Brokers (1)" in text


async def test_the_filter_hides_rows_and_escape_brings_them_back(dashboard: Open) -> None:
    async with dashboard() as pilot:
        await shows(pilot, "ORPHANED")
        await pilot.press("slash", *"fraud")
        await until(pilot, lambda: len(pilot.app.screen.query_one(Rows).shown) == 1)
        await pilot.press("escape")
        await until(pilot, lambda: len(pilot.app.screen.query_one(Rows).shown) == 3)
        await pilot.press("slash", *"!fraud", "enter")
        await until(
            pilot, lambda: [g.described.group for g in pilot.app.screen.query_one(Rows).shown] == ["audit", "billing"]
        )


def groups_of(pilot: Pilot[int]) -> list[str]:
    return [one.described.group for one in pilot.app.screen.query_one(Rows).shown]


@pytest.mark.parametrize(
    ("keys", "first"),
    [
        (["N"], "audit"),
        (["N", "N"], "fraud"),
        (["L"], "audit"),
        (["L", "L"], "billing"),
    ],
)
async def test_a_capital_letter_sorts_by_its_column_and_again_the_other_way(
    dashboard: Open, keys: list[str], first: str
) -> None:
    async with dashboard() as pilot:
        await shows(pilot, "ORPHANED")
        await pilot.press(*keys)
        await until(pilot, lambda: pilot.app.screen.query_one(Rows).shown[0].described.group == first)


async def test_help_is_written_from_the_bindings_of_the_screen(dashboard: Open) -> None:
    async with dashboard() as pilot:
        await pilot.press("question_mark")
        text = await shows(pilot, "Keys")
        assert "Filter" in text or "Up" in text
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, Groups))


async def test_the_colon_goes_anywhere_and_says_what_is_no_place(dashboard: Open) -> None:
    async with dashboard() as pilot:
        await pilot.press("colon", *"nowhere", "enter")
        await shows(pilot, "There is no place called nowhere.")
        await pilot.press("escape", "colon", *"group billing", "enter")
        await shows(pilot, "Group billing")


async def test_a_pause_stops_looking_and_a_dead_broker_is_told_while_the_last_look_stands(dashboard: Open) -> None:
    async with dashboard() as pilot:
        board = pilot.app
        assert isinstance(board, Dashboard)
        await pilot.press("space")
        await shows(pilot, "PAUSED")
        look = board.state.snapshot
        await pilot.pause(0.5)
        assert board.state.snapshot is look
        await pilot.press("space")
        await until(pilot, lambda: board.state.snapshot is not look)


async def test_what_a_terminal_would_obey_is_spelled_out(dashboard: Open) -> None:
    async with dashboard() as pilot:
        await pilot.press("colon", *"records payments", "enter")
        text = await shows(pilot, "payment 9")
        assert "\x1b" not in text
        assert "\\x1b[31m" in text


@pytest.mark.long
@pytest.mark.parametrize("size", [(80, 24), (120, 40), (300, 80)])
async def test_every_screen_fits(dashboard: Open, size: tuple[int, int]) -> None:
    async with dashboard(size=size) as pilot:
        for place in ("groups", "group audit", "topics", "topic orders", "brokers", "records orders payments"):
            await visit(pilot, place)
            await pilot.pause(0.2)
            lines = seen(pilot).split("\n")
            assert len(lines) == size[1]
            assert max(map(len, lines)) <= size[0]
            assert lines[0].startswith(" kcli")
