"""What every table and page can do: sort, filter, mouse, columns, copy, help, sizes; and a recording."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from textual.widgets import Static

from kcli.admin.groups.rows import Described
from kcli.cli.parsing.registry import ALIASES, SUBJECTS
from kcli.errors import ConnectError
from kcli.lag.figures import Total
from kcli.lag.history import GroupStanding
from kcli.lag.watch import LagSnapshot
from kcli.tui.app import Dashboard
from kcli.tui.dialogs.help import Help, keys_of
from kcli.tui.replay import ReplaySession
from kcli.tui.session import still_there
from kcli.tui.widgets.columns import Column, fitting
from kcli.tui.widgets.rows import Rows
from kcli.tui.widgets.slider import Slider
from tests.tui import pictures
from tests.tui.conftest import seen, shows, until, visit

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from tests.tui.conftest import Open


def names(pilot: Pilot[int]) -> list[str]:
    return [one.described.group for one in pilot.app.screen.query_one(Rows).shown]


def header(pilot: Pilot[int], label: str) -> tuple[int, int]:
    """Where a column's label stands in its table."""
    text = pilot.app.screen.query_one(Rows).render_line(0).text
    return text.index(label), 0


async def test_a_click_on_a_header_sorts_by_it_again_turns_and_a_third_undoes(dashboard: Open) -> None:
    async with dashboard() as pilot:
        await shows(pilot, "ORPHANED")
        usual = names(pilot)
        for wanted in (["audit", "billing", "fraud"], ["fraud", "billing", "audit"], usual):
            await pilot.click(Rows, offset=header(pilot, "GROUP"))
            await until(pilot, lambda wanted=wanted: names(pilot) == wanted)  # type: ignore[misc]


async def test_a_click_moves_the_cursor_and_a_double_click_opens(dashboard: Open) -> None:
    async with dashboard() as pilot:
        await shows(pilot, "ORPHANED")
        await pilot.click(Rows, offset=(5, 3))
        await until(pilot, lambda: pilot.app.screen.query_one(Rows).cursor == 2)
        name = names(pilot)[1]
        await pilot.click(Rows, offset=(5, 2), times=2)
        await shows(pilot, f"Group {name}")


async def test_the_cursor_stays_on_its_row_when_others_come_before_it(dashboard: Open) -> None:
    async with dashboard() as pilot:
        await shows(pilot, "ORPHANED")
        await pilot.press("N", "G")
        rows = pilot.app.screen.query_one(Rows)
        await until(pilot, lambda: rows.row is not None and rows.row.described.group == "fraud")
        await pilot.press("N")
        await until(pilot, lambda: names(pilot)[0] == "fraud")
        assert rows.row is not None
        assert rows.row.described.group == "fraud"
        assert rows.cursor == 0


async def test_every_key_that_moves_moves(dashboard: Open) -> None:
    async with dashboard(size=(110, 14)) as pilot:
        await pilot.press("colon", *"topic orders", "enter")
        await shows(pilot, "Topic orders")
        await pilot.press("3")
        rows = pilot.app.screen.query_one("#configs", Rows)
        await until(pilot, lambda: len(rows.shown) > 20 and pilot.app.focused is rows)
        last = len(rows.shown) - 1
        page = rows.size.height - 2
        for key, there in (
            ("g", 0), ("j", 1), ("down", 2), ("k", 1), ("up", 0), ("up", 0), ("pagedown", page), ("ctrl+d", 2 * page),
            ("ctrl+u", page), ("pageup", 0), ("G", last), ("j", last), ("home", 0), ("end", last),
        ):  # fmt: skip
            await pilot.press(key)
            assert rows.cursor == there, key


async def test_columns_move_left_and_right_and_the_first_one_stays(dashboard: Open) -> None:
    async with dashboard(size=(64, 24)) as pilot:
        await shows(pilot, "ORPHANED")
        assert "TYPE" not in seen(pilot)
        await pilot.press(*"lllllll")
        text = await shows(pilot, "TYPE")
        assert "GROUP" in text
        assert "IN/S" not in text
        await pilot.press(*"hhhhhhh")
        await shows(pilot, "IN/S")


def test_columns_do_not_shrink_when_what_they_show_gets_shorter_and_wide_ones_give_way_first() -> None:
    columns = [
        Column("wide", "WIDE", lambda row: row[0], rank=0, wide=True),
        Column("text", "TEXT", lambda row: row[1], most=10),
        Column("more", "MORE", lambda row: row[1], rank=2, most=10),
    ]
    known: dict[str, int] = {}

    def sizes(rows: list[tuple[str, str]], width: int) -> dict[str, int]:
        return {column.id: size for column, size in fitting(columns, 0, rows, width, known)}

    long = [("a name of thirty cells as it is", "more than ten cells")]
    assert sizes(long, 80) == {"wide": 31, "text": 10, "more": 10}
    assert sizes([("a", "b")], 80) == {"wide": 31, "text": 10, "more": 10}
    assert sizes(long, 50) == {"wide": 22, "text": 10, "more": 10}
    assert sizes(long, 36) == {"wide": 20, "text": 10}
    assert sizes(long, 20) == {"wide": 16}


async def test_y_copies_the_command_of_the_screen(dashboard: Open) -> None:
    async with dashboard() as pilot:
        await pilot.press("y")
        await until(pilot, lambda: pilot.app.clipboard.startswith("kcli lag --watch -b "))


async def test_a_look_that_changes_no_word_writes_no_line(dashboard: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line that is written lays the whole page out anew: users watch it for hours."""
    written: list[str | None] = []

    def update(self: Static, *words: object, **options: object) -> None:
        written.append(self.id)

    async with dashboard(interval=0.2) as pilot:
        await shows(pilot, "ORPHANED")
        board = pilot.app
        assert isinstance(board, Dashboard)
        monkeypatch.setattr(Static, "update", update)
        for _ in range(3):
            look = board.state.snapshot
            await until(pilot, lambda look=look: board.state.snapshot is not look)  # type: ignore[misc]
        assert written == []
        await pilot.press("slash", *"audit")
        await until(pilot, lambda: set(written) == {"same-as", "fits"})


@pytest.mark.long
@pytest.mark.parametrize(
    "place", ["groups", "group audit", "topics", "topic orders", "brokers", "broker 1", "records orders", "faults"]
)
async def test_the_command_of_every_screen_is_one_of_kclis(place: str, dashboard: Open) -> None:
    async with dashboard() as pilot:
        screen = await visit(pilot, place)
        await pilot.pause(0.1)
        kcli, command, *_ = screen.same_as.split()
        assert kcli == "kcli"
        assert ALIASES.get(command, command) in SUBJECTS


@pytest.mark.long
@pytest.mark.parametrize("place", ["groups", "group audit", "topics", "topic orders", "broker 1", "records orders"])
async def test_help_lists_each_binding_in_force_once_and_nothing_else(place: str, dashboard: Open) -> None:
    async with dashboard(size=(120, 60)) as pilot:
        screen = await visit(pilot, place)
        await until(pilot, lambda: pilot.app.screen is screen)
        await pilot.pause(0.1)
        listed = keys_of(pilot.app, screen)
        assert len({(one.of, one.what) for one in listed}) == len(listed)
        known = {one.description for _, one, _, _ in screen.active_bindings.values() if one.id and one.description}
        assert {one.what for one in listed} == known
        await pilot.press("question_mark")
        await until(pilot, lambda: isinstance(pilot.app.screen, Help))
        text = await shows(pilot, "Sort by")
        for one in listed:
            assert one.what in text
        assert "Focus" not in text
        await pilot.press("question_mark")
        await until(pilot, lambda: pilot.app.screen is screen)


async def test_a_screen_follows_the_size_of_the_terminal(dashboard: Open) -> None:
    async with dashboard(size=(120, 40)) as pilot:
        await pilot.press("enter")
        await shows(pilot, "COMMITTED")
        for size in ((80, 24), (300, 80), (40, 12), (110, 32)):
            await pilot.resize_terminal(*size)
            await until(pilot, lambda size=size: len(seen(pilot).split("\n")) == size[1])  # type: ignore[misc]
            assert max(map(len, seen(pilot).split("\n"))) <= size[0]
        await shows(pilot, "COMMITTED")


@pytest.mark.long
async def test_a_recording_is_stepped_played_faster_and_reached_by_a_click() -> None:
    with pictures.recording() as path:
        session = ReplaySession(path)
        app = Dashboard(session)
        async with app.run_test(size=(110, 30)) as pilot:
            await shows(pilot, "RECORDING")
            last = len(session.times) - 1
            assert session.at == last
            await pilot.press("comma", "comma", "full_stop")
            await until(pilot, lambda: session.at == last - 1)
            await pilot.press("less_than_sign")
            await until(pilot, lambda: session.at == last - 13)
            await pilot.press("greater_than_sign")
            await until(pilot, lambda: session.at == last - 1)
            await pilot.press("plus", "plus", "minus")
            await shows(pilot, "×2")
            slider = app.screen.query_one(Slider)
            before, track = slider._track
            await pilot.click(Slider, offset=(before, 0))
            await until(pilot, lambda: session.at == 0)
            await pilot.click(Slider, offset=(before + track // 2, 0))
            await until(pilot, lambda: abs(session.at - last // 2) <= 1)
            await pilot.press("space")
            here = session.at
            await until(pilot, lambda: session.at > here)


def group(name: str) -> GroupStanding:
    return GroupStanding(described=Described(group=name), total=Total(group=name))


def test_groups_of_a_broker_that_does_not_answer_stay_as_they_were() -> None:
    before = LagSnapshot(groups=[group("a"), group("b")])
    refused = ConnectError("refused")
    half = still_there(LagSnapshot(groups=[group("a")], brokers={2: refused}), before)
    assert [one.described.group for one in half.groups] == ["a", "b"]
    failed = still_there(LagSnapshot(groups=[group("a")], failed={"b": refused}), before)
    assert [one.described.group for one in failed.groups] == ["a", "b"]
    gone = still_there(LagSnapshot(groups=[group("a")]), before)
    assert [one.described.group for one in gone.groups] == ["a"]
    with pytest.raises(ConnectError):
        still_there(LagSnapshot(brokers={1: refused}), before)
