"""Maps that know their lines: what every reader of a document returns."""

from __future__ import annotations

from typing import Any


class Map(dict[str, "Any"]):
    """A map of a document; `lines` has the line of each of its keys, from 1."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: dict[str, int] = {}
