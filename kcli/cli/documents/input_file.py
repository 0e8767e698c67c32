"""A file that a line names, read whole up to a limit; `-` is stdin."""

from __future__ import annotations

import sys
from typing import Any

from kcli.errors import UsageError
from kcli.system import files


def read_file(path: str, most: int, where: str = "") -> bytes:
    """The bytes of a file, at most `most`. Raises UsageError, which begins with `where` or the path."""
    try:
        return files.whole(sys.stdin.buffer, most) if path == "-" else files.read(path, most)
    except OSError as problem:
        raise UsageError(f"{where or path}: {problem.strerror}") from None


def read_text(path: str, most: int, where: str = "") -> str:
    """The text of a file in UTF-8."""
    try:
        return files.unix_lines(read_file(path, most, where).decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise UsageError(f"{where or path}: it is not UTF-8 text") from None


# Maps that know their lines: what every reader of a document returns.


class Map(dict[str, "Any"]):
    """A map of a document; `lines` has the line of each of its keys, from 1."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: dict[str, int] = {}
