"""A rate that is kept on average and not by bursts: a bucket that holds a tenth of a second. Time is an argument."""

from __future__ import annotations

BURST = 0.1  # seconds


class Rate:
    """A limit of records, or bytes, a second."""

    def __init__(self, per_second: float, *, of_bytes: bool = False) -> None:
        self.per_second = per_second
        self.of_bytes = of_bytes
        self._owed_until = 0.0  # when what was taken is paid for

    @property
    def slice(self) -> int:
        """Records that may go at once, so that a large batch is no burst; at least one."""
        return max(int(self.per_second * BURST), 1) if not self.of_bytes else 1 << 62

    def take(self, records: int, size: int, now: float) -> float:
        """Take that amount; returns how long to wait before sending it, in seconds."""
        amount = size if self.of_bytes else records
        begin = max(self._owed_until, now - BURST)
        wait = max(begin - now, 0.0)
        self._owed_until = begin + amount / self.per_second
        return wait
