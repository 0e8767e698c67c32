"""A regular expression over the bytes of keys and values."""

from __future__ import annotations

import re

from kcli.errors import OPTION, UsageError
from kcli.text.patterns import compiled, longest, searcher, self_contained

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

LEAST_SWEPT = 1024
"""Bytes: fewer hold so few records that looking at each by itself costs no more."""
_PLAIN = re.compile(r"[^\\.^$*+?{}\[\]|()]+")


class Pattern:
    """A regular expression over bytes: `holds(data)`. A pattern of ASCII is searched in the bytes, one with other
    letters in the text. `literal` is the text that a match is, where it can be only one, else b"". `sweeps`: it may be
    looked for by `sweep` in up to `longest` bytes of many values at once."""

    def __init__(self, text: str, setting: str) -> None:
        """Raises UsageError that names the setting and the column."""
        try:
            pattern: re.Pattern[Any] = compiled(text.encode()) if text.isascii() else compiled(text)
        except re.error as problem:
            column = "" if problem.pos is None else f"column {problem.pos + 1}: "
            raise UsageError(f"{setting} {text}: {column}{problem.msg}").hinted(OPTION) from None
        self.longest = longest(text)
        self.sweep = pattern.search
        self.sweeps = text.isascii() and self.longest >= LEAST_SWEPT and self_contained(text.encode())
        self.literal = text.encode("utf-8", "surrogateescape") if _PLAIN.fullmatch(text) else b""
        search = searcher(pattern, f"{setting} {text}")
        self.holds: Callable[[bytes], object] = (
            search if text.isascii() else lambda data: search(str(data, "utf-8", "surrogateescape"))
        )
