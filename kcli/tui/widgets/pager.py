"""A text that scrolls and draws only the lines in view: ten megabytes cost what one screen does."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import ClassVar, overload

from rich.cells import cell_len, chop_cells
from rich.highlighter import JSONHighlighter
from rich.text import Span, Text
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

SIGNS = {"+ ": "pager--added", "- ": "pager--removed"}
KINDS = {
    "json.key": "pager--key",
    "json.str": "pager--string",
    "json.number": "pager--number",
    "json.bool_true": "pager--word",
    "json.bool_false": "pager--word",
    "json.null": "pager--word",
}
"""What Rich finds in JSON, in colours of the theme: Rich's own cannot be read on a light ground."""
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"?|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)
"""A token of JSON, or of its beginning."""
INDENT = "  "
DEEPEST = 40
"""Steps that a line is indented at most: brackets alone would cost the square of their number."""
LINE = 16  # bytes of a hex line


class Pager(ScrollView, can_focus=True):
    """Lines of text, each fit for a terminal; long ones are wrapped at the width. With `json` they have the colours of
    JSON; with `signs` lines that begin with `+` and `-` have those of what came and what went. `make` is called for the
    lines when the text is first drawn. Its keys are those of tables, also in keys.toml."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {*SIGNS.values(), *KINDS.values()}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "scroll_up", "Up", show=False, id="rows.up"),
        Binding("down,j", "scroll_down", "Down", show=False, id="rows.down"),
        Binding("pageup,ctrl+u", "page_up", "Page up", show=False, id="rows.page_up"),
        Binding("pagedown,ctrl+d", "page_down", "Page down", show=False, id="rows.page_down"),
        Binding("home,g", "scroll_home", "First line", show=False, id="rows.first"),
        Binding("end,G", "scroll_end", "Last line", show=False, id="rows.last"),
    ]

    def __init__(
        self, make: Callable[[], Sequence[str]], *, json: bool = False, signs: bool = False, id: str | None = None
    ) -> None:
        super().__init__(id=id)
        self._make: Callable[[], Sequence[str]] | None = make
        self.json = json
        self._signs = signs
        self._lines: Sequence[str] = ()
        self._ends: list[int] | None = None  # by line, the rows up to its end; None where no line is wrapped
        self._width = 0
        self._cut: tuple[int, list[str]] = (-1, [])  # the rows of the line that was drawn last, if it is not ASCII

    @property
    def lines(self) -> Sequence[str]:
        """The lines that are shown."""
        if self._make is not None:
            self._lines, self._make = self._make(), None
        return self._lines

    def put(self, lines: Sequence[str]) -> None:
        """Show these lines, from the first on."""
        self._lines, self._make = lines, None
        self._lay_out()
        self.scroll_home(animate=False)

    def action_scroll_home(self) -> None:
        self.scroll_home(animate=False)

    def action_scroll_end(self) -> None:
        """To the last line at once: a way through half a million lines would be drawn for nothing."""
        self.scroll_end(animate=False)

    def on_show(self) -> None:
        self._lay_out()

    def on_resize(self) -> None:
        if self.is_on_screen:
            self._lay_out()

    def _lay_out(self) -> None:
        """How many rows each line takes at this width. Lines of a type that knows its widest are not measured."""
        self._width = max(self.scrollable_content_region.width, 1)
        self._cut = (-1, [])
        widest = getattr(self.lines, "widest", None)
        if widest is not None and widest <= self._width:
            self._ends = None
            rows = len(self.lines)
        else:
            self._ends = list(accumulate(self._rows_of(line) for line in self.lines))
            rows = self._ends[-1] if self._ends else 0
        self.virtual_size = Size(self._width, rows)
        self.refresh()

    def _rows_of(self, line: str) -> int:
        if len(line) <= self._width and line.isascii():
            return 1
        return max(-(-len(line) // self._width), 1) if line.isascii() else len(chop_cells(line, self._width)) or 1

    def render_line(self, y: int) -> Strip:
        row = int(self.scroll_offset.y) + y
        text = self._row(row)
        drawn = Text(text, end="")
        if self.json:
            _COLOURS.highlight(drawn)
            drawn.spans = [
                Span(begin, end, self.get_component_rich_style(KINDS[str(kind)], partial=True))
                for begin, end, kind in drawn.spans
                if kind in KINDS
            ]
        kind = SIGNS.get(text[:2]) if self._signs else None
        if kind is not None:
            drawn.stylize(self.get_component_rich_style(kind, partial=True))
        strip = Strip(drawn.render(self.app.console), cell_len(text))
        return strip.adjust_cell_length(self.size.width).apply_style(self.rich_style)

    def _row(self, row: int) -> str:
        """The text of a row, "" after the last."""
        if self._ends is None:
            return self.lines[row] if row < len(self.lines) else ""
        at = bisect_right(self._ends, row)
        if at >= len(self._ends):
            return ""
        line, part = self.lines[at], row - (self._ends[at - 1] if at else 0)
        if line.isascii():
            return line[part * self._width : (part + 1) * self._width]
        if self._cut[0] != at:
            self._cut = at, chop_cells(line, self._width)
        parts = self._cut[1]
        return parts[part] if part < len(parts) else ""


_COLOURS = JSONHighlighter()


def indented(text: str) -> list[str]:
    """JSON of which a text is the beginning, as indented lines: by its tokens alone, so that it may end anywhere."""
    lines: list[str] = []
    line, depth, opened = "", 0, False
    for match in TOKEN.finditer(text):
        token = match[0]
        if token in "}]":
            depth = max(depth - 1, 0)
            if opened:  # nothing was in it
                line += token
            else:
                lines.append(line)
                line = INDENT * min(depth, DEEPEST) + token
            opened = False
            continue
        if opened:
            lines.append(line)
            line, opened = INDENT * min(depth, DEEPEST), False
        if token == ",":
            lines.append(line + token)
            line = INDENT * min(depth, DEEPEST)
        elif token == ":":
            line += ": "
        else:
            line += token
            opened = token in "{["
            depth += opened
    return [*lines, line] if line.strip() else lines


class HexLines(Sequence[str]):
    """Sixteen bytes a line: their offset, their numbers, their letters."""

    widest = 8 + 2 + LINE * 3 - 1 + 2 + LINE

    def __init__(self, data: bytes) -> None:
        self._data = data

    def __len__(self) -> int:
        return (len(self._data) + LINE - 1) // LINE

    @overload
    def __getitem__(self, at: int) -> str: ...

    @overload
    def __getitem__(self, at: slice) -> list[str]: ...

    def __getitem__(self, at: int | slice) -> str | list[str]:
        if isinstance(at, slice):
            return [self[n] for n in range(*at.indices(len(self)))]
        if not 0 <= at < len(self):
            raise IndexError(at)
        part = self._data[at * LINE : (at + 1) * LINE]
        letters = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in part)
        return f"{at * LINE:08x}  {part.hex(' ', 1):<{LINE * 3 - 1}}  {letters}"
