"""Lag in Prometheus' text format 0.0.4, with the metric names of danielqsj/kafka_exporter, so that its dashboards work,
and kcli's own names for additional metrics. No I/O; the command serves the page."""

from __future__ import annotations

from kcli.admin.groups.rows import GroupMissing
from kcli.errors import BrokerError
from kcli.lag.figures import by_topic
from kcli.lag.history import GroupStanding
from kcli.lag.partition_lag import PartitionFigures
from kcli.lag.status import SEVERITY
from kcli.lag.watch import LagSnapshot
from kcli.metrics.server import Labels, Rows, page

HELP = {
    "kafka_consumergroup_lag": "Offsets behind: end minus committed.",
    "kafka_consumergroup_lag_sum": "Offsets behind, all partitions of a topic.",
    "kafka_consumergroup_current_offset": "Committed offset.",
    "kafka_consumergroup_members": "Members of the group.",
    "kafka_topic_partition_current_offset": "End offset.",
    "kafka_topic_partition_oldest_offset": "Log start offset.",
    "kcli_group_lag_seconds": "How long ago the first unread offset was written, the longest of the partitions.",
    "kcli_group_lag_seconds_at_least": "1 if the real lag in seconds may be larger, because it began before kcli "
    "watched.",
    "kcli_group_eta_seconds": "Seconds until the lag is worked off.",
    "kcli_group_in_rate": "Offsets written per second.",
    "kcli_group_out_rate": "Offsets committed per second.",
    "kcli_group_stuck_partitions": "Partitions of the group that are stuck.",
    "kcli_group_unknown_partitions": "Partitions of the group whose lag is unknown.",
    "kcli_group_status": "1 for the status the group is in.",
    "kcli_partition_lag_seconds": "How long ago the first unread offset was written.",
    "kcli_partition_status": "1 for the status the partition is in.",
    "kcli_lag_up": "1 if the last refresh succeeded; 0 if it failed, and there are no other metrics.",
    "kcli_lag_look_seconds": "Duration of the last refresh.",
    "kcli_lag_look_timestamp_seconds": "Time of the last successful refresh.",
    "kcli_lag_groups_unread": "Groups that could not be read at the last refresh.",
    "kcli_lag_brokers_unread": "Brokers that did not list their groups at the last refresh.",
}


def render(snapshot: LagSnapshot) -> str:
    """Return the last refresh as a page of metrics."""
    rows: dict[str, Rows] = {name: [] for name in HELP}
    ends: dict[Labels, tuple[int | None, int | None]] = {}
    for group in snapshot.groups:
        _group(rows, group)
        for partition in group.partitions:
            _partition(rows, partition)
            sample = partition.lag.sample
            ends[("topic", sample.topic), ("partition", sample.partition)] = (sample.end, sample.start)
    for labels, (end, start) in sorted(ends.items(), key=str):
        _put(rows, "kafka_topic_partition_current_offset", labels, end)
        _put(rows, "kafka_topic_partition_oldest_offset", labels, start)
    _put(rows, "kcli_lag_up", (), 1)
    _put(rows, "kcli_lag_look_seconds", (), snapshot.took)
    _put(rows, "kcli_lag_look_timestamp_seconds", (), snapshot.time)
    _put(rows, "kcli_lag_groups_unread", (), len(snapshot.failed))
    _put(rows, "kcli_lag_brokers_unread", (), len(snapshot.brokers))
    return page(rows, HELP)


def nothing(snapshot: LagSnapshot) -> bool:
    """Whether no broker reported any group, which is no more useful than a failed refresh."""
    silent = [error for error in snapshot.failed.values() if not isinstance(error, (GroupMissing, BrokerError))]
    return not snapshot.groups and bool(snapshot.brokers or silent)


def failed(since: float) -> str:
    """Return the page while refreshes fail, without the last figures, which would be taken for current ones. `since` is
    the time of the last successful refresh."""
    rows: dict[str, Rows] = {"kcli_lag_up": [((), 0)], "kcli_lag_look_timestamp_seconds": [((), since)]}
    return page(rows, HELP)


def _group(rows: dict[str, Rows], group: GroupStanding) -> None:
    labels: Labels = (("consumergroup", group.described.group),)
    _put(rows, "kafka_consumergroup_members", labels, len(group.described.members))
    for total in by_topic([partition.lag for partition in group.partitions]):
        lag = None if total.at_least else total.lag  # a partial sum would show as a dip in every graph
        _put(rows, "kafka_consumergroup_lag_sum", (*labels, ("topic", total.topic or "")), lag)
    _put(rows, "kcli_group_unknown_partitions", labels, group.total.unknown)
    _put(rows, "kcli_group_lag_seconds", labels, group.time_lag)
    _put(rows, "kcli_group_lag_seconds_at_least", labels, float(group.time_lag_least))
    _put(rows, "kcli_group_eta_seconds", labels, group.eta)
    _put(rows, "kcli_group_in_rate", labels, group.in_rate)
    _put(rows, "kcli_group_out_rate", labels, group.out_rate)
    _put(rows, "kcli_group_stuck_partitions", labels, group.stuck)
    for status in SEVERITY:
        _put(rows, "kcli_group_status", (*labels, ("status", status)), float(group.status == status))


def _partition(rows: dict[str, Rows], standing: PartitionFigures) -> None:
    sample = standing.lag.sample
    labels: Labels = (("consumergroup", sample.group), ("topic", sample.topic), ("partition", sample.partition))
    _put(rows, "kafka_consumergroup_lag", labels, standing.lag.lag)
    _put(rows, "kafka_consumergroup_current_offset", labels, sample.committed)
    _put(rows, "kcli_partition_lag_seconds", labels, standing.time_lag)
    _put(rows, "kcli_partition_status", (*labels, ("status", standing.status)), 1.0)


def _put(rows: dict[str, Rows], name: str, labels: Labels, value: float | None) -> None:
    """Add a figure unless it is unknown: 0 would be wrong."""
    if value is not None:
        rows[name].append((labels, value))
