"""Standing still: after a stop of the process its partitions may be another member's (E46)."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, TimerHandle

OVERDUE = 1.0
"""Seconds that a heartbeat may be late before it is clear that the whole process stood still."""
PULSE = 0.25
"""Seconds between two signs of life of the loop while a heartbeat is under way."""


class Standstill:
    """Notices that the loop did not run. `unsure` from then on, until the coordinator has answered a heartbeat that was
    sent later: the answer to a heartbeat under way may have been written before the stop."""

    def __init__(self, loop: AbstractEventLoop) -> None:
        self._loop = loop
        self._pulse: TimerHandle | None = None  # while a heartbeat is under way
        self._alive = 0.0  # when the loop was last seen to run; only then
        self._stopped_under_way = False
        self.unsure = False

    def look(self, due: float | None) -> None:
        """To be called before a poll and before a heartbeat, so that the first of them notices a stop. `due` is when
        the next heartbeat is to be sent, None without one, 0 for at once."""
        if self._pulse is not None:
            if self._loop.time() - self._alive > PULSE + OVERDUE:
                self.unsure = self._stopped_under_way = True
        elif due is not None and due > 0 and self._loop.time() - due > OVERDUE:
            self.unsure = True

    def sent(self) -> None:
        """A heartbeat is sent."""
        self._stopped_under_way = False
        self._beat()

    def ended(self, answered: bool) -> bool:
        """The heartbeat has its answer, or none. True if the answer may be older than a stop: send one more."""
        self.look(None)
        self.close()
        if answered and not self._stopped_under_way:
            self.unsure = False
        return answered and self.unsure

    def over(self) -> None:
        """The membership ended, and with it the doubt."""
        self.unsure = False

    def close(self) -> None:
        """No more timers."""
        if self._pulse is not None:
            self._pulse.cancel()
            self._pulse = None

    def _beat(self) -> None:
        if self._pulse is not None:
            self.look(None)
        self._alive = self._loop.time()
        self._pulse = self._loop.call_later(PULSE, self._beat)
