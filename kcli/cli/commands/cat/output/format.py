"""kcat's -f as the program that a batch runs over its records: its tokens, and its escapes as it understands them.

`\\n \\t \\r` are bytes, `\\` and a digit is a number as C writes it (`\\065` octal, `\\10` decimal), `\\x` and a digit
a hexadecimal one of any length of which the last byte counts; before anything else the backslash falls away.
"""

from __future__ import annotations

from kcli.cli.commands.cat.parsing.words import Fatal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.output.records.template import Convert, Program

NULL = b"NULL"
TOKENS = frozenset("sSRkKThtpo")
PLAIN = {"n": 10, "t": 9, "r": 13}


def compile_format(text: bytes, *, nulls: bool, terminal: bool = False) -> Program:
    """The program of a format; with `nulls` (-Z) keys and values that are null or empty print as NULL, and on a
    terminal what it would obey is shown instead of sent. Raises Fatal for what is no token."""
    converts: dict[str, Convert | None] = dict.fromkeys("sk", _or_null if nulls else None)
    if terminal:
        from kcli.cli.output.records.template import convert_shown

        converts = convert_shown(NULL if nulls else b"")
    items: list[bytes | tuple[str, Convert | None]] = []
    place = 0
    while place < len(text):
        percent = text.find(b"%", place)
        if percent < 0:
            items.append(unescape(text[place:]))
            break
        if percent > place:
            items.append(unescape(text[place:percent]))
        token = text[percent + 1 : percent + 2].decode("latin-1")
        if token == "%":
            items.append(b"%")
        elif token in TOKENS and token:
            items.append((token, converts.get(token)))
        else:
            raise Fatal(f"Unsupported formatter: %{token}" if token else "Empty formatter")
        place = percent + 2
    return tuple(items)


def _or_null(value: bytes | None) -> bytes:
    return bytes(value) if value else NULL


def unescape(text: bytes) -> bytes:
    """A literal piece of a format."""
    out = bytearray()
    place = 0
    while place < len(text):
        here = text[place]
        place += 1
        if here != 0x5C or place == len(text):
            out.append(here)
            continue
        letter = chr(text[place])
        place += 1
        base = 0
        if letter == "x" and place < len(text):
            letter, base = chr(text[place]), 16
            place += 1
        if letter in "0123456789":
            number, place = _number(text, place - 1, base)
            out.append(number & 0xFF)
        else:
            out.append(PLAIN.get(letter, ord(letter)) if not base else ord(letter))
    return bytes(out)


def _number(text: bytes, place: int, base: int) -> tuple[int, int]:
    """What strtoul reads, and where it ends."""
    if base in (0, 16) and text[place : place + 2] in (b"0x", b"0X") and text[place + 2 : place + 3] in HEX:
        base, place = 16, place + 2
    elif base == 0:
        base = 8 if text[place] == 0x30 else 10
    digits = DIGITS[base]
    end = place
    while end < len(text) and text[end] in digits:
        end += 1
    return int(text[place:end], base), end


DIGITS = {8: b"01234567", 10: b"0123456789", 16: b"0123456789abcdefABCDEF"}
HEX = [bytes((digit,)) for digit in DIGITS[16]]
