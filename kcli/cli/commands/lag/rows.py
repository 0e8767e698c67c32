"""Standings as rows of the lag.watch shapes: what a snapshot's row has, and what time adds."""

from __future__ import annotations

from kcli.cli.commands.lag.measured import (
    FiguresColumns,
    GroupHead,
    PartitionColumns,
    TopicHead,
    group_row,
    partition_row,
    topic_row,
    unknown_column,
)
from kcli.cli.output.tables.rows import Row, column, duration, shape
from kcli.cli.output.timestamps import utc
from kcli.lag.history import GroupStanding, topics_of
from kcli.lag.status import SEVERITY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypedDict

    from kcli.cli.output.tables.document import Document
    from kcli.lag.partition_lag import PartitionFigures
    from kcli.lag.watch import LagSnapshot

    class OverTime(TypedDict):
        in_rate: float | None
        out_rate: float | None
        eta: float | None
        time_lag: float | None
        time_lag_kind: str | None
        falling: float | None
        loss_in: float | None
        peak: int


class OverTimeColumns(Row, mixin=True):
    """What time adds to the rows of a snapshot. Ids and counts of less use leave the table."""

    status: str = column(
        f"{', '.join(SEVERITY[:-1])} or {SEVERITY[-1]}.",
        unit="word",
        rank=1,
    )
    in_rate: float | None = column("Offsets written per second.", before="status", unit="rate")
    out_rate: float | None = column("Offsets committed per second.", before="status", unit="rate")
    eta: float | None = duration("Seconds until it has caught up; null if it will not, or if unknown.", before="status")
    time_lag: float | None = duration(
        "How long ago the first unread offset was written, in seconds.", before="status", rank=1
    )
    time_lag_kind: str | None = column("interpolated, exact, or at least.", table=False)
    falling: float | None = column("Offsets per second by which it falls further behind.", table=False, unit="rate")
    loss_in: float | None = duration("Seconds until retention deletes unread records.", sparse=True)
    peak: int = column("The largest lag seen.", table=False, unit="count")
    time: str = column("Time of the refresh, UTC.", table=False, before="group", unit="time")


class PartitionOverTimeRow(OverTimeColumns, PartitionColumns, section="partitions"):
    member_id: str | None = column("Id of the member that owns the partition.", table=False, rank=4)


class TopicOverTimeRow(OverTimeColumns, FiguresColumns, TopicHead, section="topics"):
    partitions: int = column("Partitions the group committed or owns.", table=False, unit="count")
    status_partitions: int = column(
        "Partitions that have this status.", table=False, before="stuck_partitions", unit="count"
    )
    stuck_partitions: int = column("Partitions that are stuck.", table=False, unit="count")
    unknown: int = unknown_column()


class CoordinatedHead(GroupHead, mixin=True):
    type: str | None = column(
        "classic, consumer (KIP-848), share or streams; null if the broker is too old to report it.",
        table=False,
        unit="word",
        rank=3,
    )
    topics: int = column("Topics the group committed or owns.", table=False, unit="count")
    partitions: int = column("Partitions the group committed or owns.", table=False, unit="count")
    coordinator: int = column("Id of the coordinating broker.", table=False, before="time_lag_kind", rank=3)


class GroupOverTimeRow(OverTimeColumns, FiguresColumns, CoordinatedHead, section="groups"):
    status_partitions: int = column(
        "Partitions that have this status.", table=False, before="stuck_partitions", unit="count"
    )
    stuck_partitions: int = column("Partitions that are stuck.", table=False, unit="count")
    unknown: int = unknown_column()


SHAPES = {
    "topic": shape("lag.watch.topic", "One refresh of a watch, by group and topic.", TopicOverTimeRow),
    "group": shape("lag.watch.group", "One refresh of a watch, by group.", GroupOverTimeRow),
    "partition": shape("lag.watch.partition", "One refresh of a watch, by partition.", PartitionOverTimeRow),
}
"""What is printed of a snapshot at a level."""


def fill(document: Document, snapshot: LagSnapshot, level: str) -> None:
    """Put the rows of one snapshot at a level into the document: groups worst first, partitions and topics in order."""
    when = stamp(snapshot.time)
    if level == "partition":
        document.of(PartitionOverTimeRow)[:] = [
            _partition(snapshot, row, when) for group in snapshot.groups for row in group.partitions
        ]
    elif level == "topic":
        document.of(TopicOverTimeRow)[:] = [
            _topic(topic, when) for group in snapshot.groups for topic in topics_of(group)
        ]
    else:
        worst = sorted(snapshot.groups, key=lambda g: (-SEVERITY.index(g.status), -(g.total.lag or 0), g.total.group))
        document.of(GroupOverTimeRow)[:] = [_group(group, when) for group in worst]


def stamp(time: float) -> str:
    """Seconds since the epoch as ISO 8601, UTC, to the millisecond."""
    return utc(round(time * 1000))


def _partition(snapshot: LagSnapshot, standing: PartitionFigures, when: str) -> PartitionOverTimeRow:
    sample = standing.lag.sample
    row = partition_row(standing.lag)
    why = snapshot.why.get((sample.group, sample.topic, sample.partition))
    rewound = f"committed went back from {standing.rewound[0]} to {standing.rewound[1]}" if standing.rewound else None
    row.note = "; ".join(filter(None, (row.note, why, rewound))) or None
    return row.widened(PartitionOverTimeRow, **_over_time(standing), time=when)


def _topic(group: GroupStanding, when: str) -> TopicOverTimeRow:
    row = topic_row(group.total)
    return row.widened(TopicOverTimeRow, **_over_time(group), time=when, stuck_partitions=group.stuck)


def _group(group: GroupStanding, when: str) -> GroupOverTimeRow:
    row = group_row(group.described, group.total)
    return row.widened(GroupOverTimeRow, **_over_time(group), time=when, stuck_partitions=group.stuck)


def _over_time(row: PartitionFigures | GroupStanding) -> OverTime:
    kind = "exact" if row.time_lag_exact else "at least" if row.time_lag_least else "interpolated"
    return {
        "in_rate": _rounded(row.in_rate),
        "out_rate": _rounded(row.out_rate),
        "eta": _rounded(row.eta),
        "time_lag": _rounded(row.time_lag),
        "time_lag_kind": kind if row.time_lag is not None else None,
        "falling": _rounded(row.falling),
        "loss_in": _rounded(row.loss_in),
        "peak": row.peak,
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
