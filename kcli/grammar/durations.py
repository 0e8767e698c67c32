"""The grammar of durations: 30s, 1h30m, 500ms, 7d, seconds without a unit, and ISO 8601 as parsed by Java's
Duration.parse: P1DT2H, PT1H30M, PT0.5S, P2W."""

from __future__ import annotations

from kcli.errors import UsageError
from kcli.grammar.offsets import duration

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    Absent = TypeVar("Absent")

_DATE = {"W": 604_800_000, "D": 86_400_000}
_TIME = {"H": 3_600_000, "M": 60_000, "S": 1000}


def milliseconds(text: str, about: str, least: int = 0) -> int:
    """Return a duration in ms. `about` names the option or key in errors. Raises UsageError if it is invalid or below
    `least` ms."""
    length = _plain(text)
    if length is None:
        length = duration(text)
    if length is None:
        length = iso_duration(text)
    if length is None:
        raise UsageError(f"{about} {text}: expected a duration such as 30s, 5m, 1h30m or 7d")
    if length < least:
        bound = "more than 0, such as 500ms" if least == 1 else f"{least} ms or more"
        raise UsageError(f"{about} {text}: must be {bound}")
    return length


def seconds(text: str | None, about: str, absent: Absent, least: int = 0) -> float | Absent:
    """Return a duration in seconds; `absent` if the text is empty. `least` is in ms. Raises UsageError."""
    return absent if text is None else milliseconds(text, about, least) / 1000


def _plain(text: str) -> int | None:
    """Return seconds without a unit, `30` or `2.5`, in ms."""
    whole, dot, part = text.partition(".")
    if not whole.isdecimal() or not text.isascii() or len(text) > 12 or (dot and not part.isdecimal()):
        return None
    return round(float(text) * 1000)


def iso_duration(word: str) -> int | None:
    """Return an ISO 8601 duration in ms; None if it is invalid, negative, or has years or months, whose length
    varies."""
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
    """Parse `1H30M`: each unit at most once, larger units first; only seconds may have a fraction."""
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
