"""A line over time in braille dots: eight to a cell, drawn to whatever size there is."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from kcli.text.numbers import DASH, count, duration

if TYPE_CHECKING:
    from collections.abc import Callable

LABEL = 8
DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))


class Plot(Widget):
    """Points (seconds, value), oldest first; the newest is at the right edge."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"plot--axis", "plot--line"}

    def __init__(self, *, title: str = "", id: str | None = None) -> None:
        super().__init__(id=id)
        self.title = title
        self.unit: Callable[[float | None], str] = count
        self._points: list[tuple[float, float]] = []
        self._lines: list[str] = []
        self._made_for: tuple[Size, int] | None = None

    def put(self, points: list[tuple[float, float]]) -> None:
        """What is to be drawn."""
        self._points = points
        self._made_for = None
        self.refresh()

    def render_line(self, y: int) -> Strip:
        made_for = (self.size, len(self._points))
        if self._made_for != made_for:
            self._lines = self._draw(self.size.width, self.size.height)
            self._made_for = made_for
        text = self._lines[y] if y < len(self._lines) else ""
        axis, line = self.get_component_rich_style("plot--axis"), self.get_component_rich_style("plot--line")
        whole = 0 < y < len(self._lines) - 1
        segments = [Segment(text[: LABEL + 1], axis), Segment(text[LABEL + 1 :], line if whole else axis)]
        return Strip(segments).adjust_cell_length(self.size.width, self.rich_style)

    def _draw(self, width: int, height: int) -> list[str]:
        """A title line, the dots with the scale at their left, a line that says how far back they go."""
        rows, columns = height - 2, width - LABEL - 1
        if rows < 1 or columns < 2:
            return []
        top = max((value for _, value in self._points), default=0.0)
        cells = braille(self._points, columns, rows, top)
        labels = [""] * rows
        labels[0] = DASH if not self._points else self.unit(top) if top else ""
        if rows > 1:
            labels[-1] = "0"
        back = self._points[-1][0] - self._points[0][0] if self._points else 0.0
        lines = [self.title[:width]]
        lines += [f"{label:>{LABEL}}┤{row}" for label, row in zip(labels, cells, strict=True)]
        ago = f"{duration(back)} ago"
        lines.append(" " * LABEL + "└" + ago + "now".rjust(max(columns - len(ago), 0)))
        return lines


def braille(points: list[tuple[float, float]], columns: int, rows: int, top: float) -> list[str]:
    """`rows` strings of `columns` braille cells; between points the line is drawn, not only the points."""
    dots = [[0] * columns for _ in range(rows)]
    wide, high = columns * 2, rows * 4
    if not points:
        return ["".join(chr(0x2800) for _ in range(columns))] * rows
    begun, ended = points[0][0], points[-1][0]
    length = ended - begun or 1.0

    def place(point: tuple[float, float]) -> tuple[int, int]:
        x = round((point[0] - begun) / length * (wide - 1)) if ended > begun else wide - 1
        return x, high - 1 - round((point[1] / top if top else 0.0) * (high - 1))

    before = place(points[0])
    for point in points:
        here = place(point)
        steps = max(abs(here[0] - before[0]), abs(here[1] - before[1]), 1)
        for step in range(steps + 1):
            x = before[0] + round((here[0] - before[0]) * step / steps)
            y = before[1] + round((here[1] - before[1]) * step / steps)
            dots[y // 4][x // 2] |= DOTS[y % 4][x % 2]
        before = here
    return ["".join(chr(0x2800 + cell) for cell in row) for row in dots]
