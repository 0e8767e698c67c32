"""kcat's argv: GNU's getopt with bundling and words anywhere; numbers as C reads them; delimiters with escapes."""

from __future__ import annotations

import os

from kcli.cli.commands.cat.parsing.words import Fatal, Misused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

FLAGS = frozenset("PCLQeEOqvTuZlVhJU")
TAKING = frozenset("GtpbzoDKkHdFXcfsrm")
HEX = [bytes((digit,)) for digit in b"0123456789abcdefABCDEF"]


def options(words: list[str], others: list[str]) -> Iterator[tuple[str, str]]:
    """(letter, value) of a line, as GNU's getopt gives them; what is no option goes to `others`. Raises Misused."""
    rest = iter(words)
    for word in rest:
        if word == "--":
            others.extend(rest)
            return
        if len(word) < 2 or word[0] != "-":
            others.append(word)
            continue
        for place in range(1, len(word)):
            letter = word[place]
            if letter in FLAGS:
                yield letter, ""
                continue
            value = word[place + 1 :] or next(rest, None)
            if letter not in TAKING or value is None:
                raise Misused(f"unknown argument -{letter}" if letter not in TAKING else f"-{letter} takes a value")
            yield letter, value
            break


def c_number(text: str) -> int:
    """strtoll: leading blanks, a sign, digits; 0 where there are none."""
    text = text.lstrip()
    sign, digits = (text[:1], text[1:]) if text[:1] in ("-", "+") else ("", text)
    end = 0
    while end < len(digits) and digits[end] in "0123456789":
        end += 1
    found = min(int(digits[:end] or "0"), 2**63 - 1)
    return -found if sign == "-" else found


def delimiter(text: str) -> bytes:
    r"""-D and -K: \n, \t and \xN… are bytes; the rest is itself."""
    made = os.fsencode(text).replace(b"\\n", b"\n").replace(b"\\t", b"\t")
    out = b""
    while (at := made.find(b"\\x")) >= 0:
        end = at + 2
        while end < len(made) and made[end : end + 1] in HEX:
            end += 1
        if end == at + 2:
            raise Fatal(f"Delimiter {text} expects hex number")
        out += made[:at] + bytes((int(made[at + 2 : end], 16) & 0xFF,))
        made = made[end:]
    return out + made
