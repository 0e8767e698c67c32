"""The progress of long work on stderr: only on a terminal, only once it lasts longer than a second.

Work that has an end shows a bar, how much of it is done, the rate and the time left; other work the count and the rate.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from time import monotonic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PATIENCE = 1.0  # seconds before anything is shown
EVERY = 0.1  # seconds between two updates
WINDOW = 10.0  # seconds whose rate is shown


class Progress:
    """How far a job is. `total` None is work without an end; `unit` is what is counted, `bytes` as 1.2 MiB; `hidden`
    is for -q and for output that may go to the same terminal."""

    def __init__(self, what: str, total: int | None, *, unit: str = "records", hidden: bool = False) -> None:
        self._what = what
        self._total = total
        self._unit = unit
        self._shown = total != 0 and not hidden and os.isatty(2)
        self._begun = self._drawn = monotonic()
        self._points: list[tuple[float, int]] = [(self._begun, 0)]
        self._done = 0
        self._bar: Any = None
        self._task: Any = None
        self._timer: asyncio.TimerHandle | None = None
        if self._shown:
            self._draw_later()

    def _draw_later(self) -> None:
        """Draw after a second in which `at` is not called as well: the rate of work that waits goes down."""
        with contextlib.suppress(RuntimeError):  # of work without an event loop
            self._timer = asyncio.get_running_loop().call_later(PATIENCE, self._draw_again)

    def _draw_again(self) -> None:
        self.at(self._done)
        self._draw_later()

    def at(self, done: int) -> None:
        """Set the number of records or bytes that are done."""
        self._done = done
        if not self._shown:
            return
        now = monotonic()
        if now - self._drawn < (EVERY if self._bar is not None else PATIENCE):
            return
        self._drawn = now
        figures = self.figures(done, now)
        if self._bar is None:
            self._draw(figures)
        self._bar.update(self._task, completed=done, figures=figures)

    def figures(self, done: int, now: float) -> str:
        """`1,234,567 of 10,000,000 records, 345,678/s, 25s left`; the rate is that of the last seconds."""
        from kcli.text.numbers import human_time

        self._points.append((now, done))
        while len(self._points) > 2 and now - self._points[1][0] >= WINDOW:
            self._points.pop(0)
        since, before = self._points[0]
        rate = max(done - before, 0) / max(now - since, EVERY)
        count = self._amount(done)
        if self._total is not None:
            count += f" of {self._amount(self._total)}"
        parts = [count if self._unit == "bytes" else f"{count} {self._unit}", f"{self._amount(rate)}/s"]
        if self._total is not None and rate > 0:
            parts.append(f"{human_time(max(self._total - done, 0) / rate)} left")
        return ", ".join(parts)

    def _amount(self, number: float) -> str:
        from kcli.text.numbers import size

        if self._unit == "bytes":
            return size(number)
        return f"{number:,.0f}" if number >= 10 or number == int(number) else f"{number:.1f}"

    def _draw(self, figures: str) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        words = TextColumn("{task.description}", markup=False)
        count = TextColumn("{task.fields[figures]}", markup=False)
        bar = [BarColumn(20)] if self._total is not None else []
        self._bar = Progress(words, *bar, count, console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task(self._what, total=self._total, figures=figures)
        self._bar.start()

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
