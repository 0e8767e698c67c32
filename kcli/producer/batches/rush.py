"""Input in bulk that comes faster than lingers end: to close a small batch then costs a request's worth of work for
records that the next moment would have brought together."""

from __future__ import annotations

FAST = 64 * 1024  # bytes handed over in one call that count as bulk
SMALL = 16 * 1024  # bytes: Kafka's default batch.size, above which a batch is worth its cost
LONGEST = 1.0  # seconds
LINGERS = 200


class Rush:
    """Whether bulk input is under way: during a call that hands over much, and for one linger after it. What comes
    slower, or in small pieces, is no rush."""

    __slots__ = ("_calls", "_linger", "_until", "longest")

    def __init__(self, linger: float) -> None:
        self._linger = linger
        self._calls = 0
        self._until = 0.0
        self.longest = max(linger, min(LINGERS * linger, LONGEST))
        """Seconds from its creation that a small batch is held at most."""

    def begin(self, size: int) -> bool:
        """A call begins to hand over `size` bytes; whether that is much."""
        if size < FAST:
            return False
        self._calls += 1
        return True

    def end(self, now: float) -> None:
        """A call ends of which `begin` said that it hands over much."""
        self._calls -= 1
        self._until = now + self._linger

    def on(self, now: float) -> bool:
        return self._calls > 0 or now < self._until

    def next_look(self, now: float) -> float:
        """When it may be over."""
        return now + self._linger if self._calls else self._until
