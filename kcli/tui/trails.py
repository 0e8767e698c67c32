"""How the lag of each group went over the last snapshots."""

from __future__ import annotations

from collections import deque

from kcli.lag.watch import Look

TRAIL = 360
"""Looks of which a group's lag is kept: half an hour at 5 s."""


class Trails:
    """How the lag of each group went: (time, lag, time lag) of the last snapshots. Written by the client thread, read
    by the screens; a deque may be copied while it is appended to."""

    def __init__(self) -> None:
        self._of: dict[str, deque[tuple[float, int, float | None]]] = {}

    def add(self, look: Look) -> None:
        """Add a snapshot; groups that are gone are forgotten."""
        there = {group.described.group for group in look.groups} | set(look.failed)
        for gone in self._of.keys() - there:
            del self._of[gone]
        for group in look.groups:
            trail = self._of.setdefault(group.described.group, deque(maxlen=TRAIL))
            trail.append((look.time, group.total.lag or 0, group.time_lag))

    def of(self, group: str) -> list[tuple[float, int]]:
        """(time, lag), oldest first."""
        return [(time, lag) for time, lag, _ in list(self._of.get(group, ()))]

    def late(self, group: str) -> list[tuple[float, float | None]]:
        """(time, time lag in seconds), oldest first; None where it was not known."""
        return [(time, late) for time, _, late in list(self._of.get(group, ()))]

    def __len__(self) -> int:
        """How many points are kept."""
        return sum(map(len, list(self._of.values())))
