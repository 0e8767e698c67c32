"""The line that is on every screen: which cluster, is it up, how old is what is shown, how bad is it."""

from __future__ import annotations

import time
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from kcli.admin.lag import IDLE, SEVERITY
from kcli.lag.watch import Look
from kcli.tui.text.formatting import count, elapsed, others, status
from kcli.tui.text.printable import printable


class Masthead(Widget):
    """Two lines. The first is red on a protected profile. `facts` are set by the app and drawn each second."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "masthead--bad", "masthead--warn", "masthead--good", "masthead--dim", "masthead--protected",
    }  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self.profile = ""
        self.guard = ""
        self.cluster_id: str | None = None
        self.brokers = 0
        self.down = 0
        self.live = True
        self.paused = False
        self.problem = ""
        self.look: Look | None = None
        self.now = time.time

    def on_mount(self) -> None:
        self.set_interval(1.0, self.refresh)

    def render_line(self, y: int) -> Strip:
        ground = self.rich_style
        parts = self._first() if y == 0 else self._second()
        segments = [Segment(f" {printable(text)} ", ground + self._style(tone)) for text, tone in parts]
        if y == 0 and self.guard:
            ground = self._style("protected")
            segments = [Segment(text, ground) for text, _, _ in segments]
        return Strip(segments).extend_cell_length(self.size.width, ground).crop(0, self.size.width)

    def _style(self, tone: str) -> Style:
        if not tone:
            return Style.null()
        style = self.get_component_rich_style(f"masthead--{tone}")
        return style if tone == "protected" else Style(color=style.color, bold=True)

    def _first(self) -> list[tuple[str, str]]:
        parts = [("kcli", "good"), (self.profile, "")]
        if self.guard:
            parts.append((self.guard.replace("_", "-").upper(), "bad"))
        if not self.live:
            parts.append(("RECORDING", "warn"))
        if self.cluster_id:
            parts.append((f"cluster {self.cluster_id}", "dim"))
        return parts

    def _second(self) -> list[tuple[str, str]]:
        if self.look is None:
            return [(self.problem or "connecting …", "bad" if self.problem else "dim")]
        up = f"{self.brokers - self.down}/{self.brokers} brokers"
        age = self.now() - self.look.time
        groups = others(self.look)
        lag = sum(group.total.lag or 0 for group in groups)
        worst, tone = status(max((group.status for group in groups), key=SEVERITY.index, default=IDLE))
        tone_of_age = "warn" if self.paused or age > 30 else "dim"
        parts = [(up, "bad" if self.down else "")] if self.brokers else []
        parts += [
            (f"{len(groups)} group{'s' if len(groups) != 1 else ''}", ""),
            (f"lag {count(lag)}", ""),
            (worst, tone),
            ("PAUSED" if self.paused else f"{elapsed(age)} old", tone_of_age),
        ]
        if self.problem:
            parts.append((self.problem, "bad"))
        return parts
