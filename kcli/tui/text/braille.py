"""Lines in braille dots, two by four to a cell. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDE, HIGH = 2, 4
"""Dots of a cell."""
DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
LEVELS = ((0x00, 0x40, 0x44, 0x46, 0x47), (0x00, 0x80, 0xA0, 0xB0, 0xB8))
"""The dots of the left and the right half of a cell, filled from below to a height of 0 to 4."""
BLANK = 0x2800
DASHED = 3  # dots of a dash, and of the gap after it


class Canvas:
    """`columns` by `rows` cells; (0, 0) is the dot at the bottom left. A line belongs to a layer; a cell shows
    the dots of the layer that was drawn last in it."""

    def __init__(self, columns: int, rows: int) -> None:
        self.columns, self.rows = columns, rows
        self._dots = [[0] * columns for _ in range(rows)]
        self._layers = [[""] * columns for _ in range(rows)]

    def line(self, points: Sequence[tuple[int, int]], layer: str, *, dashed: bool = False) -> list[int]:
        """Connect dots; what is outside is not drawn. The highest row of cells that was touched in each column, counted
        from the top; `rows` where none was."""
        tops = [self.rows] * self.columns
        for (x0, y0), (x1, y1) in zip(points, points[1:] or points, strict=False):
            steps = max(abs(x1 - x0), abs(y1 - y0), 1)
            for step in range(steps + 1):
                x, y = x0 + round((x1 - x0) * step / steps), y0 + round((y1 - y0) * step / steps)
                if not dashed or x // DASHED % 2 == 0:
                    self._dot(x, y, layer, tops)
        return tops

    def _dot(self, x: int, y: int, layer: str, tops: list[int]) -> None:
        column, row = x // WIDE, self.rows - 1 - y // HIGH
        if 0 <= column < self.columns and 0 <= row < self.rows:
            if self._layers[row][column] != layer:
                self._dots[row][column], self._layers[row][column] = 0, layer
            self._dots[row][column] |= DOTS[HIGH - 1 - y % HIGH][x % WIDE]
            tops[column] = min(tops[column], row)

    def cell(self, row: int, column: int) -> tuple[str, str]:
        """The text of a cell, "" without dots, and its layer."""
        dots = self._dots[row][column]
        return (chr(BLANK + dots) if dots else ""), self._layers[row][column]


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
