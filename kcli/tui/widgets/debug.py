"""`--debug`: what the dashboard itself costs, on one line."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from textual.widgets import Static

from kcli.system.processes import memory
from kcli.text.numbers import count, size

if TYPE_CHECKING:
    from collections.abc import Callable

    from kcli.tui.state import State
    from kcli.tui.widgets.frames import Frames

BEAT = 0.5  # seconds


class Debug(Static):
    """`counted` tells what the page keeps: (name, number)."""

    def __init__(self, state: State, frames: Frames, counted: Callable[[], list[tuple[str, int]]]) -> None:
        super().__init__(id="debug", markup=False)
        self._state = state
        self._frames = frames
        self._counted = counted
        self._late = 0.0
        self._due = time.monotonic() + BEAT

    def on_mount(self) -> None:
        self.set_interval(BEAT, self._beat)

    def _beat(self) -> None:
        now = time.monotonic()
        self._late = max(now - self._due, 0.0)
        self._due = now + BEAT
        trails = self._state.trails
        queued = self.app.message_queue_size + self.screen.message_queue_size
        told = [*self._counted(), ("points", len(trails) if trails is not None else 0), ("queued", queued)]
        facts = "  ".join(f"{name} {count(number)}" for name, number in told)
        self.update(f"mem {size(memory())}  {self._frames.said()}  loop +{self._late * 1000:.0f} ms  {facts}")
