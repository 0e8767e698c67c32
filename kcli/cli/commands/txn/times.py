"""Ages and moments of transactions."""

from __future__ import annotations

import time

from kcli.cli.commands.lag.rows import stamp


def since(ms: int) -> float:
    """Seconds from a moment in ms since the epoch until now, never below zero."""
    return round(max(time.time() - ms / 1000, 0.0), 3)


def moment(ms: int) -> str | None:
    """A time in ms since the epoch as ISO 8601, UTC; None for none and for what no calendar has."""
    try:
        return stamp(ms / 1000) if ms >= 0 else None
    except (ValueError, OverflowError, OSError):
        return None
