"""Columns of a table: how a row is read, how much room each gets, and which rows a filter wants. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from rich.cells import cell_len

from kcli.text.numbers import count, duration, rate, size

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

GAP = 2
NARROW = 90
"""Cells of a table below which a status is its glyph alone."""
LEAST, LEAST_NAME = 12, 24
"""Cells under which a wide column, and one that holds names, is never cut."""
SPREAD = 160
"""Cells of a table from which columns share what is left."""
APART, BESIDE_DRAWING, DRAWN = 6, 2, 60
"""Cells that any column gets more, at most; in a table with a drawing (a line over time, tiles); and what that gets."""
ROUNDED = frozenset({count, duration, rate, size})
SHARE = 4
"""A name may take this part of the table (one fourth) before columns are hidden for it."""


def nothing(row: Any) -> None:
    """The `value` of a column by which no table is sorted: a line over time, a list."""


class Cell(NamedTuple):
    """The text of a cell; `tone` is "", bad, warn, good, dim or accent."""

    text: str
    tone: str = ""


class Column(NamedTuple):
    """`value` reads a row: rows are sorted by it, and `show` makes the text of the cell from it. `draw` makes the cell
    from the row itself, where that needs more than the value; `pieces` draws it anew in
    several tones, in the cells that it gets. `letter` (a capital) sorts by the column. A column of the
    lower `rank` stays longer when room is short; rank 0 always. `wide` takes more than `most` where its text needs it,
    and less where others need it. `name` is a wide one whose text is a name: it keeps `LEAST_NAME` cells before any
    other column gets room, and is cut in the middle. `least`: columns of a higher rank go before a wide one has fewer
    cells. `glyph`: its text begins with a glyph, the only thing shown of it
    in a table narrower than `NARROW`. `option` is the value of --sort with which the page's command has the same order,
    from the largest."""

    id: str
    label: str
    value: Callable[[Any], Any]
    show: Callable[[Any], str] = str
    draw: Callable[[Any], Cell] | None = None
    pieces: Callable[[Any, int], Sequence[Cell]] | None = None
    tone: str = ""
    right: bool = False
    letter: str = ""
    rank: int = 1
    wide: bool = False
    name: bool = False
    glyph: bool = False
    most: int = 40
    least: int = LEAST
    option: str = ""

    @property
    def sorts(self) -> bool:
        """Whether rows can be sorted by it."""
        return self.value is not nothing

    @property
    def searched(self) -> bool:
        """Whether a filter reads it: figures that are rounded change all the time, and are no words."""
        return self.show not in ROUNDED

    @property
    def flexible(self) -> bool:
        """Whether its width depends on the room that there is."""
        return self.wide or self.name

    def cell(self, row: Any) -> Cell:
        return Cell(self.show(self.value(row)), self.tone) if self.draw is None else self.draw(row)

    def texts(self, rows: Sequence[Any]) -> list[str]:
        """The texts of the cells of these rows, for a filter that reads all rows: only `draw` makes cells."""
        if self.draw is not None:
            return [self.draw(row).text for row in rows]
        value, show = self.value, self.show
        return [show(value(row)) for row in rows]


def fitting(
    columns: Sequence[Column], first: int, rows: Sequence[Any], width: int, known: dict[str, int]
) -> list[tuple[Column, int]]:
    """The columns that have room, with their widths in cells. The first column always stays; `first` others are
    scrolled away to the left. `known` remembers the widest text of each, so that columns do not jump to and fro.

    Columns of the highest rank are hidden until the others fit with wide ones at their least, and columns without a
    text where a wide one is cut; the room that is left goes to names, to other wide columns, and to hidden columns that
    fit after all."""
    wanted = [
        _short(column) if column.glyph and width < NARROW else column for column in (columns[0], *columns[1 + first :])
    ]
    for column in wanted:
        known[column.id] = max(known.get(column.id, 0), _longest(column, rows))
    needed = {column.id: max(cell_len(column.label) + 1, known[column.id]) for column in wanted}
    full = {
        column.id: needed[column.id] if column.flexible else min(needed[column.id], _most(column)) for column in wanted
    }
    sizes = {column.id: _least(column, full[column.id], width) for column in wanted}
    kept = _kept(wanted, sizes, width)
    if rows and _total(kept, {column.id: full[column.id] for column in kept}) > width:
        kept = [column for column in kept if known[column.id] or not column.rank]
    if _total(kept, sizes) > width:
        sizes |= {column.id: min(sizes[column.id], LEAST) for column in kept if column.wide}
    left = width - _total(kept, sizes)
    for column in sorted((column for column in kept if column.flexible), key=lambda column: not column.name):
        more = min(max(left, 0), full[column.id] - sizes[column.id])
        sizes[column.id] += more
        left -= more
    for column in sorted(wanted, key=lambda column: column.rank):
        if column not in kept and sizes[column.id] + GAP <= left:
            kept.append(column)
            left -= sizes[column.id] + GAP
    if width >= SPREAD:
        _share(kept, sizes, left)
    return [(column, sizes[column.id]) for column in wanted if column in kept]


def _share(columns: Sequence[Column], sizes: dict[str, int], left: int) -> None:
    """Give the room that no text needs to all columns alike, and to drawings most of it."""
    drawings = [column for column in columns if column.pieces]
    for some, most in ((columns, BESIDE_DRAWING if drawings else APART), (drawings, DRAWN)):
        more = min(max(left, 0) // max(len(some), 1), most)
        for column in some:
            sizes[column.id] += more
        left -= more * len(some)


def _kept(wanted: Sequence[Column], sizes: dict[str, int], width: int) -> list[Column]:
    """The columns that fit at these sizes: those of the highest rank go first."""
    kept = list(wanted)
    while len(kept) > 1 and _total(kept, sizes) > width:
        out = max(kept[1:], key=lambda column: (column.rank, kept.index(column)))
        if not out.rank:
            break
        kept.remove(out)
    return kept


def _short(column: Column) -> Column:
    """A column of statuses that shows their glyphs only."""
    return column._replace(
        label=column.label[:1], draw=lambda row: column.cell(row)._replace(text=column.cell(row).text[:1])
    )


def _least(column: Column, full: int, width: int) -> int:
    """The cells below which a column is not cut."""
    if not column.flexible:
        return full
    return min(full, max(LEAST_NAME, width // SHARE) if column.name else column.least)


def _longest(column: Column, rows: Sequence[Any]) -> int:
    """The cells of the longest text of these rows."""
    return max((cell_len(column.cell(row).text) for row in rows), default=0)


def _most(column: Column) -> int:
    return max(cell_len(column.label) + 1, column.most)


def _total(columns: Sequence[Column], sizes: dict[str, int]) -> int:
    return GAP + sum(sizes[column.id] + GAP for column in columns)


def searched_texts(columns: Sequence[Column], rows: Sequence[Any]) -> list[str]:
    """What a filter reads of each row, in lower case."""
    texts = [column.texts(rows) for column in columns if column.searched]
    return [" ".join(parts).lower() for parts in zip(*texts, strict=True)] if texts else [""] * len(rows)


def _words(text: str) -> tuple[list[str], list[str]]:
    """Of a filter, in lower case: the words that must be there, and those that must not, without their `!`."""
    words = text.lower().split()
    without = [word[1:] for word in words if word.startswith("!") and len(word) > 1]
    return [word for word in words if not word.startswith("!")], without


def left_by(text: str, rows: Sequence[Any], texts: Sequence[str]) -> list[Any]:
    """The rows that a filter leaves, where `texts` is what it reads of them, in lower case. A word a time, of the rows
    that the words before left: ten thousand rows take a millisecond."""
    needed, without = _words(text)
    left: Sequence[tuple[Any, str]] = list(zip(rows, texts, strict=True))
    for word in needed:
        left = [pair for pair in left if word in pair[1]]
    for word in without:
        left = [pair for pair in left if word not in pair[1]]
    return [row for row, _ in left]


def matcher(text: str) -> Callable[[str], bool] | None:
    """A filter's words: all must be in a row, those after `!` must not; whatever their case. None wants all."""
    needed, without = _words(text)
    if not text.strip():
        return None

    def wants(row: str) -> bool:
        row = row.lower()
        return all(word in row for word in needed) and not any(word in row for word in without)

    return wants
