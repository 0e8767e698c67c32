"""The line that is on every screen: which cluster, how bad it is, is it up, how old is what is shown."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from kcli.lag.figures import lag_text
from kcli.lag.formats.page import STATUSES
from kcli.lag.status import IDLE, SEVERITY
from kcli.tui.alerts.incidents import UNKNOWN
from kcli.tui.messages import Go
from kcli.tui.routes import SINGLE
from kcli.tui.text.formatting import elapsed, others
from kcli.tui.text.printable import printable

if TYPE_CHECKING:
    from kcli.tui.state import State

OLD = 30  # seconds from which the age of a snapshot is a warning
RULE = "▏"


class Part(NamedTuple):
    """A word of the line. `begins`: a rule is before it; `does` is what a click does: a status to filter by, a
    page, or "" for nothing."""

    text: str
    tone: str = ""
    begins: bool = True
    does: str = ""


class Masthead(Widget):
    """What the state says, drawn each second by its page; red on a protected profile. A click on a count posts
    `Only`."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "masthead--bad",
        "masthead--warn",
        "masthead--good",
        "masthead--dim",
        "masthead--protected",
    }

    class Only(Message):
        """Show the groups of this status only; all of them with ""."""

        def __init__(self, status: str) -> None:
            super().__init__()
            self.status = status

    def __init__(self, state: State) -> None:
        super().__init__()
        self._state = state
        self._ends: list[tuple[int, str]] = []  # up to which cell a click does what

    def on_click(self, event: events.Click) -> None:
        does = next((does for end, does in self._ends if event.x < end), "")
        if does in SINGLE and does != "groups":
            self.post_message(Go(SINGLE[does](), jump=True))
        elif does:
            self.post_message(self.Only("" if does == "all" else does))

    def render_line(self, y: int) -> Strip:
        ground = self.rich_style
        if self._state.session.guard:
            ground = self._style("protected")
        segments, self._ends, end = [], [], 0
        for part in self._parts():
            before, text = f" {RULE}" if part.begins else " ", printable(part.text)
            tone = self._style("" if self._state.session.guard else part.tone)
            segments += [Segment(before, ground + self._quiet), Segment(text, ground + tone)]
            end += cell_len(before + text)
            self._ends.append((end, part.does))
        return Strip(segments).extend_cell_length(self.size.width, ground).crop(0, self.size.width)

    @property
    def _quiet(self) -> Style:
        return Style() if self._state.session.guard else self._style("dim")

    def _style(self, tone: str) -> Style:
        if not tone:
            return Style.null()
        style = self.get_component_rich_style(f"masthead--{tone}")
        return style if tone == "protected" else Style(color=style.color, bold=tone != "dim")

    def _parts(self) -> list[Part]:
        """The name and its guard; counts by status, the worst first; lag; brokers; age; at the end what is cut first:
        the problem, else the cluster's id."""
        state, session = self._state, self._state.session
        parts = [Part("kcli", "good", begins=False), Part(shortened(session.name), begins=False)]
        if session.guard:
            parts.append(Part(session.guard.replace("_", "-").upper(), begins=False))
        if session.word:
            parts.append(Part(session.word, "warn", begins=False))
        parts += self._figures()
        if state.problem:
            parts.append(Part(state.problem, "bad"))
        elif state.snapshot is None:
            parts.append(Part(session.waits, "dim"))
        elif state.cluster_id:
            parts.append(Part(f"cluster {state.cluster_id}", "dim"))
        return parts

    def _figures(self) -> list[Part]:
        state, paused = self._state, self._state.session.paused
        if state.snapshot is None:
            return []
        groups = others(state.snapshot)
        counts = Counter(group.status for group in groups)
        parts: list[Part] = []
        if wrong := sum(one.kind != UNKNOWN for one in state.urgent):
            parts.append(Part(f"!{wrong}", "bad", does="alerts"))
        for status in reversed(SEVERITY):
            if counts[status]:
                glyph, tone = STATUSES[status]
                parts.append(Part(f"{glyph}{counts[status]}", tone, not parts, status))
        if not parts:
            parts.append(Part(f"{STATUSES[IDLE][0]}0 groups", "dim"))
        parts.append(Part(f"lag {lag_text(group.total for group in groups)}", does="all"))
        if state.brokers:
            up = f"{state.brokers - state.down}/{state.brokers}"
            parts.append(Part(up, "bad" if state.down else "", does="brokers"))
        age = state.session.clock() - state.snapshot.time
        parts.append(Part("PAUSED" if paused else elapsed(age), "warn" if paused or age > OLD else "dim"))
        return parts


def shortened(name: str) -> str:
    """The first of several addresses, and how many there are besides: `kafka-1:9092 +2`; a profile as it is."""
    first, *more = name.split(",")
    return f"{first} +{len(more)}" if more else name
