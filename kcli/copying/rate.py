"""A rate limit that holds on average with small bursts: a token bucket of a tenth of a second. Time is an argument."""

from __future__ import annotations

BURST = 0.1  # seconds


class Rate:
    """A limit of records, or bytes, per second."""

    def __init__(self, per_second: float, *, of_bytes: bool = False) -> None:
        self.per_second = per_second
        self.of_bytes = of_bytes
        self._owed_until = 0.0  # when the debt of what was taken ends

    @property
    def slice(self) -> int:
        """Number of records that may be sent at once, so that a large batch is not a burst; at least one."""
        return max(int(self.per_second * BURST), 1) if not self.of_bytes else 1 << 62

    def take(self, records: int, size: int, now: float) -> float:
        """Take that amount; return how many seconds to wait before sending it."""
        amount = size if self.of_bytes else records
        begin = max(self._owed_until, now - BURST)
        wait = max(begin - now, 0.0)
        self._owed_until = begin + amount / self.per_second
        return wait
