"""How the lag of each group went over the last snapshots, and what happened to it."""

from __future__ import annotations

from collections import deque
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from kcli.admin.groups.groups import progress_of
from kcli.lag.history import TICK
from kcli.lag.status import STUCK
from kcli.lag.watch import LagSnapshot
from kcli.tui.text.formatting import others

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kcli.lag.events import Event
    from kcli.lag.formats.past import Point

TRAIL = 360
"""Snapshots of which a group's lag is kept: half an hour at 5 s."""
BEAT = 5.0
"""Seconds between two snapshots at the default interval."""
EVENTS = 100
"""Events of a group that are kept."""
UNWATCHED = 150.0
"""Seconds between two snapshots, or three usual steps, after which the time between them was not watched: a file of
history has a line a minute."""
LONGEST_GAP = 900.0
"""Seconds without a snapshot after which it is not known whether a status lasted."""
SETTLING = 180.0
"""Seconds after the start in which a status that comes may be that of before: some take a while to be seen again."""


class Moment(NamedTuple):
    """A group at a snapshot: its lag in offsets and in seconds, and how many offsets a second came and were read."""

    time: float
    lag: int | None
    time_lag: float | None
    in_rate: float | None
    out_rate: float | None


class Lasting(NamedTuple):
    """`begun` is since when a group has its status, as far as that is known; `known` since when anything is known of
    the group without a gap. Seconds since the epoch."""

    begun: float
    known: float


def gapped(points: Sequence[tuple[float, float | None]]) -> list[tuple[float, float | None]]:
    """Points with a None where the time until the next one was not watched."""
    steps = sorted(later[0] - earlier[0] for earlier, later in pairwise(points))
    most = max(UNWATCHED, 3 * steps[len(steps) // 2]) if steps else UNWATCHED
    found: list[tuple[float, float | None]] = []
    for at, value in points:
        if found and at - found[-1][0] > most:
            found.append((found[-1][0] + BEAT, None))
        found.append((at, value))
    return found


def _back(older: list[Point], first: float, status: str) -> Lasting:
    """How far back a status goes from the first snapshot on, and what is known without a gap."""
    begun = oldest = first
    for point in reversed(older):
        if oldest - point.time > LONGEST_GAP:
            break
        if begun == oldest and point.status == status:
            begun = point.time
        oldest = point.time
    return Lasting(begun, oldest)


def _summed(time: float, moments: Sequence[Moment | Point]) -> Moment:
    """Groups together at a snapshot, as far as they are known."""
    came, read = (sum(getattr(one, layer) or 0.0 for one in moments) for layer in ("in_rate", "out_rate"))
    return Moment(time, sum(one.lag or 0 for one in moments), None, came, read)


class Trails:
    """How the lag of each group went over the last snapshots. Written by the client thread, read by the screens; a
    deque may be copied while it is appended to."""

    def __init__(self) -> None:
        self._of: dict[str, deque[Moment]] = {}
        self._events: dict[str, deque[Event]] = {}
        self._since: dict[str, tuple[str, Lasting]] = {}
        self._past: dict[str, tuple[str, float, float]] = {}  # its status before the start, since when, and the start
        self._whole: deque[Moment] = deque(maxlen=TRAIL)
        self._time = 0.0  # of the newest snapshot

    def _shift(self, by: float) -> None:
        """Move all times back: the clock was set back. Ages stay what they were; events keep the time they had."""
        for name, trail in self._of.items():
            self._of[name] = deque((moment._replace(time=moment.time - by) for moment in trail), maxlen=TRAIL)
        for name, (status, lasting) in self._since.items():
            self._since[name] = status, Lasting(lasting.begun - by, lasting.known - by)
        for name, (status, begun, first) in self._past.items():
            self._past[name] = status, begun - by, first - by
        self._whole = deque((moment._replace(time=moment.time - by) for moment in self._whole), maxlen=TRAIL)

    def add(self, snapshot: LagSnapshot) -> None:
        """Add a snapshot; groups that are gone are forgotten."""
        if snapshot.time <= self._time:
            self._shift(self._time - snapshot.time + TICK)
        self._time = snapshot.time
        there = {group.described.group for group in snapshot.groups} | set(snapshot.failed)
        for gone in self._of.keys() - there:
            del self._of[gone]
            self._events.pop(gone, None)
            self._since.pop(gone, None)
            self._past.pop(gone, None)
        for group in snapshot.groups:
            status, lasting = self._since.get(group.described.group, ("", Lasting(0.0, snapshot.time)))
            if status != group.status:
                begun = self._begun(group.described.group, group.status, snapshot.time)
                self._since[group.described.group] = group.status, lasting._replace(begun=begun)
            trail = self._of.setdefault(group.described.group, deque(maxlen=TRAIL))
            lag = None if group.total.at_least else group.total.lag
            trail.append(Moment(snapshot.time, lag, group.time_lag, group.in_rate, group.out_rate))
        shown = others(snapshot)
        whole = _summed(snapshot.time, [self._of[group.described.group][-1] for group in shown])
        unknown = snapshot.failed or any(group.total.at_least for group in shown)
        self._whole.append(whole._replace(lag=None) if unknown else whole)
        for event in snapshot.events:
            if event.group in there:
                self._events.setdefault(event.group, deque(maxlen=EVENTS)).append(event)

    def _begun(self, name: str, status: str, now: float) -> float:
        """When a status that is new now began: before the start where it was the last one then."""
        word, begun, first = self._past.get(name, ("", now, now))
        return begun if status == word and now - first <= SETTLING else now

    def begin(self, points: dict[str, list[Point]], events: list[Event], *, stood: bool = False) -> None:
        """What was before the first snapshot, from a file: of groups that are there, as far back as trails go.
        `stood`: what stood still then was known to the first snapshot, so a group that is STUCK later has moved."""
        past: dict[float, list[Point]] = {}
        for name, trail in self._of.items():
            first = trail[0].time
            older = [point for point in points.get(name, ()) if point.time < first]
            reach = first - TRAIL * BEAT
            room = max(TRAIL - len(trail), 0)
            seen = [point for point in older if point.time >= reach][-room:] if room else []
            trail.extendleft(
                Moment(one.time, one.lag, one.time_lag, one.in_rate, one.out_rate) for one in reversed(seen)
            )
            status, (begun, _) = self._since[name]
            lasting = _back(older, first, status)
            self._since[name] = status, lasting if begun == first else lasting._replace(begun=begun)
            for one in seen if progress_of(name) is None else ():
                past.setdefault(one.time, []).append(one)
            if older and not (stood and older[-1].status == STUCK):
                self._past[name] = older[-1].status, _back(older, first, older[-1].status).begun, first
        room = TRAIL - len(self._whole)
        whole = [at for at in sorted(past, reverse=True) if all(one.lag is not None for one in past[at])]
        self._whole.extendleft([_summed(at, past[at]) for at in whole][:room])
        for event in reversed(events):
            known = self._events.setdefault(event.group, deque(maxlen=EVENTS)) if event.group in self._of else None
            if known is not None and len(known) < EVENTS and (not known or event.time < known[0].time):
                known.appendleft(event)

    def since(self, group: str) -> Lasting | None:
        """Since when a group has its status; None for a group that is not there."""
        return self._since[group][1] if group in self._since else None

    def moments(self, group: str) -> list[Moment]:
        """What is known of a group, oldest first."""
        return list(self._of.get(group, ()))

    @property
    def whole(self) -> list[Moment]:
        """All groups together, oldest first."""
        return list(self._whole)

    def events(self, group: str) -> list[Event]:
        """What happened to a group, oldest first."""
        return list(self._events.get(group, ()))

    def of(self, group: str) -> list[tuple[float, float | None]]:
        """(time, lag), oldest first; None where it is unknown or was not watched."""
        return gapped([(moment.time, moment.lag) for moment in self.moments(group)])

    def late(self, group: str) -> list[tuple[float, float | None]]:
        """(time, time lag in seconds), oldest first; None where it is unknown or was not watched."""
        return gapped([(moment.time, moment.time_lag) for moment in self.moments(group)])

    @property
    def span(self) -> float:
        """How many seconds are kept, of the group that is known for the longest time."""
        kept = [trail for trail in list(self._of.values()) if trail]
        return max((trail[-1].time - trail[0].time for trail in kept), default=0.0)

    def __len__(self) -> int:
        """How many points are kept."""
        return sum(map(len, list(self._of.values())))
