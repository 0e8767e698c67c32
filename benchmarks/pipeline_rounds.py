"""Jobs by kcli and by Spark's own connector, interleaved round by round, as rows of a table."""

from __future__ import annotations

import os
import statistics
import sys
import time
from typing import TYPE_CHECKING

from benchmarks.pipeline_report import Row
from tests.pipeline.tree import cpu, descendants

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Job = Callable[[str], None]

FORMS = ("kcli", "kafka")


def interleaved(jobs: Mapping[str, Job], count: int, size: str, rounds: int) -> list[Row]:
    """Each job with both, in another order each round."""
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for number in range(rounds):
        for label, job in jobs.items():
            for form in FORMS if number % 2 == 0 else FORMS[::-1]:
                found.setdefault((label, form), []).append(timed(job, form))
                wall, spent = found[label, form][-1]
                print(f"{size} {label} {form}: {count / wall:,.0f} rows/s, {spent:.1f} CPU s", file=sys.stderr)
    return [Row(label, size, count, {form: middle(found[label, form]) for form in FORMS}) for label in jobs]


def timed(job: Job, form: str) -> tuple[float, float]:
    """Wall and CPU seconds."""
    spent, began = cpu([os.getpid(), *descendants(os.getpid())]), time.monotonic()
    job(form)
    wall = time.monotonic() - began
    return wall, cpu([os.getpid(), *descendants(os.getpid())]) - spent


def middle(runs: list[tuple[float, float]]) -> tuple[float, float]:
    """The medians."""
    return statistics.median(wall for wall, _ in runs), statistics.median(spent for _, spent in runs)
