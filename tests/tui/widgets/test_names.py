"""Names are what a table is read for: no width of the screen takes them away."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from textual.app import App, ComposeResult

from kcli.lag.formats.page import STATUSES
from kcli.tui.app import Dashboard
from kcli.tui.replay import ReplaySession
from kcli.tui.text.printable import fitted
from kcli.tui.widgets.columns import LEAST_NAME, NARROW, Cell, Column, fitting
from kcli.tui.widgets.rows import Rows
from tests.tui.conftest import seen, until
from tests.tui.widgets.fifty import GROUPS, fifty, name_of

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("width", [80, 120, 200])
async def test_no_name_of_fifty_groups_has_less_than_24_cells(width: int, tmp_path: Path) -> None:
    app = Dashboard(ReplaySession(fifty(tmp_path / "fifty.ndjson")))
    async with app.run_test(size=(width, 120)) as pilot:
        await until(pilot, lambda: app.state.snapshot is not None and len(app.screen.query_one(Rows).shown) == GROUPS)
        text = seen(pilot)
        for n in range(GROUPS):
            name = name_of(n)
            whole = name in text
            assert whole or len(name) > LEAST_NAME
            if not whole:
                half = LEAST_NAME // 2 - 1
                cut = [row for row in text.split("\n") if f"{name[:half]}" in row and f"…{name[-half:]}"[1:] in row]
                assert cut, f"{name} is cut too short at {width}:\n{text}"
        glyphs = {glyph for glyph, _ in STATUSES.values()}
        table = app.screen.query_one(Rows)
        assert ("■ STUCK" in text) == (width >= NARROW)
        lines = text.split("\n")[table.region.y : table.region.bottom]  # at the widest, details are below
        listed = [row for row in lines if row[:2] in ("  ", "▌ ") and "servic" in row]
        assert len(listed) == GROUPS
        assert all(any(glyph in row for glyph in glyphs) for row in listed)
        assert table.size.width == width


@pytest.mark.parametrize("width", [80, 120, 200])
async def test_columns_fill_the_room_that_others_left(width: int, tmp_path: Path) -> None:
    """What is empty at the right of a table would have held a column, or more of a name."""
    app = Dashboard(ReplaySession(fifty(tmp_path / "fifty.ndjson")))
    async with app.run_test(size=(width, 40)) as pilot:
        await until(pilot, lambda: app.state.snapshot is not None and len(app.screen.query_one(Rows).shown) == GROUPS)
        rows = app.screen.query_one(Rows)
        drawn = {column.id: size for column, size in rows._layout}
        left = rows.size.width - 2 - sum(size + 2 for size in drawn.values())
        missing = [column for column in rows.columns if column.id not in drawn]
        assert left >= 0
        assert all(max(rows._widest[column.id], len(column.label) + 1) + 2 > left for column in missing)
        assert "range" in drawn or "members" not in drawn, "between which figures the lag was goes after them"
        cut = drawn["group"] < max(len(name_of(n)) for n in range(GROUPS))
        assert not (cut and left > 0)


def test_in_a_wide_table_the_line_over_time_gets_the_room_and_gaps_stay_small() -> None:
    columns = [Column(str(n), "LABEL", lambda row: row) for n in range(6)]
    columns.insert(3, Column("spark", "LAST", lambda row: row, pieces=lambda row, room: [Cell(row * room)]))
    sizes = {column.id: size for column, size in fitting(columns, 0, ["x"], 170, {})}
    assert sizes.pop("spark") >= 60
    assert set(sizes.values()) == {6 + 2}, "with the gap after a column there are at most four blank cells"


def test_a_name_goes_before_columns_and_other_wide_ones() -> None:
    columns = [
        Column("name", "NAME", lambda row: row, rank=0, name=True),
        Column("text", "TEXT", lambda row: row, wide=True, rank=1),
        Column("more", "MORE", lambda row: "10 cells..", rank=2),
        Column("few", "F", lambda row: "1", rank=3),
    ]
    row = "a name of forty cells, or nearly as much"

    def sizes(width: int) -> dict[str, int]:
        return {column.id: size for column, size in fitting(columns, 0, [row], width, {})}

    assert sizes(120) == {"name": 40, "text": 40, "more": 10, "few": 2}
    assert sizes(80) == {"name": 40, "text": 18, "more": 10, "few": 2}
    assert sizes(60) == {"name": 26, "text": 12, "more": 10, "few": 2}
    assert sizes(50) == {"name": 32, "text": 12}
    assert sizes(30) == {"name": 26}


def test_a_column_without_a_text_gives_its_room_to_one_that_is_cut() -> None:
    columns = [
        Column("name", "NAME", lambda row: "0123456789", rank=0),
        Column("text", "TEXT", lambda row: "x" * 30, rank=0, wide=True),
        Column("more", "INHERITED", lambda row: row, rank=2),
    ]

    def sizes(width: int, more: str, known: dict[str, int]) -> dict[str, int]:
        return {column.id: size for column, size in fitting(columns, 0, [more], width, known)}

    assert sizes(60, "", {}) == {"name": 10, "text": 30, "more": 10}
    assert sizes(50, "", {}) == {"name": 10, "text": 30}
    assert sizes(50, "some", {}) == {"name": 10, "text": 22, "more": 10}
    assert sizes(50, "", {"more": 4}) == {"name": 10, "text": 22, "more": 10}  # another row has a text: no jumps
    columns[1] = columns[1]._replace(least=28)
    assert sizes(50, "some", {}) == {"name": 10, "text": 30}
    assert sizes(40, "some", {}) == {"name": 10, "text": 24}


def test_a_cut_keeps_both_ends_and_counts_cells() -> None:
    assert fitted("kcli-copy-orders-3b93ca67", 18, middle=True) == "kcli-copy…3b93ca67"
    assert fitted("kcli-copy-orders-3b93ca67", 9, middle=False) == "kcli-cop…"
    assert fitted("名前はとても長いです", 9, middle=True) == "名前…です"
    assert fitted("名前はとても長いです", 10, middle=True) == "名前 …です"
    assert fitted("42", 5, right=True) == "   42"
    assert fitted("ab", 1, middle=True) == "…"


class Listed(App[int]):
    """A table of short names, and of longer ones further down."""

    def compose(self) -> ComposeResult:
        yield Rows(
            [
                Column("name", "NAME", lambda row: row[0], name=True, rank=0),
                Column("text", "TEXT", lambda row: row[1], wide=True, rank=0),
            ],
            key=lambda row: row,
            empty="Nothing here: a sentence that is longer than the table is wide, to its last word.",
        )


async def test_what_an_empty_table_says_is_read_whole() -> None:
    async with Listed().run_test(size=(50, 20)) as pilot:
        pilot.app.screen.query_one(Rows).put([])
        await pilot.pause()
        assert [line.strip() for line in seen(pilot).splitlines()[2:4]] == [
            "Nothing here: a sentence that is longer than",
            "the table is wide, to its last word.",
        ]


@pytest.mark.parametrize("keys", [("end",), ("pagedown", "pagedown", "pagedown", "pagedown")], ids=str)
async def test_rows_that_come_into_view_are_as_wide_as_there_is_room(keys: tuple[str, ...]) -> None:
    short = [(f"n{n}", "short") for n in range(60)]
    long = [(f"a-much-longer-name-{n}", "as much text as there is room for beside it") for n in range(40)]
    async with Listed().run_test(size=(100, 20)) as pilot:
        table = pilot.app.screen.query_one(Rows)
        table.put(short + long)
        table.focus()
        await pilot.press(*keys)
        await pilot.pause()
        assert "…" not in seen(pilot)
        assert "a-much-longer-name-" in seen(pilot)
        assert "as much text as there is room for beside it" in seen(pilot)
