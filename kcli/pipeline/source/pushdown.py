"""pushdown=true: filters on topic, partition, offset and timestamp narrow the ranges before anything is read.

Chosen by an option because Spark fails a query whose reader takes filters while
spark.sql.python.filterPushdown.enabled is off.
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
from kcli.pipeline.source.ranges import Range, ranges_of
from kcli.pipeline.source.read import BatchReader, bounds_of

UPWARDS, DOWNWARDS = (GreaterThan, GreaterThanOrEqual), (LessThan, LessThanOrEqual)


class PushingReader(BatchReader):
    """`wanted` are the filters taken over entirely, `times` the lower bounds on timestamps: those only find a start,
    and Spark looks again."""

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:
        """Take what narrows a range; give back the rest, and what was only partly taken."""
        self.wanted: list[Filter] = []
        self.times: list[int] = []
        for one in filters:
            if _exact(one):
                self.wanted.append(one)
                continue
            if isinstance(one, (EqualTo, *UPWARDS)) and one.attribute == ("timestamp",):
                time = int(one.value.timestamp() * 1000)
                if time > 0:  # a broker takes -1 and -2 for the end and the start, and -1 is a record without a time
                    self.times.append(time)
            yield one

    def partitions(self) -> Sequence[Range]:
        """A task for each range that is left."""
        with Log(self.sealed) as log:
            starts, ends = bounds_of(log, self.options)
            wanted, times = getattr(self, "wanted", []), getattr(self, "times", [])
            ats = [at for at in ends if all(_may(one, at) for one in wanted)]
            ends = {at: ends[at] for at in ats}
            for one in wanted:
                if one.attribute == ("offset",):
                    for at in ats:
                        low, high = _bounds(one)
                        starts[at], ends[at] = max(starts[at], low), min(ends[at], high)
            if times:
                found = log.at_times(dict.fromkeys(ats, max(times)))
                for at, offset in found.items():
                    starts[at] = ends[at] if offset is None else max(starts[at], offset)
        made = ranges_of(starts, ends, least=self.options.min_partitions, most=self.options.max_records)
        taken = [*map(str, wanted), *(f"timestamp >= {time} ms" for time in times)]
        print(
            f"kcli: pushed down: {', '.join(taken) or 'nothing'}; {sum(map(len, made))} offsets left", file=sys.stderr
        )
        return made


def _exact(one: Filter) -> bool:
    """Whether the range alone can say everything the filter says."""
    attribute = getattr(one, "attribute", None)
    if attribute == ("offset",):
        return isinstance(one, (EqualTo, *UPWARDS, *DOWNWARDS))
    return attribute in (("topic",), ("partition",)) and isinstance(one, (EqualTo, In, *UPWARDS, *DOWNWARDS))


def _may(one: Any, at: TopicPartition) -> bool:
    """Whether a partition can have rows for the filter."""
    if one.attribute == ("offset",):
        return True
    value = at.topic if one.attribute == ("topic",) else at.partition
    if isinstance(one, In):
        return value in one.value
    if isinstance(one, EqualTo):
        return bool(value == one.value)
    if isinstance(one, UPWARDS):
        return bool(value > one.value or (value == one.value and isinstance(one, GreaterThanOrEqual)))
    return bool(value < one.value or (value == one.value and isinstance(one, LessThanOrEqual)))


def _bounds(one: Any) -> tuple[int, int]:
    """[low, high) of a filter on offsets."""
    value = int(one.value)
    most = 2**63 - 1
    if isinstance(one, EqualTo):
        return value, value + 1
    if isinstance(one, UPWARDS):
        return (value + 1 if isinstance(one, GreaterThan) else value), most
    return 0, (value if isinstance(one, LessThan) else value + 1)
