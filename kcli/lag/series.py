"""One number over time, kept as what it was when it changed: an idle partition costs nothing.

Times are seconds since the epoch and never go back; values are offsets.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right


class Series:
    """`times` and `values` are the samples at which the value was another than before, the very first one, and
    nothing else; `last` is when it was looked at most recently."""

    __slots__ = ("_befores", "last", "times", "values")

    def __init__(self) -> None:
        self.times = array("d")
        self._befores: array[float] | None = None  # of each value but the first: when the one before was last seen
        self.values = array("q")
        self.last = 0.0

    def __len__(self) -> int:
        return len(self.times)

    def add(self, time: float, value: int) -> bool:
        """One sample; whether the value is another than before."""
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
        """The value at a time; None before the first sample."""
        place = bisect_right(self.times, time) - 1
        return self.values[place] if place >= 0 else None

    def seen(self, time: float, slack: float) -> int | None:
        """The value at a time. None after the last sample, and in a gap between samples of more than `slack` seconds
        over which the value changed; a value that is the same after a gap did not change in it."""
        place = bisect_right(self.times, time) - 1
        if place < 0:
            return None
        if place == len(self.values) - 1 or self._befores is None:
            return self.values[place] if time <= self.last + slack else None
        looked, changed = self._befores[place], self.times[place + 1]
        return self.values[place] if time <= looked or changed - looked <= slack else None

    def looked(self, time: float) -> float | None:
        """When it was last looked at up to this time; of a value that stayed the same, this time. None before the first
        sample."""
        place = bisect_right(self.times, time) - 1
        if place < 0:
            return None
        latest = self.last if place == len(self.values) - 1 or self._befores is None else self._befores[place]
        return min(latest, time)

    def unbroken(self, since: float, slack: float) -> float:
        """The time from which on the times of all changes are known: `since`, or the end of the last gap between
        samples of more than `slack` seconds over which the value changed."""
        for place in range(len(self.times) - 1, 0, -1):
            if self.times[place] <= since or self._befores is None:
                break
            if self.times[place] - self._befores[place - 1] > slack:
                return self.times[place]
        return since

    def shift(self, by: float) -> None:
        """Move all times back by `by` seconds: the clock was set back."""
        self.times = array("d", (time - by for time in self.times))
        if self._befores is not None:
            self._befores = array("d", (time - by for time in self._befores))
        self.last -= by

    def since(self, time: float) -> tuple[list[float], list[int]]:
        """The changes after `time`, in order, and before them what the value was then."""
        place = max(bisect_right(self.times, time) - 1, 0)
        times, values = list(self.times[place:]), list(self.values[place:])
        if times and times[0] < time:
            times[0] = time
        return times, values

    def reached(self, value: int, slack: float) -> tuple[float, bool] | None:
        """When the value grew past `value`, between two samples by interpolation: the time at which that offset was
        written, if the series is a partition's end. True: it was written then or earlier, as the samples are more than
        `slack` seconds apart. None if that was before the first sample, or has not happened. For a series that never
        shrinks."""
        place = bisect_right(self.values, value)
        if place in (0, len(self.values)) or self._befores is None:
            return None
        low, high = self.values[place - 1], self.values[place]
        begun, done = self._befores[place - 1], self.times[place]
        if done - begun > slack:
            return done, True
        return begun + (done - begun) * (value - low) / (high - low), False
