"""A plot of a value over time, with a cursor that moves through it."""

from __future__ import annotations

from bisect import bisect_right
from itertools import groupby
from textwrap import wrap
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from kcli.text.numbers import DASH, rate
from kcli.tui.text.chart import Chart, Curve, Drawing, Piece, clock, drawn
from kcli.tui.text.printable import fitted

if TYPE_CHECKING:
    from textual.geometry import Size

GAP = 2
LEAST = 5  # lines of a plot that has room for one line of its title only


class Plot(Widget):
    """A title, in two lines where one has no room for it, the chart, and at the right of the title what is at the
    cursor. `at` is the time of the cursor (seconds since the epoch); None without a cursor."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "plot--axis",
        "plot--grid",
        "plot--ahead",
        "plot--area",
        "plot--name",
        "plot--in",
        "plot--out",
        "plot--event",
        "plot--cursor",
    }

    def __init__(self, *, title: str = "", empty: str = "Nothing is known yet.", id: str | None = None) -> None:
        super().__init__(id=id)
        self.title = title
        self.empty = empty
        self.at: float | None = None
        self.chart = Chart()
        self._drawing = Drawing([], 0, 0)
        self._made_for: tuple[Size, int] | None = None

    def put(self, chart: Chart) -> None:
        """What is to be drawn."""
        self.chart = chart
        self._made_for = None
        if self.at is not None:
            self.at = max(self.at, chart.begun)
        self.refresh()

    def move(self, by: int) -> None:
        """Move the cursor by this number of cells; beyond the newest point it ends."""
        if not self.chart.points or self._drawing.columns < 2:
            return
        cell = (self.chart.ended - self.chart.begun) / (self._drawing.columns - 1)
        at = (self.chart.now if self.at is None else self.at) + by * cell
        self.at = None if at > self.chart.now else max(at, self.chart.begun)
        self.refresh()

    @property
    def reading(self) -> str:
        """What was at the time of the cursor: the value, the other lines, and what happened there."""
        point = None if self.at is None else self.chart.at(self.at)
        if point is None or self.at is None:
            return ""
        at, value = point
        others = [f"{curve.layer} {_value(curve, at)}/s" for curve in self.chart.curves if curve.points]
        near = (self.chart.ended - self.chart.begun) / max(self._drawing.columns - 1, 1)
        happened = [f"▲ {mark.text}" for mark in self.chart.marks if abs(mark.at - self.at) <= near]
        return "  ".join([clock(at), self.chart.unit(value), *others, *happened[-1:]])

    # -- drawing ---

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        heads = self._heads(width)
        if self._made_for != (self.size, len(heads)):
            self._drawing = drawn(self.chart, width, self.size.height - len(heads))
            self._made_for = self.size, len(heads)
        if y < len(heads):
            return self._head(heads[y], width, pointed=y == 0)
        y -= len(heads) - 1
        last = len(self._drawing.rows)
        if not last and y == (self.size.height - len(heads) + 1) // 2:
            text = self.empty.center(width)
            return Strip([Segment(fitted(text, width), self._tone("axis", self.rich_style))], width)
        if y > last:
            return Strip.blank(width, self.rich_style)
        pieces = self._drawing.rows[y - 1]
        return Strip(self._segments(self._pointed(pieces))).adjust_cell_length(width, self.rich_style)

    def _heads(self, width: int) -> list[str]:
        """The title in its lines: one while there is a cursor, whose figures are beside it."""
        if self.at is not None or cell_len(self.title) <= width or self.size.height <= LEAST:
            return [self.title]
        first, *more = wrap(self.title, width, break_on_hyphens=False) or [""]
        return [first, " ".join(more)]

    def _head(self, title: str, width: int, *, pointed: bool) -> Strip:
        reading = self.reading if pointed else ""
        room = max(width - cell_len(reading) - GAP, 0) if reading else width
        segments = [Segment(fitted(title, room), self._tone("axis", self.rich_style))]
        if reading:
            segments.append(Segment(" " * GAP + reading, self._tone("cursor", self.rich_style)))
        return Strip(segments).adjust_cell_length(width, self.rich_style)

    def _pointed(self, pieces: list[Piece]) -> list[Piece]:
        """A row with the line of the cursor through it."""
        span = self.chart.ended - self.chart.begun
        if self.at is None or span <= 0:
            return pieces
        here = round((self.at - self.chart.begun) / span * (self._drawing.columns - 1))
        if len(pieces) > 1:
            line = pieces[1 + here]._replace(text="│", style="cursor")
            return [*pieces[: 1 + here], line, *pieces[2 + here :]]
        axis, at = pieces[0], self._drawing.left + here
        foot = Piece("┴" if axis.text[at] == "─" else axis.text[at], "cursor")
        return [axis._replace(text=axis.text[:at]), foot, axis._replace(text=axis.text[at + 1 :])]

    def _segments(self, pieces: list[Piece]) -> list[Segment]:
        area = self.rich_style + Style(bgcolor=self.get_component_rich_style("plot--area").color)
        return [
            Segment("".join(piece.text for piece in some), self._tone(style, area if inside else self.rich_style))
            for (style, inside), some in groupby(pieces, key=lambda piece: (piece.style, piece.area))
        ]

    def _tone(self, part: str, ground: Style) -> Style:
        """The colour of a part on a ground."""
        style = self.get_component_rich_style(f"plot--{part}")
        return ground + Style(color=style.color, bold=style.bold)


def _value(curve: Curve, at: float) -> str:
    """What another line has at a moment."""
    place = bisect_right([then for then, _ in curve.points], at) - 1
    return rate(curve.points[place][1]) if place >= 0 else DASH
