"""How long a screen takes to draw itself, for `--debug`; and the tabs of a page."""

from __future__ import annotations

import time
from collections import deque

from textual.screen import Screen
from textual.widgets import TabbedContent

DRAWN = 50e-6  # seconds: less than that nothing was drawn


class Frames:
    """How long drawing took, of the last hundred frames."""

    def __init__(self) -> None:
        self._took: deque[float] = deque(maxlen=100)
        self.drawn = 0

    def add(self, seconds: float) -> None:
        """A frame was drawn."""
        self._took.append(seconds)
        self.drawn += 1

    def said(self) -> str:
        """The median and the longest, in ms."""
        if not self._took:
            return "no frame"
        ordered = sorted(self._took)
        return f"frame {ordered[len(ordered) // 2] * 1000:.1f} ms (longest {ordered[-1] * 1000:.1f})"


class TimedScreen(Screen[None]):
    """A screen whose drawing is timed where there are `frames` to count in."""

    def __init__(self, frames: Frames | None) -> None:
        super().__init__()
        self._frames = frames

    def _compositor_refresh(self) -> None:
        """Textual's own drawing, with a clock beside it."""
        begun = time.perf_counter()
        super()._compositor_refresh()
        took = time.perf_counter() - begun
        if self._frames is not None and took > DRAWN:
            self._frames.add(took)


class Tabs(TabbedContent):
    """Each pane has the id `tab-NAME`, and one table or text that takes the keys."""

    def __init__(self) -> None:
        super().__init__(id="tabs")

    @property
    def name_of_open(self) -> str:
        """Which tab is open; "" before there is any."""
        return self.active.removeprefix("tab-")

    def open(self, name: str) -> None:
        """Show a tab, and give it the keys."""
        self.active = f"tab-{name}"
        next(part for part in self.get_pane(self.active).query("*") if part.can_focus).focus()
