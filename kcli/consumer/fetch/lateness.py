"""Reports a blocked event loop, which also delays fetches and a member's heartbeats."""

from __future__ import annotations

import asyncio

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

TICK = 1.0
LATE = 3.0  # seconds: at this delay a heartbeat of the usual interval was missed
PAUSE = 60.0  # seconds between reports


class Lateness:
    """Checks the loop's clock every TICK seconds until closed. `say` is called with a sentence about a delay of more
    than LATE seconds, at most every PAUSE seconds; `consequence` returns the end of that sentence."""

    def __init__(self, say: Callable[[str], None], consequence: Callable[[], str]) -> None:
        self._say = say
        self._consequence = consequence
        self._loop = asyncio.get_running_loop()
        self._quiet_until = self._loop.time()
        self._due = 0.0
        self._again()

    def _again(self) -> None:
        self._due = self._loop.time() + TICK
        self._timer = self._loop.call_at(self._due, self._measure)

    def _measure(self) -> None:
        now = self._loop.time()
        late = now - self._due
        if late > LATE and now >= self._quiet_until:
            self._quiet_until = now + PAUSE
            self._say(
                f"the event loop ran {late:.1f} s late: a handler was busy, or the process was stopped; "
                f"{self._consequence()}"
            )
        self._again()

    def close(self) -> None:
        self._timer.cancel()
