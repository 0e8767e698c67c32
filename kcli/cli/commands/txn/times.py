"""Ages and moments of transactions, and durations as a line names them."""

from __future__ import annotations

import time

from kcli.admin.transactions.transactions import OPEN, Described
from kcli.cli.commands.lag.rows import stamp
from kcli.errors import UsageError


def age(transaction: Described) -> float | None:
    """Seconds since its open transaction began; None where none is open."""
    return since(transaction.started) if transaction.started >= 0 and transaction.state in OPEN else None


def since(ms: int) -> float:
    """Seconds from a moment in ms since the epoch until now, never below zero."""
    return round(max(time.time() - ms / 1000, 0.0), 3)


def moment(ms: int) -> str | None:
    """A time in ms since the epoch as ISO 8601, UTC; None for none and for what no calendar has."""
    try:
        return stamp(ms / 1000) if ms >= 0 else None
    except (ValueError, OverflowError, OSError):
        return None


def milliseconds(text: str | None, flag: str) -> int | None:
    """A duration such as 30, 30s, 5m or 1h30m. Raises UsageError."""
    if text is None:
        return None
    from kcli.grammar.offsets import duration

    length = int(text) * 1000 if text.isascii() and text.isdecimal() and len(text) < 12 else duration(text)
    if length is None:
        raise UsageError(f"{flag} {text}: expected a duration such as 30s, 5m or 1h30m")
    return length
