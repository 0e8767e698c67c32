"""The table of the heatmap: a name, its sum, and a shade for each partition; the cursor is on one of those."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kcli.tui.screens.heat.cells import Heat, HeatRow, shade, steps
from kcli.tui.text.printable import printable
from kcli.tui.widgets.columns import Cell, Column, nothing
from kcli.tui.widgets.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Callable

EACH = 2  # cells of a partition, where there is room


class Grid(Rows):
    """Rows of partitions. left and right move among those of the row; `unit` makes the text of a figure."""

    def __init__(self, unit: Callable[[float | None], str], **options: Any) -> None:
        self.unit = unit
        self._steps: list[float] = []
        self.partition = 0
        super().__init__(
            self._columns(), key=lambda row: row.name, order=lambda row: (-row.hottest, row.name), **options
        )

    def measure(self, unit: Callable[[float | None], str], rows: Sequence[HeatRow]) -> None:
        """Other figures."""
        self.unit = unit
        self._steps = steps(cell.value for row in rows for cell in row.cells)
        self._widest.clear()
        self.put(rows)

    @property
    def legend(self) -> str:
        """What the shades mean."""
        return "  ".join(f"{glyph} ≥{self.unit(one)}" for glyph, one in zip("░▒▓█", self._steps, strict=False))

    @property
    def here(self) -> Heat | None:
        """The partition under the cursor."""
        row = self.row
        return row.cells[min(self.partition, len(row.cells) - 1)] if row is not None and row.cells else None

    def action_shift(self, by: int) -> None:
        row = self.row
        if row is not None:
            self.partition = max(0, min(min(self.partition, len(row.cells) - 1) + by, len(row.cells) - 1))
            self.refresh()
            self.post_message(self.Moved(self, row))

    def _columns(self) -> list[Column]:
        return [
            Column("name", "NAME", lambda row: row.name, printable, letter="N", rank=0, name=True),
            Column("sum", "SUM", lambda row: row.total, lambda one: self.unit(one), right=True, letter="S", rank=0),
            Column("most", "MOST", _most, lambda one: self.unit(one), right=True, letter="M", rank=2),
            Column(
                "heat",
                "PARTITIONS",
                nothing,
                draw=lambda row: Cell("█" * EACH * len(row.cells)),
                pieces=self._shades,
                rank=0,
                wide=True,
                most=1000,
            ),
        ]

    def _shades(self, row: HeatRow, room: int) -> list[Cell]:
        """As many cells a partition as there is room for; where there are more partitions than cells, each cell is the
        hottest of some."""
        each = EACH if len(row.cells) * EACH <= room else 1
        some = max(-(-len(row.cells) // room), 1) if room else 1
        pieces = []
        for first in range(0, len(row.cells), some):
            cells = row.cells[first : first + some]
            hottest = max(cells, key=lambda cell: -1.0 if cell.value is None else cell.value)
            here = row is self.row and first <= min(self.partition, len(row.cells) - 1) < first + some
            glyph = shade(hottest.value, self._steps)
            quiet = hottest.tone == "good" or not hottest.value
            pieces.append(Cell(glyph * each, "here" if here else "dim" if quiet else hottest.tone))
        return pieces


def _most(row: HeatRow) -> float | None:
    return row.hottest if row.total is not None else None
