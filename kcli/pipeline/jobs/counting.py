"""How many rows went by, counted by Spark while it writes them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

PATIENCE = 5.0
"""Seconds in which Spark tells the count, after the rows were written: its listeners run behind."""


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
