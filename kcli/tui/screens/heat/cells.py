"""A figure of each partition, by topic or by the broker that leads it, and how hot that is. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kcli.lag.formats.marks import STATUSES
from kcli.lag.status import SEVERITY
from kcli.model import TopicPartition

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kcli.admin.topics.topics import Topic
    from kcli.lag.watch import LagSnapshot

SHADES = "·░▒▓█"
"""From nothing to the hottest; unknown is a blank."""
MEASURES = ("lag", "rate", "size", "age")


class Heat(NamedTuple):
    """A partition: `value` None is unknown; `tone` is that of its worst group, or accent."""

    at: TopicPartition
    value: float | None
    tone: str = "accent"


class HeatRow(NamedTuple):
    """A topic or a broker, with its partitions in order."""

    name: str
    cells: tuple[Heat, ...]

    @property
    def hottest(self) -> float:
        """Its largest figure."""
        return max((cell.value or 0.0 for cell in self.cells), default=0.0)

    @property
    def total(self) -> float | None:
        """The sum of what is known."""
        known = [cell.value for cell in self.cells if cell.value is not None]
        return sum(known) if known else None


class Cluster(NamedTuple):
    """What the cluster was asked: partitions with their leaders, ends at a time, and bytes."""

    topics: Sequence[Topic]
    ends: Mapping[TopicPartition, int]
    sizes: Mapping[TopicPartition, int]
    time: float


def of_groups(snapshot: LagSnapshot, measure: str) -> dict[TopicPartition, Heat]:
    """Lag or time lag (seconds) of each partition that a group reads: of the group that has most of it."""
    found: dict[TopicPartition, Heat] = {}
    worst: dict[TopicPartition, int] = {}
    for group in snapshot.groups:
        for part in group.partitions:
            at = TopicPartition(part.lag.sample.topic, part.lag.sample.partition)
            value = {"lag": part.lag.lag, "age": part.time_lag, "rate": part.in_rate}.get(measure)
            if measure == "age" and value is None and part.lag.lag == 0:
                value = 0.0
            severity = SEVERITY.index(part.status)
            tone = STATUSES[part.status][1] if severity >= worst.get(at, -1) else found[at].tone
            worst[at] = max(severity, worst.get(at, -1))
            before = found[at].value if at in found else None
            largest = max((one for one in (before, value) if one is not None), default=None)
            found[at] = Heat(at, largest, "accent" if measure == "rate" else tone)
    return found


def of_cluster(now: Cluster, before: Cluster | None, measure: str) -> dict[TopicPartition, Heat]:
    """Bytes of each partition, or what was written a second since the answer before."""
    if measure == "size":
        return {at: Heat(at, float(size)) for at, size in now.sizes.items()}
    if before is None or now.time <= before.time:
        return {}
    return {
        at: Heat(at, max(end - before.ends[at], 0) / (now.time - before.time))
        for at, end in now.ends.items()
        if at in before.ends
    }


def by_topic(heats: Mapping[TopicPartition, Heat], topics: Iterable[Topic]) -> list[HeatRow]:
    """A row for each topic; partitions of which nothing is known are blank."""
    every = {TopicPartition(topic.topic, one.partition) for topic in topics for one in topic.partitions} | heats.keys()
    rows: dict[str, list[Heat]] = {}
    for at in sorted(every):
        rows.setdefault(at.topic, []).append(heats.get(at) or Heat(at, None))
    return [HeatRow(name, tuple(cells)) for name, cells in rows.items()]


def by_broker(heats: Mapping[TopicPartition, Heat], topics: Iterable[Topic]) -> list[HeatRow]:
    """A row for each broker, of the partitions that it leads, the hottest first."""
    rows: dict[int, list[Heat]] = {}
    for topic in topics:
        for one in topic.partitions:
            at = TopicPartition(topic.topic, one.partition)
            rows.setdefault(one.leader, []).append(heats.get(at) or Heat(at, None))
    return [
        HeatRow(
            f"broker {number}" if number >= 0 else "no leader",
            tuple(sorted(cells, key=lambda cell: (-(cell.value or 0.0), cell.at))),
        )
        for number, cells in sorted(rows.items())
    ]


def steps(values: Iterable[float | None]) -> list[float]:
    """The figures from which each shade begins, from the second on: equal ratios between the smallest and the largest.
    [] where there is nothing but zeros."""
    known = [value for value in values if value]
    if not known:
        return []
    low, top = min(known), max(known)
    many = len(SHADES) - 1
    return [low * (top / low) ** (n / many) for n in range(many)]


def shade(value: float | None, steps: Sequence[float]) -> str:
    """The glyph of a figure."""
    if value is None:
        return " "
    if not value or not steps:
        return SHADES[0]
    return SHADES[max(sum(value >= one * (1 - 1e-9) for one in steps), 1)]
