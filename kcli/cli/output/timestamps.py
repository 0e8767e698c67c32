"""Moments as every command prints them: ISO 8601, UTC with a Z, or with --local this machine's zone with its offset."""

from __future__ import annotations

from kcli.grammar.zone import zone

LAST = 253_402_300_800_000
"""The year 10000, which no calendar of Python has."""


def utc(milliseconds: int, digits: str = "milliseconds") -> str:
    """Milliseconds since the epoch; `digits` is milliseconds or seconds. A producer may write any number, microseconds
    say: one behind the year 9999 stays a number."""
    from datetime import UTC, datetime

    if milliseconds >= LAST:
        return f"{milliseconds} ms"
    if zone.printed_local:
        return datetime.fromtimestamp(milliseconds / 1000, UTC).astimezone().isoformat(timespec=digits)
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec=digits).removesuffix("+00:00") + "Z"


def known(milliseconds: int, digits: str = "milliseconds") -> str | None:
    """The same, None for the -1 of a broker that does not know."""
    return None if milliseconds < 0 else utc(milliseconds, digits)
