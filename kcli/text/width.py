"""The width of text on a terminal, and cutting text to a width. No I/O."""

from __future__ import annotations

CUT = "…"


def cells(text: str) -> int:
    """Return the width in terminal cells: two for a wide character, none for a combining one."""
    return len(text) if text.isascii() else sum(map(_cells, text))


def middle(text: str, width: int) -> str:
    """Shorten the text to `width` cells by replacing the middle with `…`, because names differ at both ends."""
    if cells(text) <= width:
        return text
    room = max(width - 1, 0)
    tail = _head(text[::-1], room // 2)[::-1]
    return _head(text, room - cells(tail)) + CUT + tail


def wrapped(text: str, width: int) -> list[str]:
    """Break the text at spaces into lines of at most `width` cells; a longer word is shortened in the middle."""
    if cells(text) <= width:
        return [text]
    lines: list[str] = []
    for word in (middle(word, width) for word in text.split()):
        if lines and cells(lines[-1]) + 1 + cells(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines or [""]


def items(text: str, width: int) -> str:
    """Shorten a list `a,b,c` to `width` cells: as many of its first items as fit, and a count of the rest."""
    if cells(text) <= width:
        return text
    every = text.split(",")
    shown, count = every[0], 1
    for item in every[1:]:
        if cells(shown) + cells(item) + len(f", +{len(every) - count - 1}") > width:
            break
        shown, count = f"{shown},{item}", count + 1
    left = f" +{len(every) - count}" if count < len(every) else ""
    return f"{middle(shown, max(width - len(left), 1))}{left}"


def _head(text: str, width: int) -> str:
    """Return as much of the beginning as fits in `width` cells."""
    if text.isascii():
        return text[:width]
    used = 0
    for place, character in enumerate(text):
        used += _cells(character)
        if used > width:
            return text[:place]
    return text


def _cells(character: str) -> int:
    if character.isascii():
        return 1
    from unicodedata import category, east_asian_width

    if category(character) in ("Mn", "Me"):
        return 0
    return 2 if east_asian_width(character) in ("W", "F") else 1
