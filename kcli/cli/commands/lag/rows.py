"""Standings as rows of the lag.watch shapes: what a snapshot's row has, and what time adds."""

from __future__ import annotations

from kcli.cli.commands.lag.measured import figures, partition_row
from kcli.cli.output.timestamps import utc
from kcli.lag.history import GroupStanding, topics_of
from kcli.lag.status import SEVERITY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.output.shapes.shape import Row
    from kcli.lag.partition_lag import Standing
    from kcli.lag.watch import Look

LEVELS = ("group", "topic", "partition")


def rows(look: Look, level: str) -> list[Row]:
    """The rows of one look at a level: groups worst first, partitions and topics in order."""
    when = stamp(look.time)
    if level == "partition":
        return [_partition(look, row, when) for group in look.groups for row in group.partitions]
    if level == "topic":
        return [_topic(topic, when) for group in look.groups for topic in topics_of(group)]
    worst = sorted(look.groups, key=lambda g: (-SEVERITY.index(g.status), -(g.total.lag or 0), g.total.group))
    return [_group(group, when) for group in worst]


def stamp(time: float) -> str:
    """Seconds since the epoch as ISO 8601, UTC, to the millisecond."""
    return utc(round(time * 1000))


def _partition(look: Look, standing: Standing, when: str) -> Row:
    sample = standing.lag.sample
    row = partition_row(standing.lag)
    why = look.why.get((sample.group, sample.topic, sample.partition))
    rewound = f"committed went back from {standing.rewound[0]} to {standing.rewound[1]}" if standing.rewound else None
    row["note"] = "; ".join(filter(None, (row["note"], why, rewound))) or None
    return {**row, **_over_time(standing), "time": when, "status": standing.status}


def _topic(group: GroupStanding, when: str) -> Row:
    total = group.total
    head = {"group": total.group, "topic": total.topic, "partitions": total.partitions}
    return {**head, **figures(total), **_over_time(group), "time": when, **_standing(group)}


def _group(group: GroupStanding, when: str) -> Row:
    total, described = group.total, group.described
    head = {
        "group": total.group,
        "type": described.type,
        "state": described.state or None,
        "topics": total.topics,
        "partitions": total.partitions,
        "coordinator": described.coordinator,
    }
    return {**head, **figures(total), **_over_time(group), "time": when, **_standing(group)}


def _standing(group: GroupStanding) -> Row:
    return {"status": group.status, "stuck_partitions": group.stuck}


def _over_time(row: Standing | GroupStanding) -> Row:
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
