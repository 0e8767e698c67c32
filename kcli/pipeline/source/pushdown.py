"""pushdown=true: filters on topic, partition, offset and timestamp narrow the ranges before anything is read.

It is an option because Spark fails a query whose reader accepts filters while spark.sql.python.filterPushdown.enabled
is off.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

from pyspark.sql.datasource import (
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    LessThan,
    LessThanOrEqual,
)

from kcli.model import TopicPartition
from kcli.pipeline.log import Log
from kcli.pipeline.source.ranges import Range
from kcli.pipeline.source.read import BatchReader, bounds_of

UPWARDS, DOWNWARDS = (GreaterThan, GreaterThanOrEqual), (LessThan, LessThanOrEqual)


class PushingReader(BatchReader):
    """`wanted` are the filters applied completely, `times` the lower bounds on timestamps, which only determine a start
    and are applied again by Spark."""

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:
        """Accept filters that narrow a range; return the rest, and those that were only partly applied."""
        self.wanted: list[Filter] = []
        self.times: list[int] = []
        for condition in filters:
            if _exact(condition):
                self.wanted.append(condition)
                continue
            if isinstance(condition, (EqualTo, *UPWARDS)) and condition.attribute == ("timestamp",):
                time = int(condition.value.timestamp() * 1000)
                if time > 0:  # brokers interpret -1 and -2 as end and start, and -1 means no timestamp
                    self.times.append(time)
            yield condition

    def partitions(self) -> Sequence[Range]:
        """Return a task for each remaining range."""
        with Log(self.sealed) as log:
            starts, ends = bounds_of(log, self.options)
            wanted, times = getattr(self, "wanted", []), getattr(self, "times", [])
            ats = [at for at in ends if all(_may(condition, at) for condition in wanted)]
            ends = {at: ends[at] for at in ats}
            for condition in wanted:
                if condition.attribute == ("offset",):
                    for at in ats:
                        low, high = _bounds(condition)
                        starts[at], ends[at] = max(starts[at], low), min(ends[at], high)
            if times:
                found = log.at_times(dict.fromkeys(ats, max(times)))
                for at, offset in found.items():
                    starts[at] = ends[at] if offset is None else max(starts[at], offset)
            spans = self.ranges(log, starts, ends)
        taken = [*map(str, wanted), *(f"timestamp >= {time} ms" for time in times)]
        print(
            f"kcli: pushed down: {', '.join(taken) or 'nothing'}; {sum(map(len, spans))} offsets left", file=sys.stderr
        )
        return spans


def _exact(condition: Filter) -> bool:
    """Whether the range alone expresses the whole filter."""
    attribute = getattr(condition, "attribute", None)
    if attribute == ("offset",):
        return isinstance(condition, (EqualTo, *UPWARDS, *DOWNWARDS))
    return attribute in (("topic",), ("partition",)) and isinstance(condition, (EqualTo, In, *UPWARDS, *DOWNWARDS))


def _may(condition: Any, at: TopicPartition) -> bool:
    """Whether a partition can have rows that match the filter."""
    if condition.attribute == ("offset",):
        return True
    value = at.topic if condition.attribute == ("topic",) else at.partition
    if isinstance(condition, In):
        return value in condition.value
    if isinstance(condition, EqualTo):
        return bool(value == condition.value)
    if isinstance(condition, UPWARDS):
        return bool(value > condition.value or (value == condition.value and isinstance(condition, GreaterThanOrEqual)))
    return bool(value < condition.value or (value == condition.value and isinstance(condition, LessThanOrEqual)))


def _bounds(condition: Any) -> tuple[int, int]:
    """Return [low, high) for a filter on offsets."""
    value = int(condition.value)
    most = 2**63 - 1
    if isinstance(condition, EqualTo):
        return value, value + 1
    if isinstance(condition, UPWARDS):
        return (value + 1 if isinstance(condition, GreaterThan) else value), most
    return 0, (value if isinstance(condition, LessThan) else value + 1)
