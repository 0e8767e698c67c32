"""Standings as rows of the lag.watch shapes: what a snapshot's row has, and what time adds."""

from __future__ import annotations

from kcli.cli.commands.lag.command import figures, partition_row
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
        return [_partition(look, one, when) for group in look.groups for one in group.partitions]
    if level == "topic":
        return [_topic(topic, when) for group in look.groups for topic in topics_of(group)]
    worst = sorted(look.groups, key=lambda g: (-SEVERITY.index(g.status), -(g.total.lag or 0), g.total.group))
    return [_group(group, when) for group in worst]


def stamp(time: float) -> str:
    """Seconds since the epoch as ISO 8601, UTC, to the millisecond."""
    return utc(round(time * 1000))


def _partition(look: Look, one: Standing, when: str) -> Row:
    sample = one.lag.sample
    row = partition_row(one.lag)
    why = look.why.get((sample.group, sample.topic, sample.partition))
    rewound = f"committed went back from {one.rewound[0]} to {one.rewound[1]}" if one.rewound else None
    row["note"] = "; ".join(filter(None, (row["note"], why, rewound))) or None
    return {**row, **_over_time(one), "time": when, "status": one.status}


def _topic(one: GroupStanding, when: str) -> Row:
    total = one.total
    head = {"group": total.group, "topic": total.topic, "partitions": total.partitions}
    return {**head, **figures(total), **_over_time(one), "time": when, **_standing(one)}


def _group(one: GroupStanding, when: str) -> Row:
    total, described = one.total, one.described
    head = {
        "group": total.group,
        "type": described.type,
        "state": described.state or None,
        "topics": total.topics,
        "partitions": total.partitions,
        "coordinator": described.coordinator,
    }
    return {**head, **figures(total), **_over_time(one), "time": when, **_standing(one)}


def _standing(one: GroupStanding) -> Row:
    return {"status": one.status, "stuck_partitions": one.stuck}


def _over_time(one: Standing | GroupStanding) -> Row:
    kind = "exact" if one.time_lag_exact else "at least" if one.time_lag_least else "interpolated"
    return {
        "in_rate": _rounded(one.in_rate),
        "out_rate": _rounded(one.out_rate),
        "eta": _rounded(one.eta),
        "time_lag": _rounded(one.time_lag),
        "time_lag_kind": kind if one.time_lag is not None else None,
        "falling": _rounded(one.falling),
        "loss_in": _rounded(one.loss_in),
        "peak": one.peak,
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
