"""The line that is on every screen: which cluster, is it up, how old is what is shown, how bad is it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from kcli.lag.status import IDLE, SEVERITY
from kcli.text.numbers import count
from kcli.tui.text.formatting import elapsed, others, status
from kcli.tui.text.printable import printable

if TYPE_CHECKING:
    from kcli.tui.state import State


class Masthead(Widget):
    """Two lines. The first is red on a protected profile. What the state says, drawn each second."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "masthead--bad",
        "masthead--warn",
        "masthead--good",
        "masthead--dim",
        "masthead--protected",
    }

    def __init__(self, state: State) -> None:
        super().__init__()
        self._state = state

    def on_mount(self) -> None:
        self.set_interval(1.0, self.refresh)

    def render_line(self, y: int) -> Strip:
        ground = self.rich_style
        parts = self._first() if y == 0 else self._second()
        segments = [Segment(f" {printable(text)} ", ground + self._style(tone)) for text, tone in parts]
        if y == 0 and self._state.session.guard:
            ground = self._style("protected")
            segments = [Segment(text, ground) for text, _, _ in segments]
        return Strip(segments).extend_cell_length(self.size.width, ground).crop(0, self.size.width)

    def _style(self, tone: str) -> Style:
        if not tone:
            return Style.null()
        style = self.get_component_rich_style(f"masthead--{tone}")
        return style if tone == "protected" else Style(color=style.color, bold=True)

    def _first(self) -> list[tuple[str, str]]:
        session = self._state.session
        parts = [("kcli", "good"), (printable(session.name), "")]
        if session.guard:
            parts.append((session.guard.replace("_", "-").upper(), "bad"))
        if not session.live:
            parts.append(("RECORDING", "warn"))
        if self._state.cluster_id:
            parts.append((f"cluster {self._state.cluster_id}", "dim"))
        return parts

    def _second(self) -> list[tuple[str, str]]:
        state, paused = self._state, self._state.session.paused
        if state.look is None:
            return [(state.problem or "connecting …", "bad" if state.problem else "dim")]
        up = f"{state.brokers - state.down}/{state.brokers} brokers"
        age = state.session.clock() - state.look.time
        groups = others(state.look)
        lag = sum(group.total.lag or 0 for group in groups)
        worst, tone = status(max((group.status for group in groups), key=SEVERITY.index, default=IDLE))
        tone_of_age = "warn" if paused or age > 30 else "dim"
        parts = [(up, "bad" if state.down else "")] if state.brokers else []
        parts += [
            (f"{len(groups)} group{'s' if len(groups) != 1 else ''}", ""),
            (f"lag {count(lag)}", ""),
            (worst, tone),
            ("PAUSED" if paused else f"{elapsed(age)} old", tone_of_age),
        ]
        if state.problem:
            parts.append((state.problem, "bad"))
        return parts
