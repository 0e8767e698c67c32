"""Parses the texts that kcli shows for logical types: ISO 8601, decimals, UUIDs. Functions raise ValueError for invalid
texts."""

from __future__ import annotations

import re
from datetime import date
from struct import pack

from kcli.proto.varint import encode_varint
from kcli.serde.avro.types import Logical

DAY = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
CLOCK = re.compile(r"(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?")
ZONE = re.compile(r"(?:Z|([+-])(\d\d):?(\d\d))")
DECIMAL = re.compile(r"([+-]?)(\d+)(?:\.(\d*))?(?:[eE]([+-]?\d{1,4}))?")
UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
EPOCH = date(1970, 1, 1).toordinal()
SECONDS = 86_400
LARGEST_EXPONENT = 2000


def reads(logical: Logical, text: str) -> bool:
    """Whether a text is valid for a logical type."""
    try:
        if logical.name == "decimal":
            unscaled(text, logical)
        elif logical.name == "big-decimal":
            big_decimal(text)
        elif logical.name == "uuid":
            uuid(text)
        else:
            number(text, logical.name)
    except ValueError:
        return False
    return True


def number(text: str, logical: str) -> int:
    """Return the number for a date, a time or a timestamp."""
    if logical == "date":
        match = DAY.fullmatch(text)
        if match is None:
            raise ValueError("is not a date such as 2026-11-24")
        return _days(match)
    digits = {"millis": 3, "micros": 6, "nanos": 9}[logical.rpartition("-")[2]]
    if logical.startswith("time-"):
        clock = CLOCK.fullmatch(text)
        if clock is None:
            raise ValueError("is not a time of day such as 10:20:30.123")
        return _clock(clock, digits)
    return _timestamp(text, digits, local=logical.startswith("local-"))


def _timestamp(text: str, digits: int, *, local: bool) -> int:
    day = DAY.match(text)
    clock = CLOCK.match(text, 11) if day is not None and text[10:11] in ("T", " ") else None
    if day is None or clock is None:
        raise ValueError("is not a timestamp such as 2026-11-24T10:20:30.123" + ("" if local else "Z"))
    zone = ZONE.fullmatch(text, clock.end())
    if local and clock.end() != len(text):
        raise ValueError("has a zone, but a local timestamp cannot have one")
    if not local and zone is None:
        raise ValueError("has no zone: write Z for UTC, or +01:00")
    shift = 0
    if zone is not None and zone[1]:
        shift = (int(zone[2]) * 60 + int(zone[3])) * (60 if zone[1] == "+" else -60)
    parts: int = 10**digits
    return (_days(day) * SECONDS - shift) * parts + _clock(clock, digits)


def _days(match: re.Match[str]) -> int:
    try:
        return date(int(match[1]), int(match[2]), int(match[3])).toordinal() - EPOCH
    except ValueError:
        raise ValueError("is not a calendar date") from None


def _clock(match: re.Match[str], digits: int) -> int:
    hours, minutes, seconds = int(match[1]), int(match[2]), int(match[3])
    part = (match[4] or "").ljust(digits, "0")
    if hours > 23 or minutes > 59 or seconds > 59:
        raise ValueError("is not a time of day")
    if part[digits:].strip("0"):
        raise ValueError(f"has more than {digits} digits of a second")
    parts: int = 10**digits
    return ((hours * 60 + minutes) * 60 + seconds) * parts + int(part[:digits])


def unscaled(text: str, logical: Logical) -> int:
    """Return the unscaled integer of a decimal: 12.3 with scale 2 is 1230. Nothing is rounded."""
    match = DECIMAL.fullmatch(text)
    if match is None:
        raise ValueError("is not a decimal such as 12.34")
    exponent = int(match[4] or 0)
    digits = (match[2] + (match[3] or "")).lstrip("0") or "0"
    shift = logical.scale - len(match[3] or "") + exponent
    if abs(exponent) > LARGEST_EXPONENT or len(digits) > LARGEST_EXPONENT:
        raise ValueError("has too many digits")
    if shift < 0:
        if digits[shift:].strip("0"):
            raise ValueError(f"has more than {logical.scale} digits after the decimal point")
        digits = digits[:shift] or "0"
    value: int = int(digits) * 10 ** max(shift, 0)
    if len(str(value)) > logical.precision:
        raise ValueError(f"has more than {logical.precision} digits")
    return -value if match[1] == "-" else value


def big_decimal(text: str) -> bytes:
    """Return a number with its own scale: 12.30 is 1230 with scale 2, and 5e3 is 5 with scale -3."""
    match = DECIMAL.fullmatch(text)
    if match is None:
        raise ValueError("is not a decimal such as 12.34")
    digits, scale = match[2] + (match[3] or ""), len(match[3] or "") - int(match[4] or 0)
    if len(digits) > LARGEST_EXPONENT:
        raise ValueError("has too many digits")
    number = int(match[1] + digits)
    data = number.to_bytes((number + (number < 0)).bit_length() // 8 + 1, "big", signed=True)
    return encode_varint(len(data)) + data + encode_varint(scale)


def uuid(text: str) -> bytes:
    if UUID.fullmatch(text) is None:
        raise ValueError("is no UUID")
    return bytes.fromhex(text.replace("-", ""))


def duration(value: dict[str, object]) -> bytes:
    """Return months, days and milliseconds."""
    parts = [value.get(name) for name in ("months", "days", "millis")]
    if len(value) != 3 or not all(type(part) is int and 0 <= part < 2**32 for part in parts):
        raise ValueError('is not a duration such as {"months": 1, "days": 2, "millis": 3}')
    return pack("<III", *parts)
