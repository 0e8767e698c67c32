"""CSV by RFC 4180 with Spark's reader and writer, so that values are read back as they were written.

A null is nothing between two commas, an empty text is `""`; quotes are doubled, a backslash is not special, spaces are
kept, and lines end with LF. Spark's own defaults quote with backslashes, trim spaces and read `""` as null.
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
"""Spark's parser returns this for nothing between two commas, and takes values equal to it for null, so `""` is not
null. It consists of characters that Unicode reserves for internal use."""
READ = USUAL | {"multiLine": "true", "nullValue": NULL, "emptyValue": ""}
MOST = 1 << 20
"""Bytes of a file in which the end of its first line is searched."""


def line_end(files: Sequence[Path]) -> str:
    """Return the line end used by files, from the first line of each; "" if unknown or mixed. Spark guesses by the
    first line end it sees, which may be between quotes."""
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
