"""One snapshot measured: each group with its partitions and their sum, and the rows of these."""

from __future__ import annotations

from kcli.admin.groups.groups import group_names, progress_of
from kcli.admin.groups.rows import GroupMissing
from kcli.cli.runtime.answer import fail_all, unlisted
from kcli.errors import KcliError
from kcli.lag import figures as engine
from kcli.lag.snapshot import GroupSnapshot
from kcli.lag.status import NO_COMMIT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.output.render import Document
    from kcli.cli.output.shapes.shape import Row
    from kcli.lag.snapshot import Snapshot
    from kcli.model import Cluster

Measured = tuple[GroupSnapshot, list[engine.Lag], engine.Total]


def measure(group: GroupSnapshot, threshold: int = 0) -> Measured:
    """A group's partitions and their sum; all its members count there, also those that own nothing."""
    rows = [engine.measure(sample, threshold) for sample in group.samples]
    total = engine.total(rows, group.described.group)
    if not rows:
        total.status = NO_COMMIT
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


def partition_row(row: engine.Lag) -> Row:
    sample = row.sample
    return {
        "group": sample.group,
        "topic": sample.topic,
        "partition": sample.partition,
        "committed": sample.committed,
        "end": sample.end,
        "lag": row.lag,
        "status": row.status,
        "member_id": sample.member_id,
        "host": sample.host,
        "note": engine.note(row.lost, row.beyond, row.unread, sample.error),
        "client_id": sample.client_id,
        "start": sample.start,
        "unread": row.unread,
        "lost": row.lost,
        "beyond": row.beyond,
        "records": None,
        "error": sample.error,
    }


def topic_row(total: engine.Total) -> Row:
    return {
        "group": total.group,
        "topic": total.topic,
        "partitions": total.partitions,
        **figures(total),
    }


def group_row(group: GroupSnapshot, total: engine.Total) -> Row:
    return {
        "group": total.group,
        "type": group.described.type,
        "state": group.described.state or None,
        "topics": total.topics,
        "partitions": total.partitions,
        **figures(total),
        "coordinator": group.described.coordinator,
    }


def figures(total: engine.Total) -> Row:
    command = progress_of(total.group)
    notes = [f"progress of kcli {command}" if command else None]
    notes += [engine.note(total.lost, total.beyond, total.unread)]
    notes += ["nothing committed"] if not total.partitions else []
    notes += [f"{total.no_commit} without a commit"] if total.no_commit else []
    notes += [f"{total.unknown} could not be read"] if total.unknown else []
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
        "status_partitions": total.alike,
    }
