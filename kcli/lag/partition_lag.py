"""The state of a partition of a group: its samples, and the figures derived from them (docs/lag.md).

Time is always an argument. A partition's ends are stored once, whatever the number of groups that read it.
"""

from __future__ import annotations

from itertools import pairwise
from math import inf

from kcli.lag.figures import Lag, Sample, facts_of, measured
from kcli.lag.series import Series, rising, robust_slope, slope, step_rate, usual_step
from kcli.lag.status import BEHIND, CALM, COMMITS, GROWING, HALTED, OK, ORPHANED, PATIENCE, STALLED, STUCK
from kcli.values import Value, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from kcli.model import TopicPartition

    Stood = tuple[int, float, bool | None, tuple[float, ...]]
    """The offset of a partition, since when it could have moved and did not, whether its member moved meanwhile (None
    if it had no member), and the waits of its track. The offset is NOWHERE if there is nothing to read, and only the
    waits count."""

UNREAD = (BEHIND, GROWING, STALLED, STUCK, ORPHANED)
"""Statuses of a partition with unread records."""
WINDOW = 60.0  # period for rates, in seconds
UNSEEN = 60.0  # seconds without a sample after which changes in between have an unknown time
WAITS = 4  # remembered intervals between the newest commits
NOWHERE = -1
SHOWN = 0.1  # offsets per second: smaller changes of a rate are not visible
STEPS = 3  # minimum number of commits; the window extends further back for them


class Log:
    """The bounds of one partition, `at`, over time."""

    __slots__ = ("_rated", "at", "end", "stable", "start")

    def __init__(self, at: TopicPartition) -> None:
        self.at = at
        self.end, self.start, self.stable = Series(), Series(), Series()
        self._rated: tuple[tuple[float, float, float], float | None] | None = None  # (time, window, slack) and the rate

    def add(self, time: float, sample: Sample) -> None:
        """Add the ends of a refresh; an end that moved back (truncated, recreated) starts a new history."""
        self._rated = None
        for name in ("end", "start", "stable"):
            value, series = getattr(sample, name), getattr(self, name)
            if value is None:
                continue
            if len(series) and value < series.values[-1]:
                series = Series()
                setattr(self, name, series)
            series.add(time, value)

    def in_rate(self, now: float, window: float, slack: float) -> float | None:
        """Return the incoming offsets per second, computed once for all groups that read them."""
        if self._rated is None or self._rated[0] != (now, window, slack):
            found = rate(self.end, now, window, slack)
            self._rated = (now, window, slack), mean(self.end, now, window, slack) if found is None else found
        return self._rated[1]

    def forget_before(self, time: float) -> None:
        for series in (self.end, self.start, self.stable):
            series.forget_before(time)

    def shift(self, by: float) -> None:
        """Move all times back by `by` seconds, because the clock was set back."""
        for series in (self.end, self.start, self.stable):
            series.shift(by)


class Track:
    """One group's progress in one partition over time. `done` is its commit; for a share group, which also finishes
    records past its start, it is the end minus the lag reported by its coordinator."""

    __slots__ = (
        "_by_member",
        "_commit",
        "_owner",
        "assigned",
        "begun",
        "done",
        "idle_until",
        "left",
        "moved",
        "peak",
        "rewound",
        "rewound_at",
        "sample",
        "since",
        "waits",
    )

    def __init__(self) -> None:
        self.done = Series()
        self.moved = 0.0  # when it was last seen to move
        # start of the time for which its member is known not to have moved, if it was not seen to move
        self.since = 0.0
        self._owner: str | None = None  # "" without a member, None while unknown
        self.assigned = 0.0  # when its present member was seen to get it; 0 if it had it from the start
        # start of its time with members: when it was seen to get one after it had none, less the time that earlier
        # members stood still if they left a moment ago, as those do that crash at one record again and again
        self.begun = 0.0
        self.left = 0.0  # when it was seen without a member after it had one
        self._commit = 0
        self._by_member = False  # whether a member made the last commit
        self.sample = Sample()
        self.rewound: tuple[int, int] | None = None  # (from, to) of the last rewind
        self.rewound_at = 0.0
        self.peak = 0
        self.idle_until = 0.0  # when it was last fully read
        self.waits: tuple[float, ...] = ()  # seconds with unread records before the newest commits

    def add(self, time: float, sample: Sample) -> None:
        """Add the sample of a refresh. After a failed one, the figures stay unchanged, with their age (never 0)."""
        self.sample = sample
        if sample.owned is not None:
            owner = (sample.member_id or "?") if sample.owned else ""
            if self._owner and not owner:
                self.left = time
            elif self._owner is not None and owner not in ("", self._owner):
                self.assigned = time
                if not self._owner:
                    recent = self.left > 0 and time - self.left <= PATIENCE
                    self.begun = time - (self._still_owned(self.left) if recent else 0.0)
            self._owner = owner
        if sample.error is not None or sample.end is None:
            return
        if sample.committed is None:
            self.idle_until = time
            return
        if len(self.done) and sample.committed < self._commit:
            self.rewound, self.rewound_at = (self._commit, sample.committed), time
            self.done = Series()  # rates start again
            self.moved = time
        elif sample.owned is False and self._by_member and sample.committed > self._commit:
            self.done = Series()  # without members only a reset moves it, which is not throughput
        if sample.committed != self._commit:
            self._by_member = sample.owned is not False
        self._commit = sample.committed
        done = sample.committed if sample.counted is None else sample.end - sample.counted
        if len(self.done):
            done = max(done, self.done.values[-1])  # the end was read a moment after the lag was counted
        if not self.since:
            self.since = time
        ready = max(self.done.times[-1] if len(self.done) else time, self.idle_until)
        if self.done.add(time, done) and len(self.done) > 1:
            if self.moved:
                self.waits = (*self.waits, time - ready)[-WAITS:]
            self.moved = time
        self.peak = max(self.peak, sample.end - done)
        if sample.end <= done or sample.drained or not self.idle_until:
            self.idle_until = time

    def shift(self, by: float) -> None:
        """Move all times back by `by` seconds, because the clock was set back."""
        self.done.shift(by)
        self.moved, self.since = self.moved - by, self.since - by
        self.rewound_at, self.idle_until = self.rewound_at - by, self.idle_until - by
        self.assigned, self.begun = self.assigned - by, self.begun - by
        self.left -= by

    def still(self, now: float) -> float:
        """Return for how many seconds the commit has not moved although records were waiting.

        If it has a member, time without one does not count. Time of earlier members does: each may fail at the same
        record.
        """
        return self._still_owned(now) if self.sample.owned else self.uncommitted(now)

    def uncommitted(self, now: float) -> float:
        """Return for how many seconds no commit came although records were waiting, with or without a member."""
        return max(now - max(self._changed(now), self.idle_until), 0.0)

    def _still_owned(self, now: float) -> float:
        return max(now - max(self._changed(now), self.idle_until, self.begun), 0.0)

    def _changed(self, now: float) -> float:
        return self.done.times[-1] if len(self.done) else now

    def steps(self, now: float, window: float, member_moved: float) -> dict[str, Any]:
        """Return the facts for the status that follow from its commits."""
        return {
            "commit_interval": self.interval(now, window),
            "still": self.still(now),
            "member_still": max(now - max(self.since, self.moved, member_moved, self.begun), 0.0),
            "rewound": self.rewound if self.rewound is not None and now - self.rewound_at <= window else None,
        }

    def interval(self, now: float, window: float) -> float | None:
        """Return the usual seconds between two commits; None if too few were seen. If commits are further apart than
        samples are kept, it is the shortest wait before the newest commits, because the waits of a stuck group are
        longer."""
        recent = usual_step(self.done.since(now - 10 * window)[0]) if len(self.done) > 2 else None
        return min(self.waits) if recent is None and len(self.waits) > 1 else recent

    def stands(self, member_moved: float) -> Stood:
        """Return what the next watch has to know; `member_moved` is when any partition of its member was last seen to
        move."""
        waits = tuple(map(round, self.waits)) if self.slow else ()
        done, since = self.done.values[-1], max(self.done.times[-1], self.idle_until)
        if self.sample.owned:
            since = max(since, self.begun)
        if done >= (self.sample.end or 0):
            return NOWHERE, 0.0, False, waits
        moved = max(self.since, member_moved) > since if self.sample.owned is not False else None
        return done, since, moved, waits

    @property
    def left_alone(self) -> bool:
        """Whether it has no member, and its commits are those of members that have left."""
        return self.sample.owned is False and self._by_member

    @property
    def slow(self) -> bool:
        """Whether it commits so rarely that the next watch would take it for stuck."""
        return len(self.waits) > 1 and COMMITS * min(self.waits) > PATIENCE

    def go_on(self, stood: Stood) -> None:
        """Add the knowledge of an earlier watch: its waits, and that it saw no commit. If the first sample finds the
        partition at the same offset with unread records, it has not moved in the meantime either, because ends do not
        decrease; otherwise nothing is known about that time."""
        done, since, member_moved, self.waits = stood
        if member_moved is None and self.sample.owned:
            return  # when it got a member since then is unknown
        first = len(self.done) == 1 and self.done.times[0] == self.idle_until > since
        if first and self.done.values[0] == done < (self.sample.end or 0):
            self.done.times[0] = self.idle_until = since
            if not member_moved:
                self.since = since


class PartitionFigures(Value):
    """A partition of a group at one moment. Rates are offsets per second, `growth` is that of the lag; times are
    seconds.

    `few`: `out_rate` is based on too few commits for an ETA. `eta` None: unknown, or never (`falling` is then how fast
    it falls behind). `time_lag` is the age of the first unread record: by its timestamp (`time_lag_exact`), or
    interpolated from the time when its offset was written; `time_lag_least`: that was before the first sample, so it is
    a lower bound. `still`: since when its member could have moved and did not; `uncommitted`: since when any member
    could have. `assigned`: seconds since its member got it, None if that was not seen.
    """

    lag: Lag = field(factory=Lag)
    in_rate: float | None = None
    out_rate: float | None = None
    few: bool = False
    trend: float | None = None
    growth: float | None = None
    eta: float | None = None
    falling: float | None = None
    time_lag: float | None = None
    time_lag_least: bool = False
    time_lag_exact: bool = False
    still: float = 0.0
    uncommitted: float = 0.0
    assigned: float | None = None
    peak: int = 0
    loss_in: float | None = None
    age: float = 0.0
    status: str = ""
    rewound: tuple[int, int] | None = None

    def drain(self, now: float) -> None:
        """A read found no record between the commit and the end: the group has nothing to do."""
        self.date(round(now * 1000), now)
        self.lag.sample.drained = True
        if self.status in UNREAD:
            self.status = self.lag.status = OK
            self.eta = self.falling = None

    def date(self, written: int, now: float) -> None:
        """The first unread record was written at that time (ms), by its timestamp."""
        self.lag.sample.written = written
        self.time_lag, self.time_lag_least, self.time_lag_exact = max(now - written / 1000, 0.0), False, True


def stand(
    track: Track,
    log: Log,
    now: float,
    *,
    window: float = WINDOW,
    threshold: int = 0,
    member_moved: float = 0.0,
    slack: float = UNSEEN,
) -> PartitionFigures:
    """Return all figures of a partition from its samples up to `now`. `member_moved` is when any partition of its
    member was last seen to move. The time of a change during more than `slack` seconds without a sample is unknown.
    Rates of a partition that cannot be read are unknown."""
    in_rate = out_rate = trend = None
    growing = few = False
    since = max(log.end.unbroken(now - window, slack), track.done.unbroken(now - window, slack))
    if track.sample.error is None and track.sample.end is not None:
        in_rate, out_rate = log.in_rate(now, window, slack), rate(track.done, now, window, slack)
        if track.left_alone:
            out_rate = 0.0
        elif out_rate is None:
            out_rate, few = mean(track.done, now, window, slack, SHOWN * window), True
        trend, growing = _trend(track.done, log.end, since)
    steps = track.steps(now, window, member_moved)
    facts = facts_of(track.sample, threshold, in_rate=in_rate, growing=growing, **steps)
    row = measured(track.sample, facts)
    out = PartitionFigures(
        lag=row,
        in_rate=in_rate,
        out_rate=out_rate,
        few=few,
        trend=trend,
        still=facts.still,
        uncommitted=track.uncommitted(now),
        assigned=now - track.assigned if track.assigned > 0 and track.sample.owned else None,
        peak=track.peak,
        status=row.status,
        rewound=facts.rewound,
        age=max(now - track.done.last, 0.0) if len(track.done) else 0.0,
    )
    if row.lag is not None and facts.committed is not None:
        _add_times(out, track, log, facts.committed, now, since, slack)
    out.eta = eta([out])
    return out


def _add_times(
    out: PartitionFigures, track: Track, log: Log, committed: int, now: float, since: float, slack: float
) -> None:
    """Add how fast the lag grows, how old it is, and when retention reaches it."""
    lag = out.lag.lag or 0
    if out.in_rate is not None and out.out_rate is not None:
        out.growth = out.in_rate - out.out_rate
    elif track.sample.owned is not False:  # otherwise a reset may have moved it
        out.growth = drift(track.done, log.end, since, now)
    out.falling = falling(lag, out.in_rate, out.out_rate)
    out.time_lag, out.time_lag_least = time_lag(log.end, committed, lag, now, slack)
    out.time_lag_exact = lag == 0
    if lag and track.sample.written is not None:
        out.date(track.sample.written, now)
    out.loss_in = time_to_loss(log.start, committed, out.out_rate, now)


def _trend(done: Series, end: Series, since: float) -> tuple[float | None, bool]:
    """Return the slope of the lag, and whether it grows; nothing is computed if nothing moves."""
    if done.quiet(since) and end.quiet(since):
        return None, False
    times, lags = troughs(done, end, since)
    trend = robust_slope(times, lags)
    return trend, rising(lags, trend)


def rate(series: Series, now: float, window: float, slack: float = UNSEEN) -> float | None:
    """Return offsets per second over the window, or as far back as the last `STEPS` changes if all were seen; None with
    fewer changes."""
    if series.quiet(now - window):
        return 0.0 if series.times and now > series.times[0] else None
    since = series.unbroken(now - window, slack)
    times, values = series.since(since)
    if 1 < len(times) <= STEPS < len(series) and since == now - window:
        first = len(series) - STEPS - 1
        if series.unbroken(series.times[first], slack) != series.times[first]:
            return step_rate(times, values, now)
        times, values = list(series.times[first:]), list(series.values[first:])
    return step_rate(times, values, now)


def mean(series: Series, now: float, window: float, slack: float, most: float = inf) -> float | None:
    """Return offsets per second over the window, however few changes. None unless the whole window was watched, and if
    a change is larger than `most`."""
    begun = series.sampled_at(now - window)
    if begun is None or series.unbroken(begun, slack) != begun:
        return None
    _, values = series.since(begun)
    if max((after - before for before, after in pairwise(values)), default=0) > most:
        return None
    return (values[-1] - values[0]) / (now - begun)


def troughs(done: Series, end: Series, since: float) -> tuple[list[float], list[int]]:
    """Return the lag right after each commit, because between commits it is a sawtooth. Without commits, at each change
    of the end."""
    times, values = done.since(since)
    if len(times) > STEPS:
        points = [(t, end.at(t), v) for t, v in zip(times[1:], values[1:], strict=True)]
        return [t for t, e, _ in points if e is not None], [max(e - v, 0) for _, e, v in points if e is not None]
    if not len(done):
        return [], []
    moments, ends = end.since(since)
    lags = [(t, e, done.at(t)) for t, e in zip(moments, ends, strict=True)]
    return [t for t, _, v in lags if v is not None], [max(e - v, 0) for _, e, v in lags if v is not None]


def drift(done: Series, end: Series, since: float, now: float) -> float | None:
    """Return the offsets per second by which the lag grew between two moments, while there are too few commits for
    rates."""
    if not len(done) or not len(end):
        return None
    begun = max(since, done.times[0], end.times[0])
    before, then = end.at(begun), done.at(begun)
    if before is None or then is None or begun >= now:
        return None
    return ((end.values[-1] - done.values[-1]) - (before - then)) / (now - begun)


def falling(lag: int, in_rate: float | None, out_rate: float | None) -> float | None:
    """Return the offsets per second by which the lag grows; None if it does not, or if that is unknown."""
    return in_rate - out_rate if lag and in_rate is not None and out_rate is not None and out_rate <= in_rate else None


def eta(partitions: Sequence[PartitionFigures]) -> float | None:
    """Return the seconds until the slowest of these partitions has caught up: the only rule for ETA (docs/lag.md). None
    if one of them will not, while uncommitted records wait or a lag is unknown, and if lag only waits for the next
    commit."""
    slowest = 0.0
    waiting = False
    for part in partitions:
        lag = part.lag.lag
        if lag is None:
            return None
        if lag and part.status in CALM:
            waiting = True
        elif lag:
            if part.status in HALTED or part.few:
                return None  # the rate of a halted partition falls to zero only slowly
            if part.in_rate is None or part.out_rate is None or part.out_rate <= part.in_rate:
                return None
            slowest = max(slowest, lag / (part.out_rate - part.in_rate))
    return None if waiting and not slowest else slowest


def time_lag(end: Series, committed: int, lag: int, now: float, slack: float = UNSEEN) -> tuple[float | None, bool]:
    """Return (age of the offset at `committed`, whether that is a lower bound), by interpolation."""
    if lag == 0:
        return 0.0, False
    reached = end.reached(committed, slack)
    if reached is not None:
        written, least = reached
        return max(now - written, 0.0), least
    reach = now - end.times[0] if len(end) else 0.0
    return (reach, True) if reach > 0 else (None, False)


def time_to_loss(start: Series, committed: int, out_rate: float | None, now: float) -> float | None:
    """Return the seconds until retention reaches the commit at the current rates; None if it will not, or if unknown.
    The log start moves in steps of whole segments."""
    if len(start) < STEPS or out_rate is None:
        return None
    pace = slope(list(start.times[1:]), list(start.values[1:]))
    if pace is None or pace <= out_rate:
        return None
    return max(committed - start.values[-1], 0) / (pace - out_rate)
