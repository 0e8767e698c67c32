"""What stands in quotation marks of YAML, and what stands outside of them."""

from __future__ import annotations

ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\", "/": "/", "0": "\0", "e": "\x1b",
           "b": "\b", "f": "\f"}  # fmt: skip


def unescaped(text: str) -> str:
    """What stands between double quotation marks. Raises ValueError."""
    out, at = [], 0
    while at < len(text):
        char, at = text[at], at + 1
        if char != "\\":
            out.append(char)
            continue
        kind, at = text[at : at + 1], at + 1
        size = {"x": 2, "u": 4, "U": 8}.get(kind, 0)
        if size:
            try:
                out.append(chr(int(text[at : at + size], 16)))
            except (ValueError, OverflowError):
                raise ValueError(f"\\{kind} takes {size} hexadecimal digits") from None
            at += size
        elif kind in ESCAPES:
            out.append(ESCAPES[kind])
        else:
            raise ValueError(f"\\{kind} is no escape of YAML")
    found = "".join(out)
    if not any("\ud800" <= char <= "\udfff" for char in found):
        return found
    try:
        return found.encode("utf-16-le", "surrogatepass").decode("utf-16-le")  # JSON writes 😀 as two of them
    except UnicodeDecodeError:
        raise ValueError("half of a surrogate pair is no character") from None


def outside(text: str) -> list[bool]:
    """Which characters stand outside of quotation marks."""
    found: list[bool] = []
    quote = ""
    while len(found) < len(text):
        at, char = len(found), text[len(found)]
        found.append(not quote)
        if (quote == '"' and char == "\\") or (quote == char == "'" and text[at + 1 : at + 2] == "'"):
            found.append(False)  # what is escaped ends nothing
        elif quote:
            quote = "" if char == quote else quote
        elif char in "\"'" and (at == 0 or text[at - 1] in " [,:-{"):
            quote = char
    return found


def uncommented(line: str) -> str:
    bare = outside(line)
    for at, char in enumerate(line):
        if char == "#" and bare[at] and (at == 0 or line[at - 1] in " \t"):
            return line[:at]
    return line


def colon(text: str) -> int:
    """Where a key ends; -1 when the line is none."""
    bare = outside(text)
    for at, char in enumerate(text):
        if char == ":" and bare[at] and (at + 1 == len(text) or text[at + 1] == " "):
            return at
    return -1
