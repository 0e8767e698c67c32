"""A progress bar on stderr: only on a terminal, only for a bounded job, only once it lasts longer than a second."""

from __future__ import annotations

import os
from time import monotonic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PATIENCE = 1.0


class Progress:
    """How far a job is. `total` None is unbounded, which shows nothing; `bytes_` says what is counted; `hidden`
    is for -q and for output that goes to the same terminal."""

    def __init__(self, what: str, total: int | None, *, bytes_: bool = False, hidden: bool = False) -> None:
        self._what = what
        self._total = total
        self._bytes = bytes_
        self._shown = bool(total) and not hidden and os.isatty(2)
        self._begun = monotonic()
        self._bar: Any = None
        self._task: Any = None

    def at(self, done: int) -> None:
        """So many records or bytes are done."""
        if not self._shown:
            return
        if self._bar is None:
            if monotonic() - self._begun < PATIENCE:
                return
            self._draw()
        self._bar.update(self._task, completed=done)

    def _draw(self) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            DownloadColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
            TransferSpeedColumn,
        )

        counts: list[Any] = [DownloadColumn(), TransferSpeedColumn()] if self._bytes else [MofNCompleteColumn()]
        words = TextColumn("{task.description}", markup=False)
        console = Console(stderr=True)
        self._bar = Progress(words, BarColumn(), *counts, TimeRemainingColumn(), console=console, transient=True)
        self._task = self._bar.add_task(self._what, total=self._total)
        self._bar.start()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
