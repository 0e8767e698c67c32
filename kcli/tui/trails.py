"""How the lag of each group went over the last snapshots, and what happened to it."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from kcli.lag.watch import Look

if TYPE_CHECKING:
    from kcli.lag.events import Event

TRAIL = 360
"""Looks of which a group's lag is kept: half an hour at 5 s."""
EVENTS = 100
"""Events of a group that are kept."""


class Moment(NamedTuple):
    """A group at a snapshot: its lag in offsets and in seconds, and how many offsets a second came and were read."""

    time: float
    lag: int
    time_lag: float | None
    in_rate: float | None
    out_rate: float | None


class Trails:
    """How the lag of each group went over the last snapshots. Written by the client thread, read by the screens; a
    deque may be copied while it is appended to."""

    def __init__(self) -> None:
        self._of: dict[str, deque[Moment]] = {}
        self._events: dict[str, deque[Event]] = {}

    def add(self, look: Look) -> None:
        """Add a snapshot; groups that are gone are forgotten."""
        there = {group.described.group for group in look.groups} | set(look.failed)
        for gone in self._of.keys() - there:
            del self._of[gone]
            self._events.pop(gone, None)
        for group in look.groups:
            trail = self._of.setdefault(group.described.group, deque(maxlen=TRAIL))
            trail.append(Moment(look.time, group.total.lag or 0, group.time_lag, group.in_rate, group.out_rate))
        for event in look.events:
            if event.group in there:
                self._events.setdefault(event.group, deque(maxlen=EVENTS)).append(event)

    def moments(self, group: str) -> list[Moment]:
        """What is known of a group, oldest first."""
        return list(self._of.get(group, ()))

    def events(self, group: str) -> list[Event]:
        """What happened to a group, oldest first."""
        return list(self._events.get(group, ()))

    def of(self, group: str) -> list[tuple[float, int]]:
        """(time, lag), oldest first."""
        return [(moment.time, moment.lag) for moment in self.moments(group)]

    def late(self, group: str) -> list[tuple[float, float | None]]:
        """(time, time lag in seconds), oldest first; None where it was not known."""
        return [(moment.time, moment.time_lag) for moment in self.moments(group)]

    @property
    def span(self) -> float:
        """How many seconds are kept, of the group that is known for the longest time."""
        kept = [trail for trail in list(self._of.values()) if trail]
        return max((trail[-1].time - trail[0].time for trail in kept), default=0.0)

    def __len__(self) -> int:
        """How many points are kept."""
        return sum(map(len, list(self._of.values())))
