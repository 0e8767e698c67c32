"""Lines of toned text: cards above a table, facts beside it. A click on one that is of a group says so."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from kcli.tui.text.printable import fitted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kcli.tui.text.incidents import Line, Word

GAP = 2
LEAST = 24  # cells of a name that no line cuts


class Lines(Widget):
    """With two spaces between pieces; what has no room is cut at the end, names in the middle. `aligned`: the first
    pieces of all lines are under one another; else a text after its label takes as many lines as it needs."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "lines--bad",
        "lines--warn",
        "lines--good",
        "lines--dim",
        "lines--head",
        "lines--name",
    }

    class Chosen(Message):
        """A line was clicked; `key` is the group it is of."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    def __init__(self, *, aligned: bool = False, id: str | None = None) -> None:
        super().__init__(id=id)
        self._aligned = aligned
        self.lines: list[Line] = []
        self._drawn: list[Line] = []
        self._drawn_for = 0

    def put(self, lines: Sequence[Line]) -> None:
        """What is to be drawn."""
        lines = list(lines)
        if lines != self.lines:
            before = len(self._drawn)
            self.lines, self._drawn_for = lines, 0
            self.refresh(layout=len(self._fitted(self.size.width)) != before)

    def _fitted(self, width: int) -> list[Line]:
        """The lines as they are drawn in this number of cells."""
        if width != self._drawn_for:
            wrap_one = self._folded if self._aligned else wrapped
            most = self.parent.size.height if self._aligned and isinstance(self.parent, Widget) else None
            if most is None or len(self.lines) <= most:  # to fold a line takes a look at all of them
                self._drawn = [part for line in self.lines for part in wrap_one(line, width)]
            if most is not None and max(len(self.lines), len(self._drawn)) > most:
                self._drawn = self.lines  # each is seen, be it cut
            self._drawn_for = width
        return self._drawn

    def _folded(self, line: Line, width: int) -> list[Line]:
        """A line of a list whose last piece, a remark, goes on below itself where it has no room."""
        if len(line.pieces) < 3 or line.pieces[-1].tone != "dim":
            return [line]
        *first, last = line.pieces
        sizes = self._aligned_sizes(line.pieces)
        room = width - 1 - sum(sizes[:-1]) - GAP * sum(size > 0 for size in sizes[:-1])
        if sizes[-1] <= room or room < LEAST:
            return [line]
        blank = [piece._replace(text="") for piece in first]
        parts = wrap(last.text, room, break_on_hyphens=False)
        return [
            line._replace(pieces=[*(blank if n else first), last._replace(text=part)]) for n, part in enumerate(parts)
        ]

    def _aligned_sizes(self, pieces: Sequence[Word]) -> list[int]:
        """The widths of pieces as they are; of a list all but the last are as wide as those above and below."""
        sizes = [cell_len(piece.text) for piece in pieces]
        if self._aligned and len(pieces) > 1:
            alike = [line.pieces for line in self.lines if len(line.pieces) == len(pieces)]
            sizes[:-1] = [max(cell_len(other[n].text) for other in alike) for n in range(len(pieces) - 1)]
        return sizes

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        return len(self._fitted(width))

    def on_click(self, event: events.Click) -> None:
        drawn = self._fitted(self.size.width)
        if event.y < len(drawn) and drawn[event.y].key:
            self.post_message(self.Chosen(drawn[event.y].key))

    def render_line(self, y: int) -> Strip:
        width, ground = self.size.width, self.rich_style
        drawn = self._fitted(width)
        if y >= len(drawn):
            return Strip.blank(width, ground)
        segments = [Segment(" ", ground)]
        for piece, size in self._sized(drawn[y].pieces, width - 1):
            text = fitted(piece.text, size, middle=piece.tone == "name")
            segments += [Segment(text, ground + self._tone(piece.tone)), Segment(" " * GAP, ground)]
        return Strip(segments).adjust_cell_length(width, ground)

    def _sized(self, pieces: Sequence[Word], room: int) -> Iterator[tuple[Word, int]]:
        """The pieces that have room, with their widths."""
        sizes = self._aligned_sizes(pieces)
        for n, (piece, size) in enumerate(zip(pieces, sizes, strict=True)):
            if not size:  # an empty column
                continue
            if piece.tone == "name":
                later = sum(sizes[n + 1 :]) + GAP * sum(size > 0 for size in sizes[n + 1 :])
                size = min(size, max(room - later, LEAST))
            size = min(size, room)
            if size <= 0:
                return
            yield piece, size
            room -= size + GAP

    def _tone(self, tone: str) -> Style:
        if not tone:
            return Style.null()
        style = self.get_component_rich_style(f"lines--{tone}")
        return Style(color=style.color, bold=style.bold)


def wrapped(line: Line, width: int) -> list[Line]:
    """A label and its text, in as many lines as the text needs; any other line as it is."""
    pieces = line.pieces
    if len(pieces) != 2 or pieces[1].tone == "name":
        return [line]
    label, text = pieces
    room = width - 1 - cell_len(label.text) - GAP
    if cell_len(text.text) <= room or room < LEAST:
        return [line]
    blank = label._replace(text=" " * cell_len(label.text))
    parts = wrap(text.text, room, break_on_hyphens=False)
    return [line._replace(pieces=[blank if n else label, text._replace(text=part)]) for n, part in enumerate(parts)]
