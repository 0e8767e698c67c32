"""Leaving in bounded time: PATIENCE seconds after the key the process ends, whatever it still waits for.

Closing waits for others: a page that is being made, the client's thread in the middle of a hundred thousand partitions,
a broker, a thread that looks up a name. Nothing of this is needed any more: what was seen is in its file already, and a
change is in the journal before it is sent. So a thread waits beside it, and ends the process. A last sentence reports a
change that this cuts.
"""

from __future__ import annotations

import asyncio
import os
import threading
from typing import TYPE_CHECKING, Any

from kcli import watchdog
from kcli.system.terminal import from_background, restore, settings
from kcli.tasks import retrieve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from textual.worker import Worker

CHANGES = "execute"
"""The group of the workers that change the cluster."""
PATIENCE = 2.0
"""Seconds from the key to the end of the process."""
LAST = 0.5
"""Seconds more that a terminal has which reads nothing."""


class Leaving:
    """Make it while the terminal is as the shell had it; call `begin` when the dashboard is left. `words` restore the
    terminal."""

    def __init__(self, words: bytes) -> None:
        self._words = words
        self._before = settings()
        self._begun = False

    def begin(self, code: int, told: str = "") -> None:
        """End the process with this exit code and a last sentence, unless it ends by itself in time. Later calls do
        nothing."""
        if not self._begun:
            self._begun = True
            _aside(PATIENCE, lambda: self._end(code, told))

    def _end(self, code: int, told: str) -> None:
        _aside(LAST, lambda: os._exit(code))  # the terminal may hold up both lines below
        from_background()
        try:
            if self._before is not None:
                restore(self._before)
        finally:  # the terminal may have gone
            watchdog.end(code, self._words + (f"{told}\r\n".encode() if told else b""))


def under_way(workers: Iterable[Worker[Any]]) -> list[Worker[Any]]:
    """The changes of the cluster that have not ended yet."""
    return [worker for worker in workers if worker.group == CHANGES and not worker.is_finished]


async def ended(workers: Iterable[Worker[Any]]) -> None:
    """Wait until no change is under way, however each ends. To cancel this cuts none."""
    while changes := under_way(workers):
        waits = {asyncio.ensure_future(worker.wait()) for worker in changes}
        for wait in waits:
            wait.add_done_callback(retrieve)
        await asyncio.wait(waits)


def cut(workers: Iterable[Worker[Any]]) -> str:
    """The sentence about a change that the end of the dashboard cuts; "" without such a change."""
    if not under_way(workers):
        return ""
    undo = "`kcli history` lists it, and `kcli undo` undoes it if that is possible"
    return f"A change was under way: how it ended is not known. {undo}"


def _aside(seconds: float, do: Callable[[], object]) -> None:
    """Do something later, in a thread that holds up nothing."""
    timer = threading.Timer(seconds, do)
    timer.name, timer.daemon = "kcli-leaving", True
    timer.start()
