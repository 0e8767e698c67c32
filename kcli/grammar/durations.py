"""Durations as ISO 8601 has them, and as Java's Duration.parse reads them: P1DT2H, PT1H30M, PT0.5S, P2W."""

from __future__ import annotations

_DATE = {"W": 604_800_000, "D": 86_400_000}
_TIME = {"H": 3_600_000, "M": 60_000, "S": 1000}


def iso_duration(word: str) -> int | None:
    """Milliseconds; None if the text is no duration, has years or months, whose length varies, or is negative."""
    text = word.upper()
    if not text.startswith("P"):
        return None
    days, clock, rest = text[1:].partition("T")
    if (clock and not rest) or not (days or rest):
        return None
    total = 0
    for part, units in ((days, _DATE), (rest, _TIME)):
        found = _sum(part, units)
        if found is None:
            return None
        total += found
    return total


def _sum(text: str, units: dict[str, int]) -> int | None:
    """`1H30M`: each unit once, the larger first; only seconds may have a fraction."""
    order, total, digits = list(units), 0, ""
    for letter in text:
        if letter.isascii() and (letter.isdigit() or letter == "."):
            digits += letter
            continue
        if letter not in order:
            return None
        order = order[order.index(letter) + 1 :]
        whole, dot, part = digits.partition(".")
        if not whole.isdigit() or len(whole) > 12 or (dot and (letter != "S" or not part.isdigit())):
            return None
        total += int(whole) * units[letter] + (int((part + "000")[:3]) if dot else 0)
        digits = ""
    return None if digits else total
