"""Indented JSON with its inner levels folded: `"customer": {… 3}`. Pure."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from kcli.tui.widgets.pager.indented import INDENT

if TYPE_CHECKING:
    from collections.abc import Sequence


def deepest(lines: Sequence[str]) -> int:
    """How many levels there are: 1 for fields that are plain values."""
    return max((_level(line) for line in lines), default=0)


def folded(lines: Sequence[str], level: int) -> list[str]:
    """The lines of the first levels; an object or a list below them is one line with the number of its members."""
    shown: list[str] = []
    members = 0
    for line, after in pairwise([*lines, ""]):
        depth = _level(line)
        if depth < level or not line:
            shown.append(line)
            continue
        closes = line.lstrip()[:1] in ("}", "]")
        if depth > level:
            members += depth == level + 1 and not closes
            continue
        if closes:
            shown[-1] = f"{shown[-1]}… {members}{line.lstrip()}"
            continue
        members = 0
        shown.append(line)
        if _opens(line) and not after:  # the text ends within it
            shown[-1] += "…"
    return shown


def _opens(line: str) -> bool:
    return line.endswith(("{", "["))


def _level(line: str) -> int:
    """How deep a line is in."""
    return (len(line) - len(line.lstrip(" "))) // len(INDENT)
