"""Where to start, where to stop, and what was answered about offsets: plain values that everybody may import."""

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

    class OffsetAnswer(NamedTuple):
        """What ListOffsets says. `timestamp` is -1 unless it was asked by time; `offset` -1 is "no such record"."""

        offset: int
        timestamp: int = -1
        leader_epoch: int = -1
else:
    Bound = namedtuple("Bound", "kind value", defaults=(0,))
    OffsetAndEpoch = namedtuple("OffsetAndEpoch", "offset leader_epoch metadata", defaults=(-1, ""))
    OffsetAnswer = namedtuple("OffsetAnswer", "offset timestamp leader_epoch", defaults=(-1, -1))

LATEST, EARLIEST, MAX_TIMESTAMP = -1, -2, -3
"""The timestamps ListOffsets gives a special meaning (E22)."""
