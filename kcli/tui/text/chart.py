"""A value over time, drawn into cells: an area, gridlines with figures, clock times, other lines over it, what is
expected, and what happened. Pure."""

from __future__ import annotations

from bisect import bisect_right
from datetime import datetime
from math import floor, log10
from typing import TYPE_CHECKING, NamedTuple

from kcli.text.numbers import count, rate
from kcli.tui.text.printable import fitted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Points = Sequence[tuple[float, float | None]]

FIGURES = 8  # cells of the figures at the left
BESIDE = 16  # cells of the names of what is drawn, at the right
LEAST_BESIDE = 60  # cells of a plot that has room for them
AHEAD = 0.5  # of the time shown: no more of the future is drawn
LINES = ((20, 5), (7, 3), (4, 2), (0, 1))  # rows, and how many gridlines look best there
MOST_LINES = 6
HEADROOM = 1.25
BLOCKS = " ▁▂▃▄▅▆▇█"
FULL = len(BLOCKS) - 1
LOWEST = "▁"  # a value that is 0, which is not unknown
GRID = "┈"
NICE = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
SECONDS = (1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1200, 1800, 3600, 7200, 14400, 21600, 43200, 86400)
"""Steps that a clock has."""
ROOM = 14  # cells for a time of day on the axis, with what is between
WIDE, HIGH = 2, 4
"""Dots of a cell."""
DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
LEVELS = ((0x00, 0x40, 0x44, 0x46, 0x47), (0x00, 0x80, 0xA0, 0xB0, 0xB8))
"""The dots of the left and the right half of a cell, filled from below to a height of 0 to 4."""
BLANK = 0x2800
DASHED = 3  # dots of a dash, and of the gap after it
TURNS = 3  # cells of the edge of the area of which a line that runs along it takes one


class Curve(NamedTuple):
    """Another line, on a scale that all of them share: `layer` is in or out, `text` what is written beside its end."""

    points: Points
    layer: str
    text: str


class Mark(NamedTuple):
    """Something that happened, at seconds since the epoch."""

    at: float
    text: str


class Chart(NamedTuple):
    """`points` are (seconds since the epoch, value), oldest first, None for a gap; `name` is written beside their end;
    `unit` writes a value; `seconds`: values are a duration. `eta` is in how many seconds the value will be 0, None
    where it will not or that is unknown."""

    points: Points = ()
    name: str = ""
    unit: Callable[[float | None], str] = count
    seconds: bool = False
    whole: bool = True
    curves: Sequence[Curve] = ()
    marks: Sequence[Mark] = ()
    eta: float | None = None

    @property
    def begun(self) -> float:
        return self.points[0][0] if self.points else 0.0

    @property
    def now(self) -> float:
        return self.points[-1][0] if self.points else 0.0

    @property
    def ended(self) -> float:
        """The end of what is shown: what is expected takes a part of it."""
        return self.now + min(self.eta or 0.0, (self.now - self.begun) * AHEAD)

    @property
    def fastest(self) -> float:
        """What the top row means to the other lines: a round figure, and all of them stay below that row."""
        most = max((value or 0.0 for curve in self.curves for _, value in curve.points), default=0.0)
        return highest(most * HEADROOM, whole=False) if most > 0 else 0.0

    def at(self, moment: float) -> tuple[float, float | None] | None:
        """The last point up to a moment."""
        place = bisect_right([at for at, _ in self.points], moment) - 1
        return self.points[place] if place >= 0 else None


def runs(points: Points) -> list[list[tuple[float, float]]]:
    """The points between gaps."""
    found: list[list[tuple[float, float]]] = [[]]
    for at, value in points:
        if value is not None:
            found[-1].append((at, value))
        elif found[-1]:
            found.append([])
    return [run for run in found if run]


class Piece(NamedTuple):
    """A cell: its text, its style (axis, grid, area, name, ahead, in, out, event), and whether the area is behind
    it."""

    text: str
    style: str = "grid"
    area: bool = False


class Drawing(NamedTuple):
    """The rows of cells, and the axis below them; `left` is how many cells of a row are before the plot, `columns` how
    many are of it."""

    rows: list[list[Piece]]
    left: int
    columns: int


def drawn(chart: Chart, width: int, height: int) -> Drawing:
    """A chart in a frame of this size; its last row is the axis of time. Without a value there is no frame either. The
    highest figure is in the first row: rows that do not divide among the gridlines are left out."""
    beside = BESIDE if (chart.curves or chart.name) and width >= LEAST_BESIDE else 0
    rows, columns = height - 1, width - FIGURES - 1 - beside
    if rows < 1 or columns < 2 or all(value is None for _, value in chart.points):
        return Drawing([], 0, 0)
    most = max((value or 0.0 for _, value in chart.points), default=0.0)
    top = highest(most, seconds=chart.seconds, whole=chart.whole) if most > 0 else 0.0
    lines = gridlines(top, rows, seconds=chart.seconds, whole=chart.whole) if top else 1
    apart = rows // lines  # rows between two gridlines: the same between all, so that each is where its figure is
    rows = apart * lines
    levels = {rows - n * apart: chart.unit(n * top / lines) for n in range(1, lines + 1) if top}
    scale = rows / top if top else 0.0
    body = _body(chart, Canvas(columns, rows), scale, set(levels))
    ends = _beside(chart, rows, beside, scale)
    whole = []
    for row, pieces in enumerate(body):
        figure = f"{levels.get(row, ''):>{FIGURES}}{'┤' if levels.get(row) else '│'}"
        whole.append([Piece(figure, "axis"), *pieces, *ends[row]])
    return Drawing([*whole, _times(chart, columns)], FIGURES + 1, columns)


def _high(value: float, scale: float) -> float:
    """How many rows high a value is: 0 is the line of the axis, in the middle of the row below, as a gridline is in the
    middle of its own."""
    return max(value * scale - 0.5, 0.0)


def _level(value: float, scale: float, rows: int) -> int:
    """The dot of a value, counted from below."""
    return round(min(_high(value, scale) / rows, 1.0) * (rows * HIGH - 1))


def _body(chart: Chart, canvas: Canvas, scale: float, gridded: set[int]) -> list[list[Piece]]:
    """The plot itself: lines over the area over the grid; `scale` is how many rows high a value of 1 is."""
    begun, span, wide = chart.begun, chart.ended - chart.begun, canvas.columns * WIDE

    def dot(at: float, value: float, scale: float) -> tuple[int, int]:
        x = round((at - begun) / span * (wide - 1)) if span > 0 else wide - 1
        return x, _level(value, scale, canvas.rows)

    own = canvas.rows / chart.fastest if chart.fastest else 0.0
    for curve in chart.curves:
        for run in runs(curve.points):
            canvas.line([dot(at, value, own) for at, value in run], curve.layer)
    last = chart.points[-1][1] if chart.points else None
    if chart.eta and last is not None and span > 0:
        left = last * (1 - (chart.ended - chart.now) / chart.eta)
        ends = [(chart.now, last), (chart.ended, left)]
        canvas.line([dot(at, value, scale) for at, value in ends], "ahead", dashed=True)
    tops = _tops(chart, canvas.columns)
    heights = [None if value is None else round(_high(value, scale) * FULL) for value in tops]
    happened = {dot(mark.at, 0, 0)[0] // WIDE for mark in chart.marks if begun <= mark.at <= chart.now}
    today = dot(chart.now, 0, 0)[0] // WIDE if chart.ended > chart.now else -1
    rows = []
    for row in range(canvas.rows):
        lowest = row == canvas.rows - 1
        pieces = []
        for column, height in enumerate(heights):
            filled = min(max((height or 0) - (canvas.rows - 1 - row) * FULL, 0), FULL)
            if lowest and height is not None and tops[column]:
                filled = max(filled, 1)  # little is not nothing
            behind = "┊" if column == today else GRID if row in gridded else " "
            if lowest and column in happened:
                pieces.append(Piece("▲", "event", filled >= FULL // 2))
            elif layers := canvas.layers(row, column):
                pieces.append(_crossed(layers, filled, column))
            elif 0 < filled < FULL:
                pieces.append(Piece(BLOCKS[filled], "area"))
            elif lowest and height == 0:
                pieces.append(Piece(LOWEST, "grid"))
            else:
                pieces.append(Piece(behind, "grid", filled == FULL))
        rows.append(pieces)
    return rows


def _crossed(layers: dict[str, int], filled: int, column: int) -> Piece:
    """A cell with lines in it: the dots of all of them, on the area where that fills the cell.

    A cell has one colour beside its ground, and nothing is drawn at a value that it does not have. So where the edge of
    the area is in the cell the two take turns along the row, and lines that share a cell take turns with their colours.
    """
    partial, dots, names = 0 < filled < FULL, 0, sorted(layers)
    if partial and column % TURNS:
        return Piece(BLOCKS[filled], "area")
    for one in layers.values():
        dots |= one
    turn = column // TURNS if partial else column
    return Piece(chr(BLANK + dots), names[turn % len(names)], filled == FULL)


def _tops(chart: Chart, columns: int) -> list[float | None]:
    """The value in each column: the largest that is in it, else what is between those beside it; None for a gap."""
    span = chart.ended - chart.begun
    tops: list[float | None] = [None] * columns

    def put(column: int, value: float) -> None:
        tops[column] = max(tops[column] or 0.0, value, 0.0)

    for run in runs(chart.points):
        at = [(round((then - chart.begun) / span * (columns - 1)) if span > 0 else columns - 1, v) for then, v in run]
        for (x0, v0), (x1, v1) in zip(at, at[1:] or at, strict=False):
            put(x0, v0)
            put(x1, v1)
            for x in range(x0 + 1, x1):
                put(x, v0 + (v1 - v0) * (x - x0) / (x1 - x0))
    return tops


def _beside(chart: Chart, rows: int, cells: int, scale: float) -> list[list[Piece]]:
    """The names of the area and of the other lines, each at the height of its end and never two in one row; beside the
    first row what it means to the lines, which have a scale of their own."""
    own = rows / chart.fastest if chart.fastest else 0.0
    names: list[tuple[int, str, str]] = []
    if chart.name and (last := chart.points[-1][1]) is not None:
        names.append((_level(last, scale, rows), f"{chart.name} {chart.unit(last)}", "name"))
    for curve in chart.curves:
        names.append(
            (_level((curve.points[-1][1] or 0.0) if curve.points else 0.0, own, rows), curve.text, curve.layer)
        )
    found: dict[int, Piece] = {}
    if own and rows > len(names):
        found[0] = Piece(fitted(f"├ {rate(chart.fastest)}/s", cells), "axis")
    for level, text, style in names:
        wanted = rows - 1 - level // HIGH
        free = sorted((row for row in range(rows) if row not in found), key=lambda one: abs(one - wanted))
        if free:
            found[free[0]] = Piece(fitted(f" {text}", cells), style)
    return [[found.get(row, Piece(" " * cells))] if cells else [] for row in range(rows)]


def _times(chart: Chart, columns: int) -> list[Piece]:
    """The axis of time, at 0: each time of day is in the middle of the cell it means; at its end when lag will be
    gone."""
    line = ["─"] * columns
    span = chart.ended - chart.begun
    end = f" ETA {clock(chart.now + chart.eta)} " if chart.eta and chart.ended >= chart.now + chart.eta else ""
    for tick in ticks(chart.begun, chart.ended, columns):
        middle = round((tick.at - chart.begun) / span * (columns - 1))
        label = f" {tick.label} "
        at = middle - len(label) // 2
        if at >= 0 and at + len(label) <= columns - len(end):
            line[at : at + len(label)] = label
    if end and len(end) < columns:
        line[-len(end) :] = end
    return [Piece(f"{'0':>{FIGURES}}└{''.join(line)}", "axis")]


class Tick(NamedTuple):
    """`at` is seconds since the epoch."""

    at: float
    label: str


def highest(most: float, *, seconds: bool = False, whole: bool = True) -> float:
    """The smallest round figure that is `most` or more, whatever the size of the plot. `seconds`: a few steps of a
    clock; `whole`: no fractions."""
    if seconds and most <= 4 * SECONDS[-1]:
        return min(n * one for one in SECONDS for n in (1, 2, 3, 4) if n * one >= most)
    if seconds:
        return highest(most / SECONDS[-1]) * SECONDS[-1]
    scale = 1e-3
    while True:
        for nice in NICE:
            if (one := nice * scale) >= most * (1 - 1e-9) and (not whole or one == int(one)):
                return one
        scale *= 10


def gridlines(top: float, rows: int, *, seconds: bool = False, whole: bool = True) -> int:
    """How many gridlines above 0, the highest at `top`, are round figures apart: about as many as there is room for,
    and such that few rows are left over."""

    def is_round(one: float) -> bool:
        if seconds:
            return one in SECONDS or one % SECONDS[-1] == 0
        return round(one / 10 ** floor(log10(one)), 6) in NICE and (not whole or one == int(one))

    best = next(lines for least, lines in LINES if rows >= least)
    fit = [n for n in range(1, min(rows // 2, MOST_LINES) + 1) if is_round(top / n)]
    return min(fit or [1], key=lambda n: rows % n + 2 * abs(n - best))


def ticks(begun: float, ended: float, cells: int) -> list[Tick]:
    """Round times of day between two moments, as many as there is room for, and a day's date at midnight."""
    span = ended - begun
    if span <= 0 or cells < ROOM:
        return []
    days = -(-(span * ROOM) // (cells * 86400)) * 86400
    each = next((float(one) for one in SECONDS if cells * one / span >= ROOM), days)
    offset = datetime.fromtimestamp(ended).astimezone().utcoffset()
    zone = offset.total_seconds() if offset is not None else 0.0
    at = -(-(begun + zone) // each) * each - zone
    found = []
    while at <= ended:
        found.append(Tick(at, clock(at, short=each >= 60)))
        at += each
    return found


def clock(at: float, *, short: bool = False) -> str:
    """`12:46:30`, `12:46`; the first minute of a day is its date."""
    then = datetime.fromtimestamp(at)
    if short and (then.hour, then.minute) == (0, 0):
        return f"{then:%d %b}"
    return f"{then:%H:%M}" if short else f"{then:%H:%M:%S}"


class Canvas:
    """`columns` by `rows` cells; (0, 0) is the dot at the bottom left. A line belongs to a layer; a cell keeps the dots
    of each."""

    def __init__(self, columns: int, rows: int) -> None:
        self.columns, self.rows = columns, rows
        self._cells: dict[tuple[int, int], dict[str, int]] = {}

    def line(self, points: Sequence[tuple[int, int]], layer: str, *, dashed: bool = False) -> None:
        """Connect dots; what is outside is not drawn."""
        for (x0, y0), (x1, y1) in zip(points, points[1:] or points, strict=False):
            steps = max(abs(x1 - x0), abs(y1 - y0), 1)
            for step in range(steps + 1):
                x, y = x0 + round((x1 - x0) * step / steps), y0 + round((y1 - y0) * step / steps)
                column, row = x // WIDE, self.rows - 1 - y // HIGH
                if 0 <= column < self.columns and 0 <= row < self.rows and not (dashed and x // DASHED % 2):
                    dots = self._cells.setdefault((row, column), {})
                    dots[layer] = dots.get(layer, 0) | DOTS[HIGH - 1 - y % HIGH][x % WIDE]

    def layers(self, row: int, column: int) -> dict[str, int]:
        """The dots of each layer in a cell."""
        return self._cells.get((row, column), {})


def spark(values: Sequence[float | None]) -> str:
    """A line of cells, two values to each, from the smallest (one dot) to the largest (four). `·` where both values are
    0, a blank where nothing is known. An odd value is alone at the right of its cell, so that lines of unequal length
    end at the same time."""
    known = [value for value in values if value is not None]
    low, top = min(known, default=0), max(known, default=0)
    heights = [_height(value, low, top) for value in [None] * (len(values) % 2) + list(values)]
    return "".join(_pair(heights[n], heights[n + 1]) for n in range(0, len(heights), 2))


def _pair(left: int | None, right: int | None) -> str:
    if left or right:
        return chr(BLANK + LEVELS[0][left or 0] + LEVELS[1][right or 0])
    return " " if left is None and right is None else "·"


def _height(value: float | None, low: float, top: float) -> int | None:
    """Dots, of four; two for what never changed."""
    if not value:
        return None if value is None else 0
    return 2 if top == low else 1 + round((value - low) / (top - low) * (HIGH - 1))
