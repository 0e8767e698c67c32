"""Where one was: stacks of pages in the order they were seen, and the place among them. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.tui.routes import Record

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kcli.tui.routes import Route

    Stack = tuple[Route, ...]

KEPT = 50
"""Stacks that are kept."""


class Visits:
    """As in a browser: going somewhere forgets what was ahead. A record is none of the places: its route holds the
    whole value, and fifty large ones would stay in memory."""

    def __init__(self) -> None:
        self._stacks: list[Stack] = []
        self._at = -1

    def note(self, routes: Iterable[Route]) -> None:
        """These pages are open now, the first at the bottom."""
        stack = without_records(routes)
        if self._at >= 0 and self._stacks[self._at] == stack:
            return
        self._stacks = [*self._stacks[: self._at + 1], stack][-KEPT:]
        self._at = len(self._stacks) - 1

    def move(self, by: int) -> Stack | None:
        """The stack before (-1) or after (1) the open one; None at either end."""
        if not 0 <= self._at + by < len(self._stacks):
            return None
        self._at += by
        return self._stacks[self._at]

    @property
    def now(self) -> Stack:
        """The stack that was noted last, or moved to."""
        return self._stacks[self._at] if self._stacks else ()

    def __len__(self) -> int:
        return len(self._stacks)


def without_records(routes: Iterable[Route]) -> Stack:
    """A stack as it is kept."""
    return tuple(route for route in routes if not isinstance(route, Record))
