"""`produce --rate N`: at most N records per second, exact over time."""

from __future__ import annotations

import asyncio
from time import monotonic

from kcli.errors import UsageError

AT_ONCE = 0.05  # seconds whose records go together
CATCH_UP = 1.0  # seconds that are made good after a delay; a longer one moves the schedule
SECONDS = {"": 1, "s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600}


class RateLimit:
    """Waits before records go. `step` is how many may go at once."""

    def __init__(self, text: str) -> None:
        """Raises UsageError for anything but N, N/s, N/m or N/h."""
        digits, _, unit = text.strip().partition("/")
        try:
            number = float(digits)
        except ValueError:
            number = 0.0
        if not 0 < number < 1e12 or unit not in SECONDS:
            raise UsageError(f"--rate {text}: expected records per second, such as 100 or 100/s (or 30/m)")
        self._per_second = number / SECONDS[unit]
        self._due: float | None = None  # when the next record may go
        self.step = max(int(self._per_second * AT_ONCE), 1)

    async def wait(self, records: int) -> None:
        """Wait until that number of records may be sent."""
        now = monotonic()
        due = now if self._due is None else max(self._due, now - CATCH_UP)
        self._due = due + records / self._per_second
        if due > now:
            await asyncio.sleep(due - now)
