"""The state of a partition of a group: its samples, and the figures derived from them (docs/lag.md).

Time is an argument everywhere. A partition's ends are stored once, whatever the number of groups that read it.
"""

from __future__ import annotations

from kcli.lag.figures import Lag, Sample, facts_of, measured
from kcli.lag.series import Series
from kcli.lag.status import CALM, HALTED, Facts
from kcli.lag.trend import rising, robust_slope, slope, step_rate, usual_step
from kcli.values import Value, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from kcli.model import TopicPartition

    Stood = tuple[int, float]  # the offset of a partition without commits, and since when

WINDOW = 60.0  # seconds that rates are taken over
STEPS = 3  # commits at least; the window reaches further back for them


class Log:
    """The bounds of one partition, `at`, over time."""

    __slots__ = ("_rated", "at", "end", "stable", "start")

    def __init__(self, at: TopicPartition) -> None:
        self.at = at
        self.end, self.start, self.stable = Series(), Series(), Series()
        self._rated: tuple[float, float, float | None] | None = None  # the moment, the window and the rate

    def add(self, time: float, sample: Sample) -> None:
        """The ends of one refresh; an end that moved back (truncated, recreated) starts a new history."""
        self._rated = None
        for name in ("end", "start", "stable"):
            value, series = getattr(sample, name), getattr(self, name)
            if value is None:
                continue
            if len(series) and value < series.values[-1]:
                series = Series()
                setattr(self, name, series)
            series.add(time, value)

    def in_rate(self, now: float, window: float) -> float | None:
        """Offsets a second that come in, found once for all groups that read them."""
        if self._rated is None or self._rated[:2] != (now, window):
            self._rated = now, window, rate(self.end, now, window)
        return self._rated[2]

    def forget_before(self, time: float) -> None:
        for series in (self.end, self.start, self.stable):
            series.forget_before(time)


class Track:
    """One group's progress in one partition over time. `done` is its commit; of a share group, which also finishes
    records beyond its start, the end minus the lag that its coordinator counts."""

    __slots__ = ("_commit", "done", "idle_until", "peak", "rewound", "rewound_at", "sample")

    def __init__(self) -> None:
        self.done = Series()
        self._commit = 0
        self.sample = Sample()
        self.rewound: tuple[int, int] | None = None  # (from, to) of the last step back
        self.rewound_at = 0.0
        self.peak = 0
        self.idle_until = 0.0  # when there was last nothing to read

    def add(self, time: float, sample: Sample) -> None:
        """The sample of one refresh. A failed one leaves the figures as they were, with their age (never 0)."""
        self.sample = sample
        if sample.error is not None or sample.end is None:
            return
        if sample.committed is None:
            self.idle_until = time
            return
        if len(self.done) and sample.committed < self._commit:
            self.rewound, self.rewound_at = (self._commit, sample.committed), time
            self.done = Series()  # rates start again
        self._commit = sample.committed
        done = sample.committed if sample.counted is None else sample.end - sample.counted
        if len(self.done):
            done = max(done, self.done.values[-1])  # the end was read a moment after the lag was counted
        self.done.add(time, done)
        self.peak = max(self.peak, sample.end - done)
        if sample.end <= done or not self.idle_until:
            self.idle_until = time

    def still(self, now: float) -> float:
        """Seconds that the group could have got on and did not."""
        moved = self.done.times[-1] if len(self.done) else now
        return max(now - max(moved, self.idle_until), 0.0)

    def interval(self, now: float, window: float) -> float | None:
        """The usual seconds between two commits; None where too few were seen."""
        return usual_step(self.done.since(now - 10 * window)[0]) if len(self.done) > 2 else None

    @property
    def stands(self) -> Stood:
        """Where it is, and since when it could have got on and did not."""
        return self.done.values[-1], max(self.done.times[-1], self.idle_until)

    def go_on(self, stood: Stood) -> None:
        """An earlier watch saw no commit. Where its first sample finds it at the same offset, with something to
        read, it has not moved meanwhile either, as ends do not go back; elsewhere nothing is known of that time."""
        done, since = stood
        first = len(self.done) == 1 and self.done.times[0] == self.idle_until > since
        if first and self.done.values[0] == done < (self.sample.end or 0):
            self.done.times[0] = self.idle_until = since


class Standing(Value):
    """A partition of a group at one moment. Rates are offsets per second, `growth` that of lag; times are seconds.
    `eta` None: unknown, or never (`falling` is then how fast it falls behind). `time_lag` is the age of the first
    unread record: by its timestamp (`time_lag_exact`), or interpolated from the time when its offset was written;
    `time_lag_least`: that was before the first sample, so it is a lower bound."""

    lag: Lag = field(factory=Lag)
    in_rate: float | None = None
    out_rate: float | None = None
    trend: float | None = None
    growth: float | None = None
    eta: float | None = None
    falling: float | None = None
    time_lag: float | None = None
    time_lag_least: bool = False
    time_lag_exact: bool = False
    still: float = 0.0
    peak: int = 0
    loss_in: float | None = None
    age: float = 0.0
    status: str = ""
    rewound: tuple[int, int] | None = None

    def date(self, written: int, now: float) -> None:
        """The first unread record was written then (ms), by its timestamp."""
        self.lag.sample.written = written
        self.time_lag, self.time_lag_least, self.time_lag_exact = max(now - written / 1000, 0.0), False, True


def stand(track: Track, log: Log, now: float, *, window: float = WINDOW, threshold: int = 0) -> Standing:
    """All figures of a partition, from its samples up to `now`."""
    in_rate, out_rate = log.in_rate(now, window), rate(track.done, now, window)
    trend, growing = _trend(track.done, log.end, now - window)
    facts = _facts(track, now, window, threshold, in_rate, growing)
    row = measured(track.sample, facts)
    out = Standing(
        lag=row,
        in_rate=in_rate,
        out_rate=out_rate,
        trend=trend,
        still=facts.still,
        peak=track.peak,
        status=row.status,
        rewound=facts.rewound,
        age=max(now - track.done.last, 0.0) if len(track.done) else 0.0,
    )
    if row.lag is not None and facts.committed is not None:
        if in_rate is None or out_rate is None:
            out.growth = drift(track.done, log.end, now - window, now)
        else:
            out.growth = in_rate - out_rate
        out.falling = falling(row.lag, in_rate, out_rate)
        out.time_lag, out.time_lag_least = time_lag(log.end, facts.committed, row.lag, now)
        out.time_lag_exact = row.lag == 0
        if row.lag and track.sample.written is not None:
            out.date(track.sample.written, now)
        out.loss_in = time_to_loss(log.start, facts.committed, out_rate, now)
    out.eta = eta([out])
    return out


def _trend(done: Series, end: Series, since: float) -> tuple[float | None, bool]:
    """The slope of the lag, and whether it grows; of a partition in which nothing moves there is nothing to compute."""
    if done.quiet(since) and end.quiet(since):
        return None, False
    times, lags = troughs(done, end, since)
    trend = robust_slope(times, lags)
    return trend, rising(lags, trend)


def _facts(track: Track, now: float, window: float, threshold: int, in_rate: float | None, growing: bool) -> Facts:
    """What the status of a partition is decided from."""
    return facts_of(
        track.sample,
        threshold,
        in_rate=in_rate,
        growing=growing,
        commit_interval=track.interval(now, window),
        still=track.still(now),
        rewound=track.rewound if track.rewound is not None and now - track.rewound_at <= window else None,
    )


def rate(series: Series, now: float, window: float) -> float | None:
    """Offsets a second over the window, or as far back as `STEPS` changes reach."""
    if series.quiet(now - window):
        return 0.0 if series.times and now > series.times[0] else None
    times, values = series.since(now - window)
    if 1 < len(times) <= STEPS and len(series) > STEPS:
        first = len(series) - STEPS - 1
        times, values = list(series.times[first:]), list(series.values[first:])
    return step_rate(times, values, now)


def troughs(done: Series, end: Series, since: float) -> tuple[list[float], list[int]]:
    """The lag right after each commit: between commits it only saws. Without commits, at each change of the end."""
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
    """Offsets a second by which the lag grew, between two moments: while there are too few commits for rates."""
    if not len(done) or not len(end):
        return None
    begun = max(since, done.times[0], end.times[0])
    before, then = end.at(begun), done.at(begun)
    if before is None or then is None or begun >= now:
        return None
    return ((end.values[-1] - done.values[-1]) - (before - then)) / (now - begun)


def falling(lag: int, in_rate: float | None, out_rate: float | None) -> float | None:
    """Offsets a second by which the lag grows; None where it does not, or that is unknown."""
    return in_rate - out_rate if lag and in_rate is not None and out_rate is not None and out_rate <= in_rate else None


def eta(partitions: Sequence[Standing]) -> float | None:
    """Seconds until the slowest of these partitions has caught up: the only rule for ETA (docs/lag.md). None while one
    of them will not, while uncommitted records wait or a lag is unknown, and where lag only waits for the next
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
            if part.status in HALTED or part.in_rate is None or part.out_rate is None or part.out_rate <= part.in_rate:
                return None  # the rate of one that halted sinks only by and by
            slowest = max(slowest, lag / (part.out_rate - part.in_rate))
    return None if waiting and not slowest else slowest


def time_lag(end: Series, committed: int, lag: int, now: float) -> tuple[float | None, bool]:
    """(age of the offset at `committed`, whether that is a lower bound), by interpolation."""
    if lag == 0:
        return 0.0, False
    written = end.reached(committed)
    if written is not None:
        return max(now - written, 0.0), False
    reach = now - end.times[0] if len(end) else 0.0
    return (reach, True) if reach > 0 else (None, False)


def time_to_loss(start: Series, committed: int, out_rate: float | None, now: float) -> float | None:
    """Seconds until retention reaches the commit at the current rates; None if it will not, or is unknown. The log
    start moves in steps of whole segments."""
    if len(start) < STEPS or out_rate is None:
        return None
    pace = slope(list(start.times[1:]), list(start.values[1:]))
    if pace is None or pace <= out_rate:
        return None
    return max(committed - start.values[-1], 0) / (pace - out_rate)
