"""Where a replay is between its first snapshot and its last."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

if TYPE_CHECKING:
    from kcli.tui.replay import ReplaySession


class Slider(Widget):
    """One line: play or pause, the time shown, the way there and what is left, the speed. A click goes there."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"slider--done", "slider--left"}

    class Wanted(Message):
        """A click at this share of the way (0 to 1)."""

        def __init__(self, share: float) -> None:
            super().__init__()
            self.share = share

    def __init__(self, session: ReplaySession) -> None:
        super().__init__(id="slider")
        self._session = session
        self._track = (0, 1)

    def render_line(self, y: int) -> Strip:
        session = self._session
        times, at = session.times, session.at
        before = f" {'‖' if session.paused else '▶'} {datetime.fromtimestamp(times[at]):%Y-%m-%d %H:%M:%S} "
        if session.going:
            before += f"→ {datetime.fromtimestamp(times[session.to]):%H:%M:%S} … "
        after = f" {datetime.fromtimestamp(times[-1]):%H:%M:%S} ×{session.speed:g} "
        if session.leaves:
            after += f" {session.leaves} "
        if self.size.width >= 100:
            after += " , . step  + - speed "
        width = max(self.size.width - len(before) - len(after), 1)
        self._track = (len(before), width)
        span = times[-1] - times[0]
        share = (times[at] - times[0]) / span if span else 1.0
        done = round(share * (width - 1))
        segments = [
            Segment(before, self.rich_style),
            Segment("━" * done + "●", self.get_component_rich_style("slider--done")),
            Segment("─" * (width - 1 - done), self.get_component_rich_style("slider--left")),
            Segment(after, self.rich_style),
        ]
        return Strip(segments).adjust_cell_length(self.size.width, self.rich_style)

    def on_click(self, event: events.Click) -> None:
        first, width = self._track
        self.post_message(self.Wanted(min(max((event.x - first) / max(width - 1, 1), 0.0), 1.0)))
