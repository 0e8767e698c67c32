"""The pause before something is asked again: exponential with jitter, and never nothing (KIP-144, KIP-580).

Whatever asks again takes its pauses from here: base, doubled by each failure in a row, ±20 %, capped. No setting and
no answer of a broker makes a pause shorter than `LEAST`, so nothing spins. Not `random`: importing that costs a
short-lived process 2 ms, and jitter needs no generator.
"""

from __future__ import annotations

from os import urandom

LEAST = 0.01
"""Seconds: the shortest base, whatever was configured (retry.backoff.ms=0 is allowed)."""


def jitter(seconds: float) -> float:
    """About so long: ±20 %, so that a hundred clients do not align."""
    return seconds * (0.8 + 0.4 * urandom(1)[0] / 255)


def after(failures: int, base: float, maximum: float) -> float:
    """How long to wait after one more failure, when there were so many in a row before it. All in seconds."""
    return jitter(min(max(base, LEAST) * 2.0 ** min(failures, 32), max(maximum, LEAST)))


class Floor:
    """No more than so many requests of one kind in a row; after these, one each `least` seconds. For what is asked
    again because of a good answer, where no failure tells a pause: a broker that always says "once more" is not
    believed as fast as it speaks."""

    __slots__ = ("_ahead", "_due", "_least")

    def __init__(self, least: float = 0.05, in_a_row: int = 5) -> None:
        self._least = least
        self._ahead = least * (in_a_row - 1)
        self._due = 0.0

    def wait(self, now: float) -> float:
        """How long the next request has to wait, which is counted with this."""
        due = max(self._due, now)
        self._due = due + self._least
        return max(0.0, due - self._ahead - now)


class Backoff:
    """The waits of one sequence of failures, in seconds."""

    __slots__ = ("_base", "_failures", "_max")

    def __init__(self, base: float, maximum: float) -> None:
        self._base = base
        self._max = maximum
        self._failures = 0

    @property
    def failures(self) -> int:
        """How many in a row."""
        return self._failures

    def next(self) -> float:
        """How long to wait after one more failure."""
        wait = after(self._failures, self._base, self._max)
        self._failures += 1
        return wait

    def reset(self) -> None:
        """It worked: the next failure waits the base again."""
        self._failures = 0
