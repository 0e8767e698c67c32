"""What a plot draws: gridlines with round figures, clock times, an area, other lines, what is expected, a cursor."""

from __future__ import annotations

import itertools
import time
from typing import TYPE_CHECKING

import pytest

from kcli.text.numbers import count, duration
from kcli.tui.app import Dashboard
from kcli.tui.replay import ReplaySession
from kcli.tui.text.chart import BESIDE, BLOCKS, Chart, Curve, Mark, Piece, drawn, gridlines, highest, spark, ticks
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
    ("most", "options", "expected"),
    [
        (3, {}, 3),
        (3900, {}, 4000),
        (40_800, {}, 50_000),
        (1, {}, 1),
        (0.9, {"whole": False}, 1),
        (6_000_000, {}, 6_000_000),
        (100, {"seconds": True}, 120),
        (130, {"seconds": True}, 180),
        (5 * 86400, {"seconds": True}, 5 * 86400),
    ],
)
def test_the_highest_figure_is_round_and_chosen_by_the_data_alone(
    most: float, options: dict[str, bool], expected: float
) -> None:
    top = highest(most, **options)
    assert top == pytest.approx(expected)
    for rows in range(1, 60):
        lines = gridlines(top, rows, **options)
        assert 1 <= lines <= rows
        assert highest(top / lines, **options) == pytest.approx(top / lines), "its parts are round, too"


def test_gridlines_have_their_figures_from_the_first_row_down_to_zero() -> None:
    lines = text(Chart(points=slope(0, 3900)))
    figures = [line[:8].strip() for line in lines if line[8] in "┤└"]
    assert figures == ["4,000", "2,000", "0"]
    assert all(("┤" in line) == ("┈" in line) for line in lines)
    for height in range(5, 60):
        lines = text(Chart(points=slope(0, 3900)), height=height)
        at = [n for n, line in enumerate(lines) if line[8] in "┤└"]
        assert len({b - a for a, b in itertools.pairwise(at)}) <= 1, "as far from one another, and from 0"
        assert (at[0], lines[0][:8].strip()) == (0, "4,000"), "no axis above the highest figure"
    assert all(len(line) == 80 for line in lines)
    late = text(Chart(points=slope(0, 100), unit=duration, seconds=True))
    assert [line[:8].strip() for line in late if line[8] in "┤└"] == ["2m00s", "1m00s", "0"]


@pytest.mark.parametrize("height", [6, 11, 18, 30])
def test_a_value_on_a_gridline_is_as_high_as_the_middle_of_its_row(height: int) -> None:
    """The tick, its gridline and the edge of the area at that value are in one row: the area fills half of it."""
    for value in (2000, 4000):
        rows = drawn(Chart(points=[*slope(4000, 4000)[:30], *slope(value, value)[31:]]), 80, height).rows[:-1]
        ticks = {row[0].text[:8].strip(): row for row in rows if row[0].text.endswith("┤")}
        if count(value) in ticks:
            assert ticks[count(value)][1 + 70] == Piece("▄", "area")
    assert count(4000) in ticks


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
    assert heights[-1] == round((len(rows) - 0.5) * 8), "the highest figure is 3,000"
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


def test_lines_and_the_area_take_turns_where_they_meet_and_are_never_where_they_do_not_belong() -> None:
    """A cell of the area is as full as it is without lines, a line has the dots that it has without an area, and along
    the edge of the area neither is missing from three cells in a row."""
    series = [Curve(slope(0, 400), "in", "in"), Curve(slope(400, 0), "out", "out"), Curve(slope(90, 90), "ahead", "")]
    area = Chart(points=slope(3900, 500))
    plain = drawn(area._replace(curves=[Curve([], "in", "")]), 80, 21).rows[:-1]
    lines = drawn(Chart(points=slope(0, 0), curves=series), 80, 21).rows[:-1]
    together = drawn(area._replace(curves=series), 80, 21).rows[:-1]
    met = 0
    for row in range(20):
        for column in range(1, 80 - 9 - BESIDE + 1):
            empty, line, both = plain[row][column], lines[row][column], together[row][column]
            assert both.area <= empty.area, "no cell is fuller than the value"
            if "\u2800" < line.text <= "\u28ff" and both.style != "area":
                assert both.text == line.text
                assert both.style in ("in", "out", "ahead"), "in the colour of one of the lines"
                assert both.area == empty.area
            else:
                assert both == empty
            met += empty.style == "area" and line.style in ("in", "out", "ahead")
    assert met >= 3
    flat = [Curve(slope(0, 0), "out", "")]
    lowest = drawn(Chart(points=slope(0, 500), curves=flat), 80, 6).rows[-2][1:56]
    edge = [piece for piece in lowest if not piece.area]
    styles = "".join(piece.style[0] for piece in edge)
    assert "aao" in styles
    assert "aaa" not in styles
    assert "ooo" not in styles


async def test_two_lines_in_one_cell_are_both_in_the_cell_buffer(dashboard: Open) -> None:
    """The dots of both are in the cell, and along the row the colours of the two take turns."""
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
                pairs = [(letter, style) for text, style, _ in strip.crop(at.x, at.right - BESIDE) for letter in text]
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
            assert both[at][1] in (first[at][1], second[at][1]), "white is no line"


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


def test_the_area_has_its_name_at_its_end_and_the_lines_what_the_first_row_means_to_them() -> None:
    curves = [Curve(slope(0, 400), "in", "in 400/s"), Curve(slope(0, 0), "out", "out 0/s")]
    for height in (5, 9, 21):
        rows = drawn(Chart(points=slope(0, 40_800), name="lag", curves=curves), 80, height).rows[:-1]
        ends = [(row[-1].text.strip(), row[-1].style) for row in rows]
        assert ends[0] == ("├ 500/s", "axis")
        assert ("lag 40.8k", "name") in ends
        assert {("in 400/s", "in"), ("out 0/s", "out")} <= set(ends)
        assert all(piece.style != "in" for piece in rows[0][1:-1]), "lines stay below the first row"
    alone = drawn(Chart(points=slope(0, 99), unit=duration, name="time lag"), 80, 9).rows[:-1]
    assert any(row[-1] == Piece(" time lag 1m39s ", "name") for row in alone)
    assert not any("/s" in row[-1].text for row in alone)


def test_an_event_leaves_no_hole_in_the_area() -> None:
    marks = [Mark(NOON + 150, "a member left")]
    rows = drawn(Chart(points=slope(3000, 3000), marks=marks), 80, 11).rows[:-1]
    assert [piece for piece in rows[-1] if piece.style == "event"] == [Piece("▲", "event", area=True)]


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_the_cursor_through_time_is_one_line_from_the_first_row_to_the_axis(
    size: tuple[int, int], dashboard: Open
) -> None:
    async with dashboard(size=size) as pilot:
        await pilot.press("enter")
        plot = pilot.app.screen.query_one(Plot)
        await until(pilot, lambda: plot.chart.points and plot._drawing.rows)
        put, plot.put = plot.put, lambda chart: None  # type: ignore[method-assign]  # of the page, at each refresh
        curves = [Curve(slope(400, 400), "in", "in"), Curve(slope(0, 0), "out", "out")]
        put(Chart(points=slope(100, 3900), curves=curves, marks=[Mark(NOON + 200, "a member left")]))
        plot.at = NOON + 200
        plot.refresh()
        await until(pilot, lambda: "a member left" in seen(pilot))
        at = plot.content_region
        lines = [strip.crop(at.x, at.right).text for strip in pilot.app.screen._compositor.render_strips()]
        rows = [line for line in lines[at.y : at.bottom] if line[8:9] in ("┤", "│", "└")]
        place = rows[0].index("│", 9)
        assert "".join(row[place] for row in rows) in (
            "│" * (len(rows) - 1) + "┴",
            "│" * (len(rows) - 1) + rows[-1][place],
        )
        assert len(rows) >= 4


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
            await until(pilot, lambda: app.state.snapshot is not None)
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
            await until(pilot, lambda: app.state.snapshot is not None)
            await shows(pilot, "ledger")
            await pilot.press("right")
            assert app.screen.query_one(Rows).first_column == 1
            await pilot.press("left")
            assert app.screen.query_one(Rows).first_column == 0


async def test_a_reason_that_is_longer_than_a_line_takes_two(dashboard: Open) -> None:
    async with dashboard(size=(80, 24), interval=3600.0) as pilot:  # a refresh would put another title there
        await pilot.press("enter")
        plot = pilot.app.screen.query_one(Plot)
        await until(pilot, lambda: plot.chart.points)
        plot.title = " ".join(f"reason-{n}" for n in range(12))
        plot.refresh()
        await until(
            pilot, lambda: all(part in seen(pilot) for part in ("reason-0 ", "reason-11"))
        )  # two lines, in turn
        assert plot._made_for == (plot.size, 2)
        assert len(plot._drawing.rows) + 2 <= plot.size.height
        await pilot.press("left")
        await until(pilot, lambda: "reason-11" not in seen(pilot))
        assert plot._made_for == (plot.size, 1), "beside the figures of the cursor there is one line"


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
