"""Where reading starts and where it stops: a plain value that every layer may import."""

from __future__ import annotations

from collections import namedtuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple

    class Bound(NamedTuple):
        """A place in a partition. `kind` is earliest, latest, stored (the group's commit, else the reset policy),
        offset (N), relative (N before the end), from_start (N after the start) or time (ms since the epoch: the first
        record at or after it, else the end)."""

        kind: str
        value: int = 0

else:
    Bound = namedtuple("Bound", "kind value", defaults=(0,))
