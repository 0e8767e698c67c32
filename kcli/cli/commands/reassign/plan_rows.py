"""A plan as rows and a sentence."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from kcli.changes.moves import PartitionMove
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import Row, column
from kcli.cli.parsing.groups import QuietOptions
from kcli.cli.runtime.answer import plural, say
from kcli.cli.runtime.change import show
from kcli.grammar.units import bytes_text

if TYPE_CHECKING:
    from kcli.admin.reassign.reassignments import Assignment
    from kcli.changes.moves import Layout, MovePlan


class BrokerRow(Row, section="brokers"):
    broker: int = column("Id of the broker.", rank=1)
    rack: str | None = column("Its rack.", sparse=True, rank=3)
    replicas_before: int = column("Replicas on it before, of all topics.", unit="count")
    replicas_after: int = column("Replicas on it after.", unit="count")
    leads_before: int = column("Partitions with it as preferred leader before.", unit="count")
    leads_after: int = column("Partitions with it as preferred leader after.", unit="count")
    size_before: int = column("Bytes of its replicas before.", unit="bytes")
    size_after: int = column("Bytes of its replicas after.", unit="bytes")
    receives: int = column("Bytes that are copied to it.", unit="bytes")


class PartitionRow(Row, section="partitions"):
    topic: str = column("Name of the topic.", rank=1)
    partition: int = column("Number of the partition.", rank=1)
    old: list[int] = column("The replicas before, the preferred leader first.", rank=1, width=10)
    new: list[int] = column("The replicas after, the preferred leader first.", rank=1, width=10)
    adding: list[int] = column("Brokers that get a replica.", rank=3)
    removing: list[int] = column("Brokers that lose a replica.", rank=3)
    bytes: int = column("Bytes to be copied.", unit="bytes")
    result: str = column("planned, would move, moving, done, cancelled, failed or unknown.", unit="word", rank=1)
    error: str | None = column("Error of this row; null without one.", table=False, unit="sentence")


def present(document: Document, options: QuietOptions, plan: MovePlan) -> None:
    """Put a plan into the document, and say in a sentence what it comes to."""
    for broker, error in plan.layout.unmeasured.items():
        say(options, f"broker {broker} does not report the sizes of its replicas: {error}")
    show(document, (PartitionRow,), plan)
    document.of(BrokerRow)[:] = broker_rows(plan) if plan.wanted or plan.log_dirs else []
    _sum_up(options, plan)


def broker_rows(plan: MovePlan) -> list[BrokerRow]:
    """What becomes of each broker: all that it has in the cluster, before and after."""
    layout, changes = plan.layout, plan.changes
    replicas_before, leads_before, sizes_before = _counted(layout, layout.replicas)
    replicas_after, leads_after, sizes_after = _counted(layout, layout.replicas | changes)
    receives: Counter[int] = Counter()
    for at, brokers in changes.items():
        for node in brokers:
            if node not in layout.replicas[at]:
                receives[node] += layout.sizes.get(at, 0)
    return [
        BrokerRow(
            broker=node,
            rack=layout.racks.get(node),
            replicas_before=replicas_before[node],
            replicas_after=replicas_after[node],
            leads_before=leads_before[node],
            leads_after=leads_after[node],
            size_before=sizes_before[node],
            size_after=sizes_after[node],
            receives=receives[node],
        )
        for node in sorted(layout.racks.keys() | replicas_before.keys())
    ]


def _counted(layout: Layout, assignment: Assignment) -> tuple[Counter[int], Counter[int], Counter[int]]:
    """The replicas of each broker, the partitions of which it is the preferred leader, and the bytes."""
    replicas: Counter[int] = Counter()
    leads: Counter[int] = Counter()
    sizes: Counter[int] = Counter()
    for at, brokers in assignment.items():
        replicas.update(brokers)
        leads.update(brokers[:1])
        for node in brokers:
            sizes[node] += layout.sizes.get(at, 0)
    return replicas, leads, sizes


def _sum_up(options: QuietOptions, plan: MovePlan) -> None:
    if not plan.wanted and plan.failed:
        return  # unknown topics and partitions are reported
    rows = [row for row in plan.rows if isinstance(row, PartitionMove)]
    if not rows:
        where = "is where it" if len(plan.wanted) == 1 else "are where they"
        say(options, f"nothing to do: {plural(len(plan.wanted), 'partition')} {where} should be")
        return
    copied, size = sum(len(row.adding) for row in rows), sum(row.bytes for row in rows)
    say(
        options,
        f"{len(rows)} of {plural(len(plan.wanted), 'partition')} change; {plural(copied, 'replica')} "
        f"({bytes_text(size) if size < 1024 else f'{size / 2**20:.1f}MiB'}) to be copied",
    )
