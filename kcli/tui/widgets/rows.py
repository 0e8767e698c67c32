"""A table that draws only the lines that are seen: a hundred thousand rows cost what fifty do.

Rows are anybody's values; a column says how a row is read, as text and as a sort key. The cursor stays on the row
it is on, by its key, when new rows come, other columns sort, or a filter hides its neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from textwrap import wrap
from typing import Any, ClassVar, NamedTuple

from rich.cells import cell_len
from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from kcli.tui.text.printable import fitted
from kcli.tui.themes import readable
from kcli.tui.widgets.columns import Cell, Column, fitting, left_by, searched_texts

LEAST = 20  # rows whose texts are measured
TONES = ("bad", "warn", "good", "dim", "accent")


class Chosen(NamedTuple):
    """How the rows are ordered: the id of a column, and whether from the largest."""

    column: str
    down: bool


class Rows(ScrollView, can_focus=True):
    """Rows under columns. Posts `Rows.Entered` for enter or a double click, `Rows.Moved` when the cursor moves,
    `Rows.Sorted` when another order was chosen."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "rows--header",
        "rows--sorted",
        "rows--cursor",
        "rows--bad",
        "rows--warn",
        "rows--good",
        "rows--dim",
        "rows--accent",
        "rows--here",
        "rows--mark",
    }
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False, id="rows.up"),
        Binding("down,j", "move(1)", "Down", show=False, id="rows.down"),
        Binding("pageup,ctrl+u", "page(-1)", "Page up", show=False, id="rows.page_up"),
        Binding("pagedown,ctrl+d", "page(1)", "Page down", show=False, id="rows.page_down"),
        Binding("home,g", "top", "First row", show=False, id="rows.first"),
        Binding("end,G", "bottom", "Last row", show=False, id="rows.last"),
        Binding("h,shift+left", "shift(-1)", "Columns left", show=False, id="rows.left"),
        Binding("l,shift+right", "shift(1)", "Columns right", show=False, id="rows.right"),
        Binding("enter", "enter", "Open", id="rows.enter"),
        Binding("m", "mark", "Mark", show=False, id="rows.mark"),
        Binding("u", "unmark", "Unmark all", show=False, id="rows.unmark"),
    ]

    cursor: reactive[int] = reactive(0, repaint=False)
    ordered: reactive[Chosen | None] = reactive(None)
    wanted: reactive[str] = reactive("")
    first_column: reactive[int] = reactive(0)

    class Entered(Message):
        """The row under the cursor was opened."""

        def __init__(self, rows: Rows, row: Any) -> None:
            super().__init__()
            self.rows = rows
            self.row = row

        @property
        def control(self) -> Rows:
            return self.rows

    class Moved(Message):
        """The cursor is on another row now."""

        def __init__(self, rows: Rows, row: Any) -> None:
            super().__init__()
            self.rows = rows
            self.row = row

        @property
        def control(self) -> Rows:
            return self.rows

    class Sorted(Message):
        """The rows are in another order now."""

    class Marked(Message):
        """Other rows are marked now."""

    def __init__(
        self,
        columns: Sequence[Column],
        key: Callable[[Any], object],
        *,
        order: Callable[[Any], Any] | None = None,
        empty: str = "Nothing here.",
        opens: bool = True,
        enters: str = "Open",
        marks: bool = False,
        id: str | None = None,
    ) -> None:
        """`key` names a row; `order` is the sort key while no column is chosen; `opens`: enter does something, in the
        footer `enters` says what; `marks`: rows can be marked, for what is done with several."""
        super().__init__(id=id)
        self.columns = list(columns)
        self.empty = empty
        self._waiting = ""
        self._faded = False
        self.told = False  # whether rows were ever put, be it none
        self._key = key
        self._opens = opens
        self.enters = enters
        self._marks = marks
        self._marked: set[object] = set()
        self._order = order
        self._given: list[Any] = []  # as they were put
        self._all: list[Any] = []  # the same in order
        self._texts: Sequence[str] | None = None  # of all rows, what a filter reads; made when it is first wanted
        self._shown: list[Any] = []
        self._at: object = None
        self._layout: list[tuple[Column, int]] = []
        self._widest: dict[str, int] = {}

    # -- what is shown ---

    def settle(self) -> None:
        """What these rows are of is not there: the table is empty if it was never filled, else it stays."""
        if not self.told:
            self.put([])

    def put(self, rows: Iterable[Any]) -> None:
        """The newest rows, in any order."""
        self.told = True
        self._given = list(rows)
        self._sort()
        if self._marked:
            self._marked &= {self._key(row) for row in self._all}
        self._arrange()

    @property
    def waiting(self) -> str:
        """The text, in lines, until rows are put for the first time; "" is the text of `empty`."""
        return self._waiting

    @waiting.setter
    def waiting(self, words: str) -> None:
        if words != self._waiting:
            self._waiting = words
            self.refresh()

    @property
    def faded(self) -> bool:
        """Whether the rows are of a while ago: they are dim then."""
        return self._faded

    @faded.setter
    def faded(self, faded: bool) -> None:
        if faded != self._faded:
            self._faded = faded
            self.refresh()

    def have(self, columns: Sequence[Column]) -> None:
        """Show other columns of the same rows."""
        self.columns = list(columns)
        if self.ordered is not None and all(column.id != self.ordered.column for column in self.columns):
            self.ordered = None
        self._sort()
        self._arrange()

    def relabel(self, id: str, label: str) -> None:
        """Give a column another label."""
        self.columns = [column._replace(label=label) if column.id == id else column for column in self.columns]

    @property
    def row(self) -> Any | None:
        """The row under the cursor."""
        return self._shown[self.cursor] if self.cursor < len(self._shown) else None

    @property
    def at(self) -> object:
        """The key of the row under the cursor; before rows are put, of the one it will be on."""
        return self._at

    @at.setter
    def at(self, key: object) -> None:
        self._at = key
        self._arrange()

    @property
    def marked(self) -> list[Any]:
        """The rows that are marked, in order; also those that a filter hides."""
        return [row for row in self._all if self._key(row) in self._marked] if self._marked else []

    @property
    def shown(self) -> list[Any]:
        """The rows that pass the filter, in order."""
        return self._shown

    @property
    def known(self) -> int:
        """How many rows there are, with those that the filter hides."""
        return len(self._all)

    @property
    def in_view(self) -> list[Any]:
        """The rows on the screen now: those that details are worth asking for."""
        top = int(self.scroll_offset.y)
        return self._shown[top : top + max(self.size.height - 1, 0)]

    def _sort(self) -> None:
        """Once for all that is typed into the filter. The texts are those of rows in this order."""
        self._all, self._texts = self._in_order(self._given), None

    def _arrange(self) -> None:
        before, self._shown = self._shown, self._wanted_rows()
        if bool(before) != bool(self._shown) and self.is_attached:
            self.refresh_bindings()
        self._measure()
        place = next((n for n, row in enumerate(self._shown) if self._key(row) == self._at), None)
        if place is None:
            place = min(self.cursor, max(len(self._shown) - 1, 0))
        self.set_reactive(Rows.cursor, place)
        self._stand(place)
        self.refresh()

    def _wanted_rows(self) -> list[Any]:
        """The rows that a filter leaves. The text of each is made once, however many letters are typed."""
        if not self.wanted.strip():
            return self._all
        if self._texts is None:
            self._texts = searched_texts(self.columns, self._all)
        return left_by(self.wanted, self._all, self._texts)

    def _in_order(self, rows: Sequence[Any]) -> list[Any]:
        if self.ordered is None:
            return sorted(rows, key=self._order) if self._order is not None else list(rows)
        column = next(column for column in self.columns if column.id == self.ordered.column)
        known = [row for row in rows if column.value(row) is not None]
        return sorted(known, key=column.value, reverse=self.ordered.down) + [
            row for row in rows if column.value(row) is None
        ]

    def _measure(self) -> None:
        top = int(self.scroll_offset.y)
        seen = self._shown[top : top + max(self.size.height - 1, LEAST)]  # it may be growing
        self._layout = fitting(self.columns, self.first_column, seen, self.size.width, self._widest)
        self.virtual_size = Size(self.size.width, len(self._shown) + 1)

    # -- drawing ---

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if y == 0:
            return self._header(width)
        place = int(self.scroll_offset.y) + y - 1
        if place >= len(self._shown):
            words = self._instead(y) if not self._shown else ""
            tone = self._style("bad" if words.startswith("✖") else "dim")
            return Strip([Segment(f"  {words}"[:width].ljust(width), tone)], width)
        return self._line(self._shown[place], place == self.cursor, width)

    def _instead(self, y: int) -> str:
        """A line of the text that is shown without rows."""
        words = self._waiting if self._waiting and not self.told else self._why_empty
        lines = [part for line in words.split("\n") for part in wrap(line, max(self.size.width - 4, 1)) or [""]]
        return lines[y - 2] if 0 <= y - 2 < len(lines) else ""

    @property
    def _why_empty(self) -> str:
        """A filter that leaves nothing is no empty cluster."""
        return f"None of {self.known:,} fits the filter; escape shows all." if self._all else self.empty

    def _header(self, width: int) -> Strip:
        plain, sorted_style = self._style("header"), self._style("sorted")
        segments = [Segment("  ", plain)]
        for column, size in self._layout:
            chosen = self.ordered is not None and self.ordered.column == column.id
            mark = ("▼" if self.ordered is not None and self.ordered.down else "▲") if chosen else ""
            label = fitted(column.label + mark, size, right=column.right)
            segments.append(Segment(label + "  ", sorted_style if chosen else plain))
        return Strip(segments).extend_cell_length(width, plain).crop(0, width)

    def _line(self, row: Any, here: bool, width: int) -> Strip:
        ground = self._style("cursor") if here else self.rich_style
        marked = bool(self._marked) and self._key(row) in self._marked
        bar = "▌" if here else " "
        segments = [Segment(bar if marked else f"{bar} ", ground)]
        if marked:
            segments.append(Segment("✓", ground + self._style("mark")))
        for column, size in self._layout:
            if column.pieces is not None:
                segments += self._pieces(column.pieces(row, size), size, ground, here)
                continue
            cell = column.cell(row)
            if self._faded:
                cell = cell._replace(tone="dim")
            style = ground + self._tone(cell, here) if cell.tone else ground
            segments.append(Segment(fitted(cell.text, size, right=column.right, middle=column.name), style))
            segments.append(Segment("  ", ground))
        return Strip(segments).extend_cell_length(width, ground).crop(0, width)

    def _pieces(self, cells: Sequence[Cell], size: int, ground: Style, here: bool) -> list[Segment]:
        """A cell of several tones; their own colours stay on the line of the cursor, those of words as in `_tone`."""
        segments = []
        for cell in cells:
            if self._faded:
                cell = cell._replace(tone="dim")
            style = self._tone(cell, here=False) if cell.tone else Style.null()
            if here and cell.tone in TONES:
                style += Style(color=self._on_cursor(style.color), dim=False)
            segments.append(Segment(cell.text, ground + style))
        return [*segments, Segment(" " * (size - sum(len(cell.text) for cell in cells) + 2), ground)]

    def _tone(self, cell: Cell, here: bool) -> Style:
        style = self._style(cell.tone)
        if cell.tone == "here":
            return style
        if here:  # of a status the colour stays, as far as it can be read on the ground of the cursor
            return Style(color=None if cell.tone == "dim" else self._on_cursor(style.color), bold=True)
        return Style(color=style.color, bold=style.bold, dim=style.dim)

    def _on_cursor(self, color: Color | None) -> Color | None:
        ground = self._style("cursor").bgcolor
        return readable(color, ground) if color and ground else color

    def _style(self, part: str) -> Style:
        return self.get_component_rich_style(f"rows--{part}")

    # -- moving ---

    def watch_cursor(self, before: int, now: int) -> None:
        """The line that the cursor left and the one it is on are drawn anew; all lines are where they scroll."""
        self._stand(now)
        top = int(self.scroll_offset.y)
        self.refresh(*(Region(0, place - top + 1, self.size.width, 1) for place in (before, now)))

    def _stand(self, place: int) -> None:
        if not self.told:
            return
        row = self._shown[place] if place < len(self._shown) else None
        before, self._at = self._at, None if row is None else self._key(row)
        self.scroll_to_region(Region(0, place, 1, 2), animate=False, force=True, immediate=True)
        if row is not None and before != self._at:
            self.post_message(self.Moved(self, row))

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Other rows are seen now, whose texts may be longer."""
        super().watch_scroll_y(old_value, new_value)
        if round(old_value) != round(new_value):
            self._measure()

    def validate_cursor(self, place: int) -> int:
        return max(0, min(place, len(self._shown) - 1))

    def validate_first_column(self, first: int) -> int:
        return max(0, min(first, len(self.columns) - 2))

    def watch_first_column(self) -> None:
        self._measure()
        self.refresh()

    @property
    def sort_option(self) -> str:
        """` --sort X`, as a command has it for this order; "" for the usual order and where no command has it."""
        chosen = self.ordered
        if chosen is None or not chosen.down:
            return ""
        option = next(column.option for column in self.columns if column.id == chosen.column)
        return f" --sort {option}" if option else ""

    def watch_ordered(self) -> None:
        self._sort()
        self._arrange()
        self.post_message(self.Sorted())

    def watch_wanted(self) -> None:
        self._arrange()

    def has_cut(self, id: str) -> bool:
        """Whether a column has no room for some of the texts in it, also where none of these is in view."""
        widths = fitting(self.columns, self.first_column, self._shown, self.size.width, {})
        column, room = next(((column, size) for column, size in widths if column.id == id), (self.columns[0], 0))
        return any(cell_len(column.cell(row).text) > room for row in self._shown)

    def on_resize(self) -> None:
        self._widest.clear()
        self._measure()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The footer offers enter only on a row that opens, and marks where something is done with them."""
        return self._marks if action in ("mark", "unmark") else action != "enter" or (self._opens and bool(self._shown))

    def action_move(self, by: int) -> None:
        self.cursor += by

    def action_page(self, by: int) -> None:
        self.cursor += by * max(self.size.height - 2, 1)

    def action_top(self) -> None:
        self.cursor = 0

    def action_bottom(self) -> None:
        self.cursor = len(self._shown) - 1

    def action_shift(self, by: int) -> None:
        self.first_column += by

    def action_enter(self) -> None:
        if self._opens and self.row is not None:
            self.post_message(self.Entered(self, self.row))

    def action_mark(self) -> None:
        """Mark the row under the cursor, or no longer; the cursor moves to the next row."""
        if self.row is not None:
            self._marked ^= {self._key(self.row)}
            self.cursor += 1
            self.refresh()
            self.post_message(self.Marked())

    def action_unmark(self) -> None:
        self._marked.clear()
        self.refresh()
        self.post_message(self.Marked())

    def sort_by(self, column: Column) -> None:
        """By this column, where it has something to sort by: from the largest for numbers, again for the other way, a
        third time for the usual order."""
        if not column.sorts:
            return
        natural = Chosen(column.id, column.right)
        if self.ordered is None or self.ordered.column != column.id:
            self.ordered = natural
        else:
            self.ordered = Chosen(column.id, not natural.down) if self.ordered == natural else None

    def on_key(self, event: events.Key) -> None:
        column = next((column for column in self.columns if column.letter and column.letter == event.character), None)
        if column is not None:
            event.stop()
            self.sort_by(column)

    def on_click(self, event: events.Click) -> None:
        if event.y == 0:
            column = self._column_at(event.x)
            if column is not None:
                self.sort_by(column)
            return
        place = int(self.scroll_offset.y) + event.y - 1
        if place < len(self._shown):
            self.cursor = place
            if event.chain == 2:
                self.action_enter()

    def _column_at(self, x: int) -> Column | None:
        left = 2
        for column, size in self._layout:
            if left <= x < left + size + 2:
                return column
            left += size + 2
        return None
