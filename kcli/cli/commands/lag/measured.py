"""One snapshot measured: each group with its partitions and their sum, and the rows of these."""

from __future__ import annotations

from kcli.admin.groups.groups import group_names, progress_of
from kcli.admin.groups.rows import GroupMissing
from kcli.cli.output.tables.rows import Row, column
from kcli.cli.runtime.answer import fail_all, unlisted
from kcli.errors import KcliError
from kcli.lag import figures as engine
from kcli.lag.record_times import mark_drained
from kcli.lag.snapshot import GroupSnapshot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypedDict

    from kcli.admin.groups.rows import Described
    from kcli.cli.output.tables.document import Document
    from kcli.lag.snapshot import Snapshot
    from kcli.model import Cluster

    class Figures(TypedDict):
        lag: int | None
        status: str
        members: int
        hosts: list[str]
        note: str | None
        unread: int | None
        lost: int
        beyond: int
        records: int | None
        no_commit: int
        unknown: int
        status_partitions: int


ONCE = "OK, UNKNOWN, NO COMMIT, BEHIND, TXN-BLOCKED, PAST END, ORPHANED or LOSING DATA."
"""The statuses that a single refresh can show."""

Measured = tuple[GroupSnapshot, list[engine.Lag], engine.Total]


def unknown_column() -> Any:
    """How many partitions a sum of lag leaves out; the last column of its row."""
    return column("Partitions whose lag is unknown; lag is then the sum of the others.", table=False, unit="count")


class PartitionColumns(Row, mixin=True):
    group: str = column("Name of the group.", rank=1)
    topic: str = column("Name of the topic.", rank=1)
    partition: int = column("Number of the partition.", rank=1)
    committed: int | None = column("Committed offset; null when nothing is committed.")
    end: int | None = column("End offset (high watermark, or last stable offset by isolation).")
    lag: int | None = column("Offsets behind: end minus committed; null without a commit.", unit="count", rank=1)
    status: str = column(ONCE, unit="word", rank=1)
    member_id: str | None = column("Id of the member that owns the partition.", rank=4)
    host: str | None = column("Where that member runs.", rank=4)
    note: str | None = column("Note about the row; null without one.", unit="sentence", rank=3)
    client_id: str | None = column("Client id of that member.", table=False, before="host", rank=3)
    start: int | None = column("Log start offset.", table=False)
    unread: int | None = column("Offsets since the log start, if nothing is committed.", table=False, unit="count")
    lost: int = column("Offsets that retention deleted before they were read.", table=False, unit="count")
    beyond: int = column(
        "How far the committed offset is past the end; 0 unless the topic was recreated.", table=False, unit="count"
    )
    records: int | None = column(
        "Records behind, counted by reading them (--records); else null.",
        sparse=True,
        before="status",
        unit="count",
    )
    error: str | None = column("Error of this row; null without one.", table=False, unit="sentence")


class PartitionRow(PartitionColumns, section="partitions"):
    """A partition of a group."""


class FiguresColumns(Row, mixin=True):
    """The columns of sums of partitions."""

    lag: int | None = column("Offsets behind: end minus committed; null without a commit.", unit="count", rank=1)
    status: str = column(ONCE, unit="word", rank=1)
    members: int = column("Members that own a partition counted here.", unit="count")
    hosts: list[str] = column("Where those members run.", rank=4)
    note: str | None = column("Note about the row; null without one.", unit="sentence", rank=3)
    unread: int | None = column("Offsets since the log start, if nothing is committed.", table=False, unit="count")
    lost: int = column("Offsets that retention deleted before they were read.", table=False, unit="count")
    beyond: int = column(
        "How far the committed offset is past the end; 0 unless the topic was recreated.", table=False, unit="count"
    )
    records: int | None = column(
        "Records behind, counted by reading them (--records); else null.",
        sparse=True,
        before="status",
        unit="count",
    )
    no_commit: int = column("Partitions with records and without a commit.", table=False, unit="count")
    status_partitions: int = column("Partitions that have this status.", table=False, unit="count")


class TopicHead(Row, mixin=True):
    group: str = column("Name of the group.", rank=1)
    topic: str = column("Name of the topic.", rank=1)
    partitions: int = column("Partitions the group committed or owns.", unit="count")


class GroupHead(Row, mixin=True):
    group: str = column("Name of the group.", rank=1)
    type: str | None = column(
        "classic, consumer (KIP-848), share or streams; null if the broker is too old to report it.",
        unit="word",
        rank=3,
    )
    state: str | None = column("State of the group; null if the broker is too old to report it.", unit="word", rank=3)
    topics: int = column("Topics the group committed or owns.", unit="count")
    partitions: int = column("Partitions the group committed or owns.", unit="count")


class LagTopicRow(FiguresColumns, TopicHead, section="topics"):
    """A topic of a group."""

    unknown: int = unknown_column()


class GroupRow(FiguresColumns, GroupHead, section="groups"):
    coordinator: int = column("Id of the coordinating broker.", table=False, before="status_partitions", rank=3)
    unknown: int = unknown_column()


class GroupBesideRow(GroupRow, section="groups", table=False):
    """A group beside its topics or partitions, which are what is drawn."""


async def measured_all(cluster: Cluster, snapshot: Snapshot, threshold: int = 0) -> list[Measured]:
    """Every group of a snapshot. Reads a little where only transaction markers may be left: such a group is done."""
    await mark_drained(cluster, (sample for group in snapshot.groups for sample in group.samples))
    return [measure(group, threshold) for group in snapshot.groups]


def measure(group: GroupSnapshot, threshold: int = 0) -> Measured:
    """A group's partitions and their sum; all its members count there, also those that own nothing."""
    rows = [engine.measure(sample, threshold) for sample in group.samples]
    total = engine.total(rows, group.described.group)
    total.members = len(group.described.members)
    total.hosts = sorted({member.host for member in group.described.members})
    return group, rows, total


async def problems(cluster: Cluster, snapshot: Snapshot, document: Document) -> None:
    """Put what could not be read into the document, as errors."""
    await fail_all(document, snapshot.failed, GroupMissing, lambda: group_names(cluster))
    if snapshot.brokers:
        await unlisted(cluster, document, snapshot.brokers)
    seen: set[str] = set()
    for group in snapshot.groups:
        for sample in group.samples:
            if sample.error and sample.error not in seen:
                seen.add(sample.error)
                document.fail(KcliError(sample.error), f"{sample.topic} [{sample.partition}]")


def partition_row(row: engine.Lag) -> PartitionRow:
    sample = row.sample
    return PartitionRow(
        group=sample.group,
        topic=sample.topic,
        partition=sample.partition,
        committed=sample.committed,
        end=sample.end,
        lag=row.lag,
        status=row.status,
        member_id=sample.member_id,
        host=sample.host,
        note=engine.note(row.lost, row.beyond, row.unread, sample.error),
        client_id=sample.client_id,
        start=sample.start,
        unread=row.unread,
        lost=row.lost,
        beyond=row.beyond,
        records=None,
        error=sample.error,
    )


def topic_row(total: engine.Total) -> LagTopicRow:
    return LagTopicRow(
        group=total.group,
        topic=total.topic or "",
        partitions=total.partitions,
        **_figures(total),
    )


def group_row(group: Described, total: engine.Total) -> GroupRow:
    return GroupRow(
        group=total.group,
        type=group.type,
        state=group.state or None,
        topics=total.topics,
        partitions=total.partitions,
        **_figures(total),
        coordinator=group.coordinator,
    )


def _figures(total: engine.Total) -> Figures:
    command = progress_of(total.group)
    notes = [f"progress of kcli {command}" if command else None]
    notes += [engine.note(total.lost, total.beyond, total.unread)]
    notes += ["nothing committed"] if not total.partitions else []
    notes += [f"{total.unreadable} could not be read"] if total.unreadable else []
    return {
        "lag": total.lag,
        "status": total.status,
        "members": total.members,
        "hosts": total.hosts,
        "note": "; ".join(filter(None, notes)) or None,
        "unread": total.unread if total.no_commit else None,
        "lost": total.lost,
        "beyond": total.beyond,
        "records": None,
        "no_commit": total.no_commit,
        "unknown": total.unknown,
        "status_partitions": total.alike,
    }
