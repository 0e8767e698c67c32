"""`prod ▸ groups ▸ billing ▸ orders[3]`: the pages below this one, each a click that goes back to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual import events
from textual.strip import Strip
from textual.widget import Widget

from kcli.tui import routes
from kcli.tui.messages import Go
from kcli.tui.text.cutting import fitted
from kcli.tui.text.printable import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kcli.tui.routes import Route

RULE = " ▸ "
CUT = "… ▸ "
LEAST = 16  # cells below which nothing is shown
MOST = 24  # cells of one name


def name_of(route: Route) -> str:
    """A page in a word."""
    plain = {kind: word for word, kind in routes.SINGLE.items()}.get(type(route))
    if plain is not None:
        return plain
    match route:
        case routes.Records(around=around) if around is not None:
            return f"{around[0].topic}[{around[0].partition}]"
        case routes.Records(topics=topics):
            return f"records {' '.join(topics)}"
        case routes.Record(offset=offset):
            return f"@{offset}"
        case routes.Member(member_id=member):
            return member
        case routes.Broker(number=number):
            return f"broker {number}"
        case routes.Access(kind=kind, name=name):
            return f"{kind} {name}"
    return str(getattr(route, "name", ""))


def trail(cluster: str, stack: Sequence[Route], room: int) -> list[tuple[str, Route | None]]:
    """The pieces that have room, the last ones: each a text and the page that it names. Where not all have room, the
    first piece says so."""
    named: list[tuple[str, Route | None]] = [(cluster, None), *((name_of(route), route) for route in stack)]
    named = [(fitted(printable(text), min(cell_len(printable(text)), MOST), middle=True), at) for text, at in named]
    while len(named) > 1 and _width(named) > room:
        named = [("…", None), *named[2 if named[0][0] == "…" else 1 :]]
    return named if _width(named) <= room else []


def _width(pieces: Sequence[tuple[str, Route | None]]) -> int:
    return sum(cell_len(text) for text, _ in pieces) + len(RULE) * (len(pieces) - 1)


class Crumbs(Widget):
    """At the right of the heading, where it leaves room; nothing on the first page."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"crumbs--here", "crumbs--rule"}

    def __init__(self) -> None:
        super().__init__(id="crumbs")
        self._pieces: list[tuple[str, Route | None]] = []

    def put(self, cluster: str, stack: Sequence[Route], room: int) -> None:
        """The pages that are open, the first at the bottom."""
        pieces = trail(cluster, stack, room - 1) if len(stack) > 1 and room > LEAST else []
        if pieces != self._pieces:
            self._pieces = pieces
            self.styles.width = _width(pieces) + 1 if pieces else 0
            self.refresh()

    def render_line(self, y: int) -> Strip:
        ground, segments = self.rich_style, []
        rule = ground + self.get_component_rich_style("crumbs--rule", partial=True)
        here = ground + self.get_component_rich_style("crumbs--here", partial=True)
        for n, (text, _) in enumerate(self._pieces):
            last = n == len(self._pieces) - 1
            segments += [Segment(text, here if last else ground), Segment("" if last else RULE, rule)]
        return Strip(segments).adjust_cell_length(self.size.width, ground)

    def on_click(self, event: events.Click) -> None:
        left = 0
        for text, route in self._pieces:
            left += cell_len(text) + len(RULE)
            if event.x < left:
                if route is not None:
                    self.post_message(Go(route))
                return
