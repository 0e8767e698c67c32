"""Parses dates and times like Spark's casts: `2024`, `2024-1-2`, `2024-01-02 03:04:05.123 Europe/Paris`, `T03:04`. A
time without a zone is UTC, as in kcli's sessions. Returns None for invalid texts."""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import UTC, datetime, timedelta

DAY = 86_400_000_000
SPACES = "".join(map(chr, range(33))) + "\x7f"
_DATE = r"([-+]?)(\d{4,7})(?:-(\d{1,2})(?:-(\d{1,2})%s)?)?"
_DAY = re.compile(_DATE % r"(?:[ T].*)?", re.ASCII | re.DOTALL)
_CLOCK = r"(\d{1,2})(?::(\d{1,2})(?::(\d{1,2})(?:\.(\d*))?(.*))?)?"
_TIME = re.compile(_DATE % rf"(?:[ T]{_CLOCK})?", re.ASCII | re.DOTALL)
_ONLY = re.compile(rf"T{_CLOCK}|(\d{{1,2}}):(\d{{1,2}})(?::(\d{{1,2}})(?:\.(\d*))?(.*))?", re.ASCII | re.DOTALL)
_OFFSET = re.compile(r"(?:UTC|GMT|UT)?([-+])(\d{1,2})(?::?(\d{2})(?::?(\d{2}))?|:(\d))?", re.ASCII)
_WHOLE = re.compile(r"[-+]?\d+", re.ASCII)
ZONES = {
    "ACT": "Australia/Darwin", "AET": "Australia/Sydney", "AGT": "America/Argentina/Buenos_Aires",
    "ART": "Africa/Cairo", "AST": "America/Anchorage", "BET": "America/Sao_Paulo", "BST": "Asia/Dhaka",
    "CAT": "Africa/Harare", "CNT": "America/St_Johns", "CST": "America/Chicago", "CTT": "Asia/Shanghai",
    "EAT": "Africa/Addis_Ababa", "ECT": "Europe/Paris", "EST": "-05:00", "HST": "-10:00",
    "IET": "America/Indiana/Indianapolis", "IST": "Asia/Kolkata", "JST": "Asia/Tokyo", "MIT": "Pacific/Apia",
    "MST": "-07:00", "NET": "Asia/Yerevan", "NST": "Pacific/Auckland", "PLT": "Asia/Karachi",
    "PNT": "America/Phoenix", "PRT": "America/Puerto_Rico", "PST": "America/Los_Angeles",
    "SST": "Pacific/Guadalcanal", "VST": "Asia/Ho_Chi_Minh",
}  # fmt: skip
"""Java's short names of zones."""


def day_of(text: str) -> int | None:
    """Return days since 1970. A number that cannot be a year is the days themselves."""
    for one in (text, text.replace("GMT", "")):  # older Spark versions wrote GMT before it
        match = _DAY.fullmatch(one.strip(SPACES))
        day = _days(*match.group(1, 2, 3, 4)) if match is not None else None
        if day is not None:
            return day
    if _WHOLE.fullmatch(text) is not None and -(2**31) <= int(text) < 2**31:
        return int(text)
    return None


def instant_of(text: str) -> int | None:
    """Return microseconds since 1970; a time without date is today's."""
    found = _instant_of(text.strip(SPACES))
    return _instant_of(text.replace("GMT", "").strip(SPACES)) if found is None and "GMT" in text else found


def _instant_of(plain: str) -> int | None:
    only = _ONLY.fullmatch(plain)
    if only is not None:
        part = only.groups()
        today = (datetime.now(UTC) - datetime(1970, 1, 1, tzinfo=UTC)).days
        return _instant(today, *(part[:5] if part[0] is not None else part[5:]))
    match = _TIME.fullmatch(plain)
    if match is None:
        return None
    day = _days(*match.group(1, 2, 3, 4))
    return None if day is None else _instant(day, *match.group(5, 6, 7, 8, 9))


def local_of(text: str) -> int | None:
    """Return the microseconds of a time without a zone."""
    match = _TIME.fullmatch(text.strip(SPACES))
    if match is None or match[9]:
        return None
    day = _days(*match.group(1, 2, 3, 4))
    return None if day is None else _instant(day, *match.group(5, 6, 7, 8, 9))


def _days(sign: str, year: str, month: str | None, day: str | None) -> int | None:
    y, m, d = int(sign + year), int(month or 1), int(day or 1)
    # the calendar repeats every 400 years
    if not 1 <= m <= 12 or not 1 <= d <= monthrange(y % 400 + 400, m)[1]:
        return None
    same = datetime(y % 400 + 400, m, d) - datetime(1970, 1, 1)
    return same.days + ((y - y % 400) - 400) // 400 * 146_097


def _instant(
    day: int, hour: str | None, minute: str | None, second: str | None, part: str | None, zone: str | None
) -> int | None:
    h, m, s = int(hour or 0), int(minute or 0), int(second or 0)
    if h > 23 or m > 59 or s > 59:
        return None
    clock = day * DAY + ((h * 60 + m) * 60 + s) * 1_000_000 + int((part or "")[:6].ljust(6, "0"))
    if zone:
        offset = _offset(zone.strip(SPACES), clock)
        if offset is None:
            return None
        clock -= offset * 1_000_000
    return clock if -(2**63) <= clock < 2**63 else None


def _offset(zone: str, clock: int) -> int | None:
    """Return a zone's offset from UTC in seconds, at a time in that zone."""
    zone = ZONES.get(zone, zone)
    if zone in ("Z", "UTC", "GMT", "UT"):
        return 0
    match = _OFFSET.fullmatch(zone)
    if match is not None:
        h, m, s = int(match[2]), int(match[3] or match[5] or 0), int(match[4] or 0)
        total = h * 3600 + m * 60 + s
        return None if m > 59 or s > 59 or total > 64_800 else -total if match[1] == "-" else total
    from zoneinfo import ZoneInfo

    try:
        known = ZoneInfo(zone)
        then = datetime(1970, 1, 1) + timedelta(microseconds=clock)
        offset = then.replace(tzinfo=known).utcoffset()
    except (KeyError, ValueError, OSError, OverflowError):
        return None
    return None if offset is None else int(offset.total_seconds())
