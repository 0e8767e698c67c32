"""Exponential backoff with jitter (KIP-144, KIP-580): base, doubling, ±20 %, capped."""

from __future__ import annotations

from os import urandom


class Backoff:
    """The waits of one sequence of failures, in seconds."""

    __slots__ = ("_base", "_failures", "_max")

    def __init__(self, base: float, maximum: float) -> None:
        self._base = base
        self._max = maximum
        self._failures = 0

    def next(self) -> float:
        """How long to wait after one more failure."""
        wait = min(self._base * 2.0**self._failures, self._max)
        self._failures = min(self._failures + 1, 32)
        return wait * (0.8 + 0.4 * urandom(1)[0] / 255)  # `random` costs more start-up than it is worth here

    def reset(self) -> None:
        """It worked: the next failure waits the base again."""
        self._failures = 0
