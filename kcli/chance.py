"""Jitter. Not `random`: importing that costs a short-lived process 2 ms, and jitter needs no generator."""

from __future__ import annotations

from os import urandom


def uniform(low: float, high: float) -> float:
    """A number from low to high."""
    return low + (high - low) * int.from_bytes(urandom(4), "big") / 0xFFFFFFFF
