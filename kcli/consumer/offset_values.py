"""Where to start and where to stop, and what a group commits: plain values that everybody may import."""

from __future__ import annotations

from collections import namedtuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple

    class Bound(NamedTuple):
        """A place in a partition. `kind` is earliest, latest, stored (the group's commit, else the reset policy),
        offset (N), relative (N before the end), from_start (N after the start) or time (ms since the epoch: the first
        record at or after it, the end if there is none)."""

        kind: str
        value: int = 0

    class OffsetAndEpoch(NamedTuple):
        """What a group commits: the next offset to read, the leader epoch of the last record read, free text."""

        offset: int
        leader_epoch: int = -1
        metadata: str | None = ""

else:
    Bound = namedtuple("Bound", "kind value", defaults=(0,))
    OffsetAndEpoch = namedtuple("OffsetAndEpoch", "offset leader_epoch metadata", defaults=(-1, ""))
