"""A table in the width of a terminal.

While the table is too wide, its titles are broken at spaces, lists are cut behind an item, with the number of the
others, and sentences broken at spaces; then columns are dropped, those of zeros first, then the highest rank and the
last of a rank. Where that is not enough, the names take a line of their own above the other columns of rank 1. No name,
number or word of a status is ever cut: two topics may differ in the middle of their names. A column of rank 0, such as
a password that is shown once, is neither dropped nor cut. So a line of names, or with rank 0, may be too long.
"""

from __future__ import annotations

from kcli.cli.output.tables.render import cell, rounded, shown
from kcli.cli.output.terminal import painted
from kcli.text.escape import visible
from kcli.text.width import cells, items, middle, wrapped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kcli.cli.output.tables.shape import Column, Row
    from kcli.cli.output.terminal import Terminal

GAP = "  "
INDENT = "  "
LEAST = {"list": 12, "sentence": 24}
"""Cells below which other columns are dropped rather than a column cut further, unless it has a `width` of its own."""
FLOOR = 7
"""Cells below which nothing is cut while a column can be dropped."""
HEAD, DIM = "1", "2"
COLOURS = {
    "OK": "32",
    "NO COMMIT": "33",
    "BEHIND": "33",
    "UNKNOWN": "35",
    "IDLE": DIM,
    "REWOUND": "33",
    "TXN-BLOCKED": "35",
    "GROWING": "1;33",
    "PAST END": "31",
    "STUCK": "31",
    "STALLED": "33",
    "ORPHANED": "31",
    "LOSING DATA": "1;31",
    "failed": "31",
    "refused": "31",
}


class _Part:
    """A column of one table: its cells, and how narrow and how wide it may be."""

    def __init__(self, column: Column, rows: Sequence[Row], *, exact: bool) -> None:
        self.column = column
        self.title = visible(column.title)
        text = shown if exact else rounded
        self.cells = [visible(text(column, row)) for row in rows]
        longest = max(map(cells, self.cells), default=0)
        self.natural = max(cells(self.title), longest)
        title = max(map(cells, self.title.split(" ")))
        self.named = column.form == "name" and not column.width
        self.zeros = column.right and all(row.get(column.name) in (0, None) for row in rows)
        least = column.width or LEAST.get(column.form, longest)
        self.narrow = max(min(longest, least), title)
        self.floor = max(min(self.narrow, FLOOR), title) if column.form and not self.named else self.narrow
        self.width = self.natural

    def heads(self) -> list[str]:
        """The lines of its title."""
        return wrapped(self.title, self.width)

    def lines(self, place: int) -> list[str]:
        """The lines of a cell."""
        text = self.cells[place]
        if self.column.form == "sentence":
            return wrapped(text, self.width)
        return [items(text, self.width) if self.column.form == "list" else middle(text, self.width)]

    def padded(self, text: str) -> str:
        """A line of a cell, as wide as the column."""
        space = " " * (self.width - cells(text))
        return space + text if self.column.right else text + space


def fitted(
    columns: Sequence[Column], rows: Sequence[Row], terminal: Terminal, *, headers: bool = True, wide: bool = False
) -> tuple[list[str], list[str]]:
    """The lines of a table that is no wider than the terminal, and the titles of the columns for which there is no
    room. `wide` shows all of all columns, however long the lines are, and numbers exactly."""
    parts = [_Part(column, rows, exact=wide) for column in columns]
    kept, names = (parts, []) if wide else _chosen(parts, terminal.width)
    lines = []
    levels = [*((some, INDENT * bool(at)) for at, some in enumerate(_packed(names, terminal.width)))]
    levels += [(kept, INDENT * bool(names))] * bool(kept)
    if headers:
        for some, indent in levels:
            titles = [part.heads() for part in some]
            high = max(map(len, titles), default=0)
            lines += [
                painted(indent + line, HEAD, terminal.color)
                for line in _joined(some, [[""] * (high - len(title)) + title for title in titles])
            ]
    for place, row in enumerate(rows):
        for some, indent in levels:
            styles = [_style(part.column, row) if terminal.color else "" for part in some]
            lines += [indent + line for line in _joined(some, [part.lines(place) for part in some], styles)]
    return lines, [part.title for part in parts if part not in kept and part not in names]


def _joined(parts: list[_Part], blocks: list[list[str]], styles: Sequence[str] = ()) -> Iterable[str]:
    """The lines of cells that are beside each other."""
    for number in range(max(map(len, blocks), default=0)):
        texts = [block[number] if number < len(block) else "" for block in blocks]
        line = [part.padded(text) for part, text in zip(parts, texts, strict=True)]
        while line and not line[-1].strip():
            line.pop()
        if line:
            line[-1] = line[-1].rstrip()
        if any(styles):
            line = [painted(text, style, bool(style)) for text, style in zip(line, styles, strict=False)]
        yield GAP.join(line)


def _chosen(parts: list[_Part], width: int) -> tuple[list[_Part], list[_Part]]:
    """The columns for which there is room, each with its width; and the names that take a line above them, where there
    is no room for both."""
    kept = list(parts)
    names: list[_Part] = []
    while len(kept) > 1 and _needed(part.narrow for part in kept) > width:
        worst = max(kept, key=lambda part: (part.zeros and part.column.rank > 1, part.column.rank, parts.index(part)))
        if worst.column.rank > 1:
            kept.remove(worst)
        elif any(part.narrow > part.floor for part in kept):
            for part in kept:
                part.narrow = part.floor
        elif not names and (names := [part for part in kept if part.named and part.column.rank]):
            kept, width = [part for part in parts if part not in names], width - len(INDENT)  # there is room again
        elif worst.column.rank:
            kept.remove(worst)
        else:
            break
    if not kept:
        return kept, names
    room = width - len(GAP) * (len(kept) - 1)
    level = _level(kept, room)
    for part in kept:
        part.width = min(max(part.narrow, level), part.natural)
    left = room - sum(part.width for part in kept)
    for part in kept:
        if part.width < part.natural and left > 0:
            part.width, left = part.width + 1, left - 1
    if left < 0 and kept[0].column.rank and not kept[0].named:
        kept[0].width = max(room, 1)
    return kept, names


def _packed(names: list[_Part], width: int) -> list[list[_Part]]:
    """The names that are beside each other on a line, as many as fit."""
    packed: list[list[_Part]] = []
    for part in names:
        if packed and _needed(one.width for one in [*packed[-1], part]) + len(INDENT) <= width:
            packed[-1].append(part)
        else:
            packed.append([part])
    return packed


def _level(parts: list[_Part], room: int) -> int:
    """The most cells that all columns can have that want as many."""
    low, high = 0, max(part.natural for part in parts)
    while low < high:
        level = (low + high + 1) // 2
        if sum(min(max(part.narrow, level), part.natural) for part in parts) <= room:
            low = level
        else:
            high = level - 1
    return low


def _needed(widths: Iterable[int]) -> int:
    return sum(width + len(GAP) for width in widths) - len(GAP)


def _style(column: Column, row: Row) -> str:
    return COLOURS.get(cell(row.get(column.name)), "") if column.name in ("status", "result") else ""
