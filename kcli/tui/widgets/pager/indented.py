"""The texts of a value as lines that are made when they are drawn, or from its beginning alone. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import overload

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"?|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)
"""A token of JSON, or of its beginning."""
INDENT = "  "
DEEPEST = 40
"""Steps that a line is indented at most: brackets alone would cost the square of their number."""
LINE = 16  # bytes of a hex line


def indented(text: str) -> list[str]:
    """JSON of which a text is the beginning, as indented lines: by its tokens alone, so that it may end anywhere."""
    lines: list[str] = []
    line, depth, opened = "", 0, False
    for match in TOKEN.finditer(text):
        token = match[0]
        if token in "}]":
            depth = max(depth - 1, 0)
            if opened:  # nothing was in it
                line += token
            else:
                lines.append(line)
                line = INDENT * min(depth, DEEPEST) + token
            opened = False
            continue
        if opened:
            lines.append(line)
            line, opened = INDENT * min(depth, DEEPEST), False
        if token == ",":
            lines.append(line + token)
            line = INDENT * min(depth, DEEPEST)
        elif token == ":":
            line += ": "
        else:
            line += token
            opened = token in "{["
            depth += opened
    return [*lines, line] if line.strip() else lines


class HexLines(Sequence[str]):
    """Sixteen bytes a line: their offset, their numbers, their letters."""

    widest = 8 + 2 + LINE * 3 - 1 + 2 + LINE

    def __init__(self, data: bytes) -> None:
        self._data = data

    def __len__(self) -> int:
        return (len(self._data) + LINE - 1) // LINE

    @overload
    def __getitem__(self, at: int) -> str: ...

    @overload
    def __getitem__(self, at: slice) -> list[str]: ...

    def __getitem__(self, at: int | slice) -> str | list[str]:
        if isinstance(at, slice):
            return [self[n] for n in range(*at.indices(len(self)))]
        if not 0 <= at < len(self):
            raise IndexError(at)
        part = self._data[at * LINE : (at + 1) * LINE]
        letters = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in part)
        return f"{at * LINE:08x}  {part.hex(' ', 1):<{LINE * 3 - 1}}  {letters}"
