"""Numbers formatted for sentences and narrow columns. No I/O; None becomes a dash."""

from __future__ import annotations

DASH = "–"
AT_LEAST = "≥ "
"""Precedes a sum of which some parts are unknown."""


def count(value: float | None) -> str:
    """Return `0`, `9,999`, `12.3k`, `4.56M`: at most six cells."""
    if value is None:
        return DASH
    if abs(value) < 9_999.5:
        return f"{value:,.0f}"
    for limit, unit in ((1e6, "k"), (1e9, "M"), (1e12, "G"), (1e15, "T")):
        if abs(value) < 0.9995 * limit:
            short = value / limit * 1000
            digits = 2 if abs(short) < 9.995 else 1 if abs(short) < 99.95 else 0
            return f"{short:.{digits}f}{unit}"
    return f"{value:.1e}"


def lower_bound(value: int | None, unknown: int) -> str:
    """Return a sum that lacks `unknown` parts: `≥ 146k`; a dash if all are unknown."""
    return AT_LEAST * (unknown > 0 and value is not None) + count(value)


def counted(number: int, noun: str) -> str:
    """Return `1 offset`, `1,234 offsets`."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def rate(value: float | None) -> str:
    """Return a number per second; small ones with one decimal."""
    if value is None:
        return DASH
    return f"{value:.1f}" if 0 < abs(value) < 10 else count(round(value))


def size(value: float | None) -> str:
    """Return bytes in powers of 1024: `512 B`, `1.5 KiB`, `20 GiB`."""
    if value is None:
        return DASH
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if abs(value) < 1024 or unit == "TiB":
            return f"{value:.0f} {unit}" if unit == "B" or abs(value) >= 10 else f"{value:.1f} {unit}"
        value /= 1024
    return DASH


def duration(seconds: float | None) -> str:
    """Return `0s`, `4.2s`, `3m12s`, `5h07m`, `2d04h`."""
    if seconds is None:
        return DASH
    if seconds < 9.95:
        return f"{seconds:.1f}s" if seconds else "0s"
    return human_time(seconds)


def human_time(seconds: float) -> str:
    """Return `0s`, `42s`, `3m12s`, `2h05m`, `4d06h`: two units at most."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02}s"
    if whole < 86400:
        return f"{whole // 3600}h{whole % 3600 // 60:02}m"
    return f"{whole // 86400}d{whole % 86400 // 3600:02}h"
