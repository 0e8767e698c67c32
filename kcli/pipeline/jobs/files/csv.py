"""CSV as RFC 4180 has it, by Spark's reader and writer: what was written is read as what it was.

A null is nothing between two commas, an empty text is `""`; quotes are doubled, a backslash is itself, spaces stay, and
lines end with LF. Spark's own defaults quote with backslashes, trim spaces and read `""` as null.
"""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path

USUAL = {
    "header": "true",
    "quote": '"',
    "escape": '"',
    "ignoreLeadingWhiteSpace": "false",
    "ignoreTrailingWhiteSpace": "false",
}
WRITE = USUAL | {"nullValue": "", "emptyValue": '""', "lineSep": "\n"}
NULL = "\ufdd0kcli null\ufdd1"
"""What Spark's parser calls nothing between two commas, as it takes what equals this for null: `""` does not, then. A
text of characters that Unicode reserves for no text."""
READ = USUAL | {"multiLine": "true", "nullValue": NULL, "emptyValue": ""}
MOST = 1 << 20
"""Bytes of a file in which its first line is looked for."""


def line_end(files: Sequence[Path]) -> str:
    """How the lines of files end, by the first line of each; "" where that is unknown, or not the same. Spark guesses
    by the first end that it sees, which may be one between quotes."""
    ends = {_end(path) for path in files}
    return ends.pop() if len(ends) == 1 else ""


def _end(path: Path) -> str:
    if path.suffix not in (".csv", ".gz"):
        return ""
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        start = file.read(MOST)
    quoted = False
    for number, byte in enumerate(start):
        if byte == ord('"'):
            quoted = not quoted
        elif byte in b"\r\n" and not quoted:
            return "\r\n" if start[number : number + 2] == b"\r\n" else chr(byte)
    return ""
