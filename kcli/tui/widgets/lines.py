"""Lines of toned text: cards above a table, facts beside it. A click on one that is of a group says so."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from kcli.tui.text.cutting import fitted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kcli.tui.text.incidents import Line, Word

GAP = 2
LEAST = 24  # cells of a name that no line cuts


class Lines(Widget):
    """With two spaces between pieces; what has no room is cut at the end, names in the middle. `aligned`: the first
    pieces of all lines are under one another."""

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

    def put(self, lines: Sequence[Line]) -> None:
        """What is to be drawn."""
        lines = list(lines)
        if lines != self.lines:
            fewer = len(lines) != len(self.lines)
            self.lines = lines
            self.refresh(layout=fewer)

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        return len(self.lines)

    def on_click(self, event: events.Click) -> None:
        if event.y < len(self.lines) and self.lines[event.y].key:
            self.post_message(self.Chosen(self.lines[event.y].key))

    def render_line(self, y: int) -> Strip:
        width, ground = self.size.width, self.rich_style
        if y >= len(self.lines):
            return Strip.blank(width, ground)
        segments = [Segment(" ", ground)]
        for piece, size in self._sized(self.lines[y].pieces, width - 1):
            text = fitted(piece.text, size, middle=piece.tone == "name")
            segments += [Segment(text, ground + self._tone(piece.tone)), Segment(" " * GAP, ground)]
        return Strip(segments).adjust_cell_length(width, ground)

    def _sized(self, pieces: Sequence[Word], room: int) -> Iterator[tuple[Word, int]]:
        """The pieces that have room, with their widths."""
        sizes = [cell_len(piece.text) for piece in pieces]
        if self._aligned and len(pieces) > 1:
            alike = [line.pieces for line in self.lines if len(line.pieces) == len(pieces)]
            sizes[:-1] = [max(cell_len(other[n].text) for other in alike) for n in range(len(pieces) - 1)]
        for n, (piece, size) in enumerate(zip(pieces, sizes, strict=True)):
            if piece.tone == "name":
                later = sum(sizes[n + 1 :]) + GAP * len(sizes[n + 1 :])
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
