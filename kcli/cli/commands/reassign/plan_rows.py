"""A plan as rows, a sentence and a warning."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from kcli.admin.configs.topics import MIN_ISR, min_isr
from kcli.cli.commands.reassign.planning import Plan
from kcli.cli.output.tables.rows import Row, column
from kcli.cli.parsing.groups import QuietOptions
from kcli.cli.runtime.answer import plural, say
from kcli.errors import KcliError
from kcli.grammar.units import bytes_text
from kcli.model import Cluster, TopicPartition

if TYPE_CHECKING:
    from kcli.admin.reassign.reassignments import Assignment

    Rows = dict[TopicPartition, "PartitionRow"]


class BrokerRow(Row, section="brokers"):
    broker: int = column("Id of the broker.", rank=1)
    rack: str | None = column("Its rack.", sparse=True, rank=3)
    replicas_before: int = column("Replicas at it before, of all topics.", unit="count")
    replicas_after: int = column("Replicas at it after.", unit="count")
    leads_before: int = column("Partitions it is the preferred leader of before.", unit="count")
    leads_after: int = column("Partitions it is the preferred leader of after.", unit="count")
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
    result: str = column("planned, would move, moving, done, cancelled or failed.", unit="word", rank=1)
    error: str | None = column("Error of this row; null without one.", table=False, unit="sentence")


def partition_rows(plan: Plan, result: str) -> Rows:
    """A row for each partition that changes."""
    rows: Rows = {}
    for at, brokers in sorted(plan.changes().items()):
        old = plan.everything[at]
        adding = [node for node in brokers if node not in old]
        rows[at] = PartitionRow(
            topic=at.topic,
            partition=at.partition,
            old=old,
            new=brokers,
            adding=adding,
            removing=[node for node in old if node not in brokers],
            bytes=plan.sizes.get(at, 0) * len(adding),
            result=result,
            error=None,
        )
    return rows


def broker_rows(plan: Plan) -> list[BrokerRow]:
    """What becomes of each broker: all that it has in the cluster, before and after."""
    replicas_before, leads_before, sizes_before = _counted(plan, plan.everything)
    replicas_after, leads_after, sizes_after = _counted(plan, plan.everything | plan.changes())
    receives: Counter[int] = Counter()
    for at, brokers in plan.changes().items():
        for node in brokers:
            if node not in plan.everything[at]:
                receives[node] += plan.sizes.get(at, 0)
    return [
        BrokerRow(
            broker=node,
            rack=plan.racks.get(node),
            replicas_before=replicas_before[node],
            replicas_after=replicas_after[node],
            leads_before=leads_before[node],
            leads_after=leads_after[node],
            size_before=sizes_before[node],
            size_after=sizes_after[node],
            receives=receives[node],
        )
        for node in sorted(plan.racks.keys() | replicas_before.keys())
    ]


def _counted(plan: Plan, assignment: Assignment) -> tuple[Counter[int], Counter[int], Counter[int]]:
    """The replicas of each broker, the partitions of which it is the preferred leader, and the bytes."""
    replicas: Counter[int] = Counter()
    leads: Counter[int] = Counter()
    sizes: Counter[int] = Counter()
    for at, brokers in assignment.items():
        replicas.update(brokers)
        leads.update(brokers[:1])
        for node in brokers:
            sizes[node] += plan.sizes.get(at, 0)
    return replicas, leads, sizes


def sum_up(options: QuietOptions, plan: Plan, rows: Rows, *, failed: bool) -> None:
    """The plan in a sentence."""
    if not plan.wanted and failed:
        return  # unknown topics and partitions are reported
    if not rows:
        where = "is where it" if len(plan.wanted) == 1 else "are where they"
        say(options, f"nothing to do: {plural(len(plan.wanted), 'partition')} {where} should be")
        return
    copied, size = sum(len(row.adding) for row in rows.values()), sum(row.bytes for row in rows.values())
    say(
        options,
        f"{len(rows)} of {plural(len(plan.wanted), 'partition')} change; {plural(copied, 'replica')} "
        f"({bytes_text(size) if size < 1024 else f'{size / 2**20:.1f}MiB'}) to be copied",
    )


async def warn_of_few_replicas(cluster: Cluster, options: QuietOptions, plan: Plan) -> None:
    """Say which topics will have fewer replicas than a write with acks=all needs, and where that is not known."""
    least: dict[str, int] = {}
    for at, brokers in plan.changes().items():
        if len(brokers) < len(plan.everything[at]):
            least[at.topic] = min(len(brokers), least.get(at.topic, len(brokers)))
    if not least:
        return
    for topic, needed in (await min_isr(cluster, least)).items():
        replicas = plural(least[topic], "replica")
        if isinstance(needed, KcliError):
            say(options, f"WARNING: {topic} will have {replicas}, and {MIN_ISR} is not known: {needed}")
        elif needed > least[topic]:
            say(
                options,
                f"WARNING: {topic} will have {replicas} and {MIN_ISR}={needed}: "
                "no producer can write to it with acks=all",
            )
