"""Counts records that did not fit their format, and are null or in quarantine (--on-bad); Spark counts them while
reading."""

from __future__ import annotations

import time
from itertools import count
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

NAME = "kcli_bad"
_numbers = count(1)
ERRORS = ("keyError", "valueError")
UNKNOWN = ("keyUnknown", "valueUnknown")
PATIENCE = 5.0
"""Seconds to wait for the count after rows were written, because Spark's listeners run late."""


class BadRows:
    """`frame` is the one to use from now on: counted, without the columns for problems and unknown fields, and with
    `leave_out` without the bad rows. A stream's counts are in its progress, see `bad_of`."""

    def __init__(self, frame: DataFrame, *, leave_out: bool = False) -> None:
        from pyspark.sql import Observation
        from pyspark.sql import functions as f

        self._seen: Any = None if frame.isStreaming else Observation()
        errors = [name for name in ERRORS if name in frame.columns]
        unknown = [name for name in UNKNOWN if name in frame.columns]
        bad = f.coalesce(f.lit(None), *[f.col(name) for name in errors]).isNotNull()
        fields = f.coalesce(f.lit(None).cast("string"), *[f.col(name) for name in unknown])
        # two topics in one query are counted under two names
        counted = frame.observe(
            f"{NAME}_{next(_numbers)}" if self._seen is None else self._seen,
            f.count_if(bad).alias("bad"),
            f.count(fields).alias("unknown"),
            f.min(fields).alias("first"),
            f.max(fields).alias("last"),
        )
        self.frame = (counted.where(~bad) if leave_out else counted).drop(*errors, *unknown)

    @property
    def rows(self) -> int:
        """The number of bad rows, after the action; 0 if the frame was not run."""
        return int(self._found.get("bad", 0))

    @property
    def unknown(self) -> int:
        """The number of rows with unknown fields, after the action."""
        return int(self._found.get("unknown", 0))

    @property
    def fields(self) -> list[str]:
        """Some of these fields, after the action."""
        return _fields(self._found)

    @property
    def _found(self) -> dict[str, Any]:
        return {} if self._seen is None else dict(observed(self._seen) or {})


def _fields(seen: Any) -> list[str]:
    texts = [seen[name] for name in ("first", "last") if seen.get(name)]
    return list(dict.fromkeys(one for text in texts for one in text.split(", ")))


def bad_of(progress: Any) -> int:
    """Return the number for a batch of a stream, from its progress."""
    return sum(int(seen["bad"]) for seen in _observed(progress))


def unknown_of(progress: Any) -> int:
    """Return its number of records with unknown fields."""
    return sum(int(seen["unknown"]) for seen in _observed(progress))


def fields_of(progress: Any) -> list[str]:
    """Return some of these fields."""
    return [one for seen in _observed(progress) for one in _fields(seen.asDict() if hasattr(seen, "asDict") else seen)]


def _observed(progress: Any) -> list[Any]:
    return [seen for name, seen in (progress["observedMetrics"] or {}).items() if name.startswith(NAME)]


class Counted:
    """`frame` is the one to write. A stream is not counted here: its progress has the number."""

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
        """The number of rows, after the action; -1 if they were not counted, because a sink never ran this frame (Spark
        would wait forever then)."""
        found = None if self._seen is None else observed(self._seen)
        return -1 if found is None else int(found["rows"])


def observed(seen: Any) -> Any:
    """Return the result of an observation, after the action; None if its frame was not run (Spark would wait forever
    then)."""
    known = getattr(seen, "_jo", None)
    deadline = time.monotonic() + PATIENCE
    while known is not None and not known.future().isCompleted():
        if time.monotonic() > deadline:
            return None
        time.sleep(0.02)
    return seen.get
