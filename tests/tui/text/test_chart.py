"""What a plot draws: gridlines with round figures, clock times, an area, other lines, what is expected, a cursor."""

from __future__ import annotations

import itertools
import time
from typing import TYPE_CHECKING

import pytest

from kcli.text.numbers import count, duration
from kcli.tui.app import Dashboard
from kcli.tui.replay import ReplaySession
from kcli.tui.text.chart import BLOCKS, DOTS, Chart, Curve, Mark, Piece, drawn, spark, step, ticks
from kcli.tui.widgets.plot import Plot
from kcli.tui.widgets.rows import Rows
from tests.tui.conftest import seen, shows, until
from tests.tui.pictures import recording

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.tui.conftest import Open

NOON = 1_795_262_400.0  # 2026-11-21 12:00:00 UTC


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def text(chart: Chart, width: int = 80, height: int = 11) -> list[str]:
    """The lines of a chart."""
    return ["".join(piece.text for piece in row) for row in drawn(chart, width, height).rows]


def layers(chart: Chart, style: str, width: int = 80, height: int = 11) -> list[str]:
    """The same with only the cells of one style left."""
    return [
        "".join(piece.text if piece.style == style else " " * len(piece.text) for piece in row)
        for row in drawn(chart, width, height).rows[:-1]
    ]


def slope(first: float, last: float, seconds: float = 300.0) -> list[tuple[float, float]]:
    return [(NOON + n * seconds / 60, first + (last - first) * n / 60) for n in range(61)]


@pytest.mark.parametrize(
    ("most", "lines", "options", "expected"),
    [
        (3900, 3, {}, 1500),
        (40_800, 3, {}, 15_000),
        (1, 3, {}, 1),
        (0.9, 3, {"whole": False}, 0.3),
        (6_000_000, 2, {}, 3_000_000),
        (100, 3, {"seconds": True}, 60),
        (5 * 86400, 3, {"seconds": True}, 2 * 86400),
    ],
)
def test_gridlines_are_round_figures(most: float, lines: int, options: dict[str, bool], expected: float) -> None:
    found = step(most, lines, **options)
    assert found == pytest.approx(expected)
    assert found * lines >= most * (1 - 1e-9)


def test_three_gridlines_have_their_figures_and_the_lowest_is_zero() -> None:
    lines = text(Chart(points=slope(0, 3900)))
    figures = [line[:8].strip() for line in lines if line[8] in "┤└"]
    assert figures == ["4,500", "3,000", "1,500", "0"]
    assert all(("┤" in line) == ("┈" in line) for line in lines)
    for height in range(5, 60):
        at = [n for n, line in enumerate(text(Chart(points=slope(0, 3900)), height=height)) if line[8] in "┤└"]
        assert len({b - a for a, b in itertools.pairwise(at)}) <= 1, "as far from one another, and from 0"
    assert all(len(line) == 80 for line in lines)
    late = text(Chart(points=slope(0, 100), unit=duration, seconds=True))
    assert [line[:8].strip() for line in late if line[8] in "┤└"] == ["3m00s", "2m00s", "1m00s", "0"]


@pytest.mark.parametrize("height", [6, 11, 18, 30])
def test_a_value_on_a_gridline_is_as_high_as_the_middle_of_its_row(height: int) -> None:
    """The tick, its gridline and the edge of the area at that value are in one row: the area fills half of it."""
    for value in (1500, 3000, 4500):
        rows = drawn(Chart(points=[*slope(4500, 4500)[:30], *slope(value, value)[31:]]), 80, height).rows[:-1]
        ticks = {row[0].text[:8].strip(): row for row in rows if row[0].text.endswith("┤")}
        if count(value) in ticks:
            assert ticks[count(value)][-1] == Piece("▄", "area")


def test_the_axis_has_times_of_day_where_they_are() -> None:
    axis = text(Chart(points=slope(5, 5)))[-1]
    assert " 12:01 " in axis
    assert " 12:04 " in axis
    cells = 80 - 9
    at = axis.index("12:02") + 2 - 9
    assert abs(at - round(120 / 300 * (cells - 1))) <= 1
    assert [tick.label for tick in ticks(NOON + 11 * 3600, NOON + 13 * 3600, 40)] == ["23:00", "22 Nov", "01:00"]
    assert [tick.label for tick in ticks(NOON, NOON + 6, 60)][:2] == ["12:00:00", "12:00:02"]
    assert ticks(NOON, NOON, 60) == []


def height(rows: list[list[Piece]], column: int) -> int:
    """How high the area is in a column, in eighths of a cell."""
    cells = [row[1 + column] for row in rows]
    return sum(8 if cell.area else BLOCKS.index(cell.text) if cell.style == "area" else 0 for cell in cells)


def test_the_area_is_as_high_as_the_value_in_eighths_of_a_cell() -> None:
    rows = drawn(Chart(points=slope(0, 3000)), 80, 11).rows[:-1]
    heights = [height(rows, column) for column in range(71)]
    assert heights == sorted(heights)
    assert heights[-1] == round((3000 / 1000 * 3 - 0.5) * 8)
    assert len(set(heights)) > 55, "no stairs"
    flat = drawn(Chart(points=slope(0, 0)), 80, 11).rows[:-1]
    assert not any(piece.area or piece.style == "area" for row in flat for piece in row)
    assert "".join(piece.text for piece in flat[-1][1:72]) == "▁" * 71, "0 is not unknown"


def test_time_without_a_value_is_blank_and_a_chart_without_values_has_no_axes() -> None:
    points = [*slope(3000, 3000)[:20], (NOON + 100, None), *slope(3000, 3000)[40:]]
    rows = drawn(Chart(points=points), 80, 11).rows[:-1]
    gap = range(25, 45)
    assert all(rows[-1][1 + column] == Piece(" ") for column in gap)
    assert drawn(Chart(), 80, 11).rows == drawn(Chart(points=[(NOON, None)]), 80, 11).rows == []


def test_two_lines_and_the_area_in_one_cell_are_all_seen() -> None:
    """Whatever is drawn alone is drawn beside the others, too: the dots of each, and the area behind."""
    series = {"in": slope(0, 400), "out": slope(400, 0)}
    together = drawn(Chart(points=slope(3900, 0), curves=[Curve(p, n, n) for n, p in series.items()]), 80, 21).rows[:-1]
    for name in series:
        others = [Curve(p, n, n) if n == name else Curve([(NOON, 400.0)], "x", "x") for n, p in series.items()]
        alone = drawn(Chart(points=slope(0, 0), curves=others), 80, 21).rows[:-1]
        seen = 0
        for row, whole in zip(alone, together, strict=True):
            for one, both in zip(row[1:], whole[1:], strict=False):
                if one.style == name and "\u2800" < one.text <= "\u28ff":
                    seen += 1
                    assert ord(both.text) & 0xFF & ord(one.text) == ord(one.text) & 0xFF
        assert seen > 50
    assert any(piece.style == "both" for row in together for piece in row)
    alone = drawn(Chart(points=slope(3900, 0), curves=[Curve([], "in", "in")]), 80, 21).rows[:-1]
    for row, whole in zip(alone, together, strict=True):
        for one, both in zip(row[1:], whole[1:], strict=False):
            assert both.area or not one.area, "an area stays behind lines"
            if one.style == "area" and both.style != "area":
                edge = sum(DOTS[3 - (BLOCKS.index(one.text) - 1) // 2])
                assert ord(both.text) & edge == edge, "its edge goes on as dots"


async def test_two_lines_in_one_cell_are_both_in_the_cell_buffer(dashboard: Open) -> None:
    """The dots of both are in the cell, in a colour that is neither line's."""
    curves = [Curve(slope(0, 400), "in", "in"), Curve(slope(400, 0), "out", "out")]
    top = Curve([(NOON, 400.0)], "event", "")  # keeps the scale
    async with dashboard(size=(120, 40)) as pilot:
        await pilot.press("enter")
        plot = pilot.app.screen.query_one(Plot)
        await until(pilot, lambda: plot.chart.points and plot._drawing.rows)
        put, plot.put = plot.put, lambda chart: None  # type: ignore[method-assign]  # of the page, at each refresh

        async def cells(*some: Curve) -> dict[tuple[int, int], tuple[str, str]]:
            put(Chart(points=slope(0, 0), curves=[top, *some]))
            await pilot.pause(0.1)
            found, at = {}, plot.content_region
            for y, strip in enumerate(pilot.app.screen._compositor.render_strips()[at.y : at.bottom]):
                pairs = [(letter, style) for text, style, _ in strip.crop(at.x, at.right - 13) for letter in text]
                for x, (letter, style) in enumerate(pairs):
                    if "\u2800" < letter <= "\u28ff" and style is not None and style.color is not None:
                        found[y, x] = letter, style.color.name
            return found

        first, second, both = await cells(curves[0]), await cells(curves[1]), await cells(*curves)
        shared = first.keys() & second.keys()
        assert shared
        for at in shared:
            dots = (ord(first[at][0]) | ord(second[at][0])) & 0xFF
            assert ord(both[at][0]) & dots == dots
            assert both[at][1] == pilot.app.theme_variables["foreground"].lower()


def test_other_lines_have_their_own_scale_and_their_names_beside_their_ends() -> None:
    curves = [Curve(slope(400, 400), "in", "in 400/s"), Curve(slope(0, 0), "out", "out 0/s")]
    lines = text(Chart(points=slope(0, 90_000), curves=curves))
    names = {
        name: n for n, line in enumerate(lines) for name in ("in 400/s", "out 0/s") if line.rstrip().endswith(name)
    }
    assert names["in 400/s"] < names["out 0/s"] == 9
    assert any(line.strip() for line in layers(Chart(points=slope(0, 90_000), curves=curves), "in"))
    assert "400/s" not in "".join(text(Chart(points=slope(0, 9), curves=curves), width=40))
    same = [Curve(slope(5, 5), "in", "in 5.0/s"), Curve(slope(5, 5), "out", "out 5.0/s")]
    assert "in 5.0/s" in "\n".join(text(Chart(points=slope(9, 9), curves=same)))
    assert "out 5.0/s" in "\n".join(text(Chart(points=slope(9, 9), curves=same)))


def test_what_is_expected_is_dashed_from_now_to_nothing() -> None:
    chart = Chart(points=slope(9000, 3000), eta=90)
    assert " ETA 12:06:30 " in text(chart)[-1]
    ahead = layers(chart, "ahead")
    columns = [n for n in range(80) if any(line[n] != " " for line in ahead)]
    now = 9 + round(300 / 390 * 70)
    assert min(columns) >= now - 1
    assert max(columns) >= 78
    gaps = [n for n in range(min(columns), max(columns)) if n not in columns]
    assert gaps
    assert any("┊" in line[now - 1 : now + 2] for line in text(chart))
    far = Chart(points=slope(9000, 3000), eta=90_000)
    assert "ETA" not in text(far)[-1]
    assert far.ended == far.now + 150
    assert not "".join(layers(Chart(points=slope(1, 2)), "ahead")).strip()


def test_what_happened_is_marked_at_its_time() -> None:
    marks = [Mark(NOON + 150, "a member left"), Mark(NOON - 1, "before"), Mark(NOON + 301, "after")]
    lowest = text(Chart(points=slope(0, 100), marks=marks))[-2]
    assert [n for n, letter in enumerate(lowest) if letter == "▲"] == [9 + 35]


@pytest.mark.parametrize("size", [(1, 1), (9, 2), (20, 3), (300, 40)])
def test_any_size_is_drawn(size: tuple[int, int]) -> None:
    for points in ([], [(NOON, 5.0)], slope(0, 9)):
        for line in text(Chart(points=points, eta=60), *size):
            assert len(line) == size[0]


def test_a_sparkline_ends_at_its_right_edge_and_nothing_is_a_dot() -> None:
    assert spark([0, 0, 0, 0]) == "··"
    assert spark([0, 0, 1, 4, 4]) == "·⢠⣿"
    assert spark([4, 4]) == "⣤"
    assert spark([None, None, 4]) == " ⢠"
    assert spark([0, 1000, 1, 1]) == "⢸⣀"
    assert spark([]) == ""


async def test_the_arrows_move_a_cursor_through_time_and_say_what_was_then() -> None:
    with recording() as path:
        app = Dashboard(ReplaySession(path))
        async with app.run_test(size=(120, 40)) as pilot:
            await until(pilot, lambda: app.state.look is not None)
            await pilot.press("down", "enter")
            await shows(pilot, "Group fraud")
            await shows(pilot, "12:46:00")
            plot = app.screen.query_one(Plot)
            await pilot.press("left", "left")
            await until(pilot, lambda: plot.at is not None)
            assert plot.at is not None
            point = plot.chart.at(plot.at)
            assert point is not None
            await shows(pilot, f"{time.strftime('%H:%M:%S', time.gmtime(point[0]))}  {count(point[1])}  in 40/s")
            plot.move(-200)
            assert plot.at == plot.chart.begun
            happened = plot.chart.marks[0]
            plot.at = happened.at
            plot.refresh()
            await shows(pilot, f"▲ {happened.text}")
            plot.at = plot.chart.now
            await pilot.press("right")
            await until(pilot, lambda: plot.at is None)
            assert "│" not in seen(pilot).split("\n")[6][12:]


async def test_without_a_plot_the_arrows_move_columns() -> None:
    with recording() as path:
        app = Dashboard(ReplaySession(path))
        async with app.run_test(size=(80, 24)) as pilot:
            await until(pilot, lambda: app.state.look is not None)
            await shows(pilot, "ledger")
            await pilot.press("right")
            assert app.screen.query_one(Rows).first_column == 1
            await pilot.press("left")
            assert app.screen.query_one(Rows).first_column == 0


async def test_a_reason_that_is_longer_than_a_line_takes_two(dashboard: Open) -> None:
    async with dashboard(size=(80, 24)) as pilot:
        await pilot.press("enter")
        plot = pilot.app.screen.query_one(Plot)
        await until(pilot, lambda: plot.chart.points)
        before = len(plot._drawing.rows)
        plot.title = " ".join(f"reason-{n}" for n in range(12))
        plot.refresh()
        await until(
            pilot, lambda: all(part in seen(pilot) for part in ("reason-0 ", "reason-11"))
        )  # two lines, in turn
        assert len(plot._drawing.rows) == before - 1
        await pilot.press("left")
        await until(pilot, lambda: "reason-11" not in seen(pilot))
        assert len(plot._drawing.rows) == before, "beside the figures of the cursor there is one line"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "–"),
        (9_999, "9,999"),
        (9_999.6, "10.0k"),
        (12_345, "12.3k"),
        (99_949, "99.9k"),
        (99_950, "100k"),
        (999_499, "999k"),
        (999_500, "1.00M"),
        (999_999_999, "1.00G"),
        (-999_500, "-1.00M"),
    ],
)
def test_a_count_goes_to_the_next_unit_before_it_has_four_digits(value: float | None, shown: str) -> None:
    assert count(value) == shown
