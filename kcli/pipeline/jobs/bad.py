"""Records that did not fit their format, and are null or in quarantine (--on-bad), counted by Spark where they are
read."""

from __future__ import annotations

import time
from itertools import count
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

NAME = "kcli_bad"
_numbers = count(1)
ERRORS = ("keyError", "valueError")
PATIENCE = 5.0
"""Seconds in which Spark tells the count, after the rows were written: its listeners run behind."""


class BadRows:
    """`frame` is the one to use from here: counted, without the columns that say what is wrong, and with `leave_out`
    without the bad rows. A stream's count is in its progress, see `bad_of`."""

    def __init__(self, frame: DataFrame, *, leave_out: bool = False) -> None:
        from pyspark.sql import Observation
        from pyspark.sql import functions as f

        self._seen: Any = None if frame.isStreaming else Observation()
        errors = [name for name in ERRORS if name in frame.columns]
        bad = f.coalesce(*[f.col(name) for name in errors]).isNotNull()
        # two topics of one query are counted under two names
        counted = frame.observe(
            f"{NAME}_{next(_numbers)}" if self._seen is None else self._seen, f.count_if(bad).alias("bad")
        )
        self.frame = (counted.where(~bad) if leave_out else counted).drop(*errors)

    @property
    def rows(self) -> int:
        """After the action: how many; 0 where the frame was not run."""
        found = None if self._seen is None else observed(self._seen)
        return 0 if found is None else int(found["bad"])


def bad_of(progress: Any) -> int:
    """Of a batch of a stream, by its progress."""
    found = (progress["observedMetrics"] or {}).items()
    return sum(int(seen["bad"]) for name, seen in found if name.startswith(NAME))


class Counted:
    """`frame` is the one to write. A stream is not counted here: its progress says it."""

    def __init__(self, frame: DataFrame) -> None:
        self.frame = frame
        self._seen: Any = None
        if not frame.isStreaming:
            from pyspark.sql import Observation
            from pyspark.sql import functions as f

            self._seen = Observation()
            self.frame = frame.observe(self._seen, f.count(f.lit(1)).alias("rows"))

    @property
    def rows(self) -> int:
        """After the action: its rows; -1 where they were not counted, because a sink never ran this frame (Spark's
        own waits for ever then)."""
        found = None if self._seen is None else observed(self._seen)
        return -1 if found is None else int(found["rows"])


def observed(seen: Any) -> Any:
    """What an observation saw, after the action; None where its frame was not run (Spark's own waits for ever then)."""
    known = getattr(seen, "_jo", None)
    deadline = time.monotonic() + PATIENCE
    while known is not None and not known.future().isCompleted():
        if time.monotonic() > deadline:
            return None
        time.sleep(0.02)
    return seen.get
