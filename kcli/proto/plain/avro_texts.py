"""Avro's values as JSON texts: numbers, bytes, and logical types as ISO 8601 or decimal text."""

from __future__ import annotations

from _json import encode_basestring
from binascii import b2a_base64
from math import isfinite, isnan
from struct import pack, unpack

from kcli.errors import DecodeError
from kcli.proto.varint import read_varint

DAY = 86_400
QUARTER = 146_097  # days in 400 years
NORMAL = 2.0**-126  # the smallest float32 of full precision; any larger one has 6 digits of its own


def text(data: bytes) -> bytes:
    """A JSON string. Raises UnicodeDecodeError."""
    return encode_basestring(data.decode()).encode()


HALF = rb"\xed[\xa0-\xbf][\x80-\xbf]?"
"""Half of a surrogate pair, which UTF-8 has not."""


def replaced(data: bytes) -> bytes:
    """Text as Java reads it: U+FFFD in place of what is not UTF-8, one for half of a surrogate pair."""
    import re  # 3 ms at each start

    return re.sub(HALF, b"\xef\xbf\xbd", data).decode(errors="replace").encode()


def encoded(data: bytes) -> bytes:
    """Bytes as kcli's envelope writes those that are no text."""
    return b'{"base64":"' + b2a_base64(data, newline=False) + b'"}'


def double(number: float) -> bytes:
    """The shortest decimal that is read as the same double; NaN and the infinities are strings."""
    if isfinite(number):
        return repr(number).encode()
    return b'"NaN"' if isnan(number) else b'"Infinity"' if number > 0 else b'"-Infinity"'


def single(number: float) -> bytes:
    """The shortest decimal that is read as the same float32."""
    if isfinite(number):
        bits = pack("<f", number)
        for digits in range(6 if abs(number) >= NORMAL else 1, 9):
            shorter = float(f"{number:.{digits}g}")
            if _packs_to(shorter, bits):
                return repr(shorter).encode()
        number = float(f"{number:.9g}")
    return double(number)


def _packs_to(number: float, bits: bytes) -> bool:
    try:
        return pack("<f", number) == bits
    except OverflowError:  # rounded up, beyond the largest float32
        return False


def as_single(number: int) -> float:
    """The float32 nearest to an integer, ties to even."""
    size = number.bit_length() - 24
    if size <= 0:
        return float(number)
    half, low = 1 << (size - 1), abs(number) & ((1 << size) - 1)
    high = abs(number) >> size
    high += low > half or (low == half and high & 1)
    return float((high << size) * (-1 if number < 0 else 1))


def date(days: int) -> bytes:
    """`2026-11-24`, as a JSON string; days since 1970-01-01 in the calendar that has no beginning."""
    return b'"%b"' % _day(days)


def time(number: int, digits: int) -> bytes:
    """`10:20:30.123`; the number itself where it is no time of a day."""
    scale = 10**digits
    if not 0 <= number < DAY * scale:
        return b"%d" % number
    return b'"%b"' % _clock(number, digits)


def timestamp(number: int, digits: int, *, utc: bool) -> bytes:
    """`2026-11-24T10:20:30.123Z`; a local one without the Z."""
    days, rest = divmod(number, DAY * 10**digits)
    return b'"%bT%b%b"' % (_day(days), _clock(rest, digits), b"Z" if utc else b"")


def _day(days: int) -> bytes:
    """A day of the proleptic Gregorian calendar. Years count from March, so that a leap day is the last of its year."""
    era, day = divmod(days + 719_468, QUARTER)  # from 0000-03-01 on
    year = (day - day // 1460 + day // 36_524 - day // 146_096) // 365
    day -= 365 * year + year // 4 - year // 100
    month = (5 * day + 2) // 153
    day -= (153 * month + 2) // 5 - 1
    year += 400 * era + (month > 9)
    month += 3 if month < 10 else -9
    sign = b"" if 0 <= year <= 9999 else b"+" if year > 0 else b"-"
    return b"%b%04d-%02d-%02d" % (sign, abs(year), month, day)


def _clock(number: int, digits: int) -> bytes:
    seconds, part = divmod(number, 10**digits)
    minutes, second = divmod(seconds, 60)
    return b"%02d:%02d:%02d.%0*d" % (minutes // 60, minutes % 60, second, digits, part)


def decimal(data: bytes, scale: int) -> bytes:
    """`"12.34"`: a big-endian two's complement with `scale` digits behind the point; with OWN_SCALE a big-decimal."""
    if scale < 0:
        return big_decimal(data)
    unscaled = int.from_bytes(data, "big", signed=True)
    digits = str(abs(unscaled)).rjust(scale + 1, "0")
    sign = "-" if unscaled < 0 else ""
    return f'"{sign}{digits[: len(digits) - scale]}{"." if scale else ""}{digits[len(digits) - scale :]}"'.encode()


def big_decimal(data: bytes) -> bytes:
    """Avro's bytes of the whole number, and its scale as an int. A negative scale is shown with an exponent, as Java
    shows it; bytes that are no such value are shown as bytes."""
    from decimal import Decimal

    try:
        length, at = read_varint(data, 0)
        scale, end = read_varint(data, at + length)
    except (DecodeError, IndexError):
        return encoded(data)
    if length <= 0 or end != len(data):
        return encoded(data)
    number = int.from_bytes(data[at : at + length], "big", signed=True)
    digits = tuple(map(int, str(abs(number))))
    return f'"{Decimal((int(number < 0), digits, -scale))}"'.encode()


def uuid(data: bytes) -> bytes:
    """`"123e4567-e89b-12d3-a456-426614174000"`."""
    digits = data.hex()
    return f'"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"'.encode()


def duration(data: bytes) -> bytes:
    """Months, days and milliseconds, each a little-endian uint32."""
    months, days, millis = unpack("<III", data)
    return b'{"months":%d,"days":%d,"millis":%d}' % (months, days, millis)
