"""Columns of a table: how a row is read, how much room each gets, and which rows a filter wants. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from rich.cells import cell_len

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

GAP = 2


class Cell(NamedTuple):
    """The text of a cell; `tone` is "", bad, warn, good, dim or accent."""

    text: str
    tone: str = ""


class Column(NamedTuple):
    """`value` reads a row: rows are sorted by it, and `show` makes the text of the cell from it. `draw` makes the cell
    from the row itself, where that needs more than the value. `letter` (a capital) sorts by the column. A column of the
    lower `rank` stays longer when room is short; rank 0 always. `wide` gives way first when room is short, and takes
    more than `most` where its text needs it. `option` is the value of --sort with which the page's command has the same
    order, from the largest."""

    id: str
    label: str
    value: Callable[[Any], Any]
    show: Callable[[Any], str] = str
    draw: Callable[[Any], Cell] | None = None
    tone: str = ""
    right: bool = False
    letter: str = ""
    rank: int = 1
    wide: bool = False
    most: int = 40
    option: str = ""

    def cell(self, row: Any) -> Cell:
        return Cell(self.show(self.value(row)), self.tone) if self.draw is None else self.draw(row)


def fitting(
    columns: Sequence[Column], first: int, rows: Sequence[Any], width: int, known: dict[str, int]
) -> list[tuple[Column, int]]:
    """The columns that have room, with their widths in cells. The first column always stays; `first` others are
    scrolled away to the left. `known` remembers the widest text of each, so that columns do not jump to and fro."""
    kept = [columns[0], *columns[1 + first :]]
    for column in kept:
        known[column.id] = max(known.get(column.id, 0), _size(column, rows))
    sizes = {column.id: known[column.id] if column.wide else min(known[column.id], _most(column)) for column in kept}
    while len(kept) > 1 and _total(kept, sizes) > width:
        needed = _total(kept, sizes) - width
        wide = [column for column in kept if column.wide and sizes[column.id] > 12]
        if wide:
            widest = max(wide, key=lambda column: sizes[column.id])
            sizes[widest.id] = max(12, sizes[widest.id] - needed)
            continue
        out = max(kept, key=lambda column: (column.rank, kept.index(column)))
        if not out.rank:
            break
        kept.remove(out)
    return [(column, sizes[column.id]) for column in kept]


def _size(column: Column, rows: Sequence[Any]) -> int:
    longest = max((cell_len(column.cell(row).text) for row in rows), default=0)
    return max(cell_len(column.label) + 1, longest)


def _most(column: Column) -> int:
    return max(cell_len(column.label) + 1, column.most)


def _total(columns: Sequence[Column], sizes: dict[str, int]) -> int:
    return GAP + sum(sizes[column.id] + GAP for column in columns)


def matcher(text: str) -> Callable[[str], bool] | None:
    """A filter's words: all must be in a row, those after `!` must not; whatever their case. None wants all."""
    words = text.lower().split()
    if not words:
        return None
    without = [word[1:] for word in words if word.startswith("!") and len(word) > 1]
    needed = [word for word in words if not word.startswith("!")]

    def wants(row: str) -> bool:
        row = row.lower()
        return all(word in row for word in needed) and not any(word in row for word in without)

    return wants
