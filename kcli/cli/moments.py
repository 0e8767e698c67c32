"""Moments as every command prints them: ISO 8601, UTC, with a Z."""

from __future__ import annotations


def utc(milliseconds: int, digits: str = "milliseconds") -> str:
    """Milliseconds since the epoch; `digits` is milliseconds or seconds."""
    from datetime import UTC, datetime

    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec=digits).removesuffix("+00:00") + "Z"


def known(milliseconds: int, digits: str = "milliseconds") -> str | None:
    """The same, None for the -1 of a broker that does not know."""
    return None if milliseconds < 0 else utc(milliseconds, digits)
