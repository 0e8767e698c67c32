"""Rates and slopes out of samples: regression, never two points; robust where one dip must not hide growth.

Pure functions. Times are seconds, rates are per second.
"""

from __future__ import annotations

from itertools import pairwise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_POINTS = 40  # Theil-Sen compares every pair


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
    nonsense. More than `MOST_POINTS` samples are thinned out evenly."""
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
    """Of numbers in order; None of none."""
    if not ordered:
        return None
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def step_rate(times: Sequence[float], values: Sequence[float], now: float) -> float | None:
    """The rate of a staircase: commits come in steps, so the line goes through the edges, where each step was made.

    `times` are the moments of change; the first is only when sampling began. Below three edges there is no rate yet
    (None), unless nothing has changed at all (0). If no step has come for longer than two usual ones, the standstill
    counts too, and the rate sinks.
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
    """The usual time between two edges, in seconds; None for fewer than two edges."""
    return median(sorted(b - a for a, b in pairwise(times[1:])))


def rising(values: Sequence[float], trend: float | None) -> bool:
    """Whether the values grow: three of four pairs do (Mann-Kendall), and `trend`, their robust slope, is positive. A
    dip, or a few, do not hide it; noise around a level is none."""
    if len(values) < 4 or trend is None or trend <= 0:
        return False
    ups = downs = 0
    for b in range(1, len(values)):
        for a in range(b):
            ups += values[b] > values[a]
            downs += values[b] < values[a]
    return ups >= 3 * downs
