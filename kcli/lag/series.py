"""A number over time, stored only when it changes, so that an idle partition costs nothing.

Times are seconds since the epoch and never decrease; values are offsets.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from itertools import pairwise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_POINTS = 40  # Theil-Sen compares every pair


class Series:
    """`times` and `values` are the first sample and those with a new value; `last` is when it was last sampled."""

    __slots__ = ("_befores", "last", "times", "values")

    def __init__(self) -> None:
        self.times = array("d")
        self._befores: array[float] | None = None  # for each value but the first: when the previous one was last seen
        self.values = array("q")
        self.last = 0.0

    def __len__(self) -> int:
        return len(self.times)

    def add(self, time: float, value: int) -> bool:
        """Add a sample; return whether the value changed."""
        before, self.last = self.last, time
        if self.values and self.values[-1] == value:
            return False
        if self.values:
            if self._befores is None:
                self._befores = array("d")
            self._befores.append(before)
        self.times.append(time)
        self.values.append(value)
        return True

    def forget_before(self, time: float) -> None:
        """Drop older values, but keep the value at `time`."""
        if len(self.times) < 2 or self.times[1] > time:
            return
        keep = max(bisect_right(self.times, time) - 1, 0)
        if keep:
            for column in (self.times, self._befores, self.values):
                if column is not None:
                    del column[:keep]

    def quiet(self, since: float) -> bool:
        """Whether it has not changed after `since`."""
        return len(self.times) < 2 or self.times[-1] <= since

    def at(self, time: float) -> int | None:
        """Return the value at a time; None before the first sample."""
        place = bisect_right(self.times, time) - 1
        return self.values[place] if place >= 0 else None

    def seen(self, time: float, slack: float) -> int | None:
        """Return the value at a time. None after the last sample, and in a gap between samples of more than `slack`
        seconds over which the value changed; a value that is the same after a gap did not change in it."""
        place = bisect_right(self.times, time) - 1
        if place < 0:
            return None
        if place == len(self.values) - 1 or self._befores is None:
            return self.values[place] if time <= self.last + slack else None
        looked, changed = self._befores[place], self.times[place + 1]
        return self.values[place] if time <= looked or changed - looked <= slack else None

    def sampled_at(self, time: float) -> float | None:
        """Return when it was last sampled up to this time; for a value that stayed the same, this time. None before the
        first sample."""
        place = bisect_right(self.times, time) - 1
        if place < 0:
            return None
        latest = self.last if place == len(self.values) - 1 or self._befores is None else self._befores[place]
        return min(latest, time)

    def unbroken(self, since: float, slack: float) -> float:
        """Return the time from which on the times of all changes are known: `since`, or the end of the last gap between
        samples of more than `slack` seconds over which the value changed."""
        for place in range(len(self.times) - 1, 0, -1):
            if self.times[place] <= since or self._befores is None:
                break
            if self.times[place] - self._befores[place - 1] > slack:
                return self.times[place]
        return since

    def shift(self, by: float) -> None:
        """Move all times back by `by` seconds, because the clock was set back."""
        self.times = array("d", (time - by for time in self.times))
        if self._befores is not None:
            self._befores = array("d", (time - by for time in self._befores))
        self.last -= by

    def since(self, time: float) -> tuple[list[float], list[int]]:
        """Return the changes after `time`, in order, preceded by the value at that time."""
        place = max(bisect_right(self.times, time) - 1, 0)
        times, values = list(self.times[place:]), list(self.values[place:])
        if times and times[0] < time:
            times[0] = time
        return times, values

    def reached(self, value: int, slack: float) -> tuple[float, bool] | None:
        """Return when the value exceeded `value`, interpolated between two samples: for a partition's end, when that
        offset was written.

        With True, it was written then or earlier, because the samples are more than `slack` seconds apart. None if it
        was before the first sample, or has not happened. For a series that never decreases.
        """
        place = bisect_right(self.values, value)
        if place in (0, len(self.values)) or self._befores is None:
            return None
        low, high = self.values[place - 1], self.values[place]
        begun, done = self._befores[place - 1], self.times[place]
        if done - begun > slack:
            return done, True
        return begun + (done - begun) * (value - low) / (high - low), False


def slope(times: Sequence[float], values: Sequence[float]) -> float | None:
    """Least squares; None for fewer than two moments."""
    n = len(times)
    if n < 2:
        return None
    middle = sum(times) / n
    spread = sum((t - middle) ** 2 for t in times)
    if spread == 0:
        return None
    return sum((t - middle) * v for t, v in zip(times, values, strict=True)) / spread


def robust_slope(times: Sequence[float], values: Sequence[float]) -> float | None:
    """Theil-Sen: the median of the slopes between all pairs (Sen, 1968). Up to a quarter of the samples may be
    outliers. More than `MOST_POINTS` samples are thinned out evenly."""
    if len(times) > MOST_POINTS:
        step = (len(times) - 1) / (MOST_POINTS - 1)
        chosen = [round(n * step) for n in range(MOST_POINTS)]
        times, values = [times[n] for n in chosen], [values[n] for n in chosen]
    slopes = sorted(
        (values[b] - values[a]) / (times[b] - times[a])
        for a in range(len(times))
        for b in range(a + 1, len(times))
        if times[b] > times[a]
    )
    return median(slopes)


def median(ordered: Sequence[float]) -> float | None:
    """Return the median of sorted numbers; None if empty."""
    if not ordered:
        return None
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def step_rate(times: Sequence[float], values: Sequence[float], now: float) -> float | None:
    """Return the rate of a staircase: commits come in steps, so the line is fitted to the times at which steps were
    made.

    `times` are the moments of change, except for the first, when sampling began. With fewer than three steps there is
    no rate yet (None), unless nothing has changed at all (0). If no step has come for longer than two usual ones, the
    standstill counts, too, and the rate decreases.
    """
    edges = len(times) - 1
    if edges < 1:
        return 0.0 if times and now > times[0] else None
    if edges < 3:
        return None
    moments, steps = list(times[1:]), list(values[1:])
    usual = usual_step(times)
    if usual is not None and now - moments[-1] > 2 * usual:
        moments.append(now)
        steps.append(steps[-1])
    return slope(moments, steps)


def usual_step(times: Sequence[float]) -> float | None:
    """Return the usual time between two steps, in seconds; None for fewer than two steps."""
    return median(sorted(b - a for a, b in pairwise(times[1:])))


def rising(values: Sequence[float], trend: float | None) -> bool:
    """Whether the values grow: three of four pairs do (Mann-Kendall), and `trend`, their robust slope, is positive. A
    few dips do not hide growth; noise around a level is not growth."""
    if len(values) < 4 or trend is None or trend <= 0:
        return False
    ups = downs = 0
    for b in range(1, len(values)):
        for a in range(b):
            ups += values[b] > values[a]
            downs += values[b] < values[a]
    return ups >= 3 * downs
