"""`kcli leaders list`: partitions that another replica should lead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.cluster.elections import is_preferred, why_not_preferred
from kcli.cli.commands.reassign.partitions_chosen import Chosen
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ReadOptions
from kcli.cli.runtime.answer import answer, plural, say
from kcli.model import Cluster

if TYPE_CHECKING:
    from kcli.cli.parsing.shared import Internal


class LeaderRow(Row, section="partitions"):
    topic: str = column("Name of the topic.", rank=1)
    partition: int = column("Number of the partition.", rank=1)
    leader: int | None = column("The leading broker; null if leaderless.")
    preferred: int | None = column("The preferred leader: the first replica.")
    replicas: list[int] = column("Brokers with a replica.")
    isr: list[int] = column("Brokers whose replica is in sync.")
    note: str | None = column("Note about the row; null without one.", unit="sentence")


SHAPE = shape("leaders.list", "Partitions not led by their preferred replica, one per row.", LeaderRow)


class ListOptions(ReadOptions):
    internal: Internal = False


@command(
    "leaders list",
    help="List partitions not led by their preferred replica.",
    examples="""
kcli leaders
kcli leaders list --internal -J | jq '.partitions[] | select(.leader == null)'""",
)
def show(options: ListOptions) -> int:
    """Print the partitions not led by their preferred replica (the first in the list of replicas), and those without a
    leader.
    """
    everything = Chosen([], everything=True, internal=options.internal)

    async def work(cluster: Cluster, document: Document) -> None:
        partitions = await everything.find(cluster, document)
        rows = document.of(LeaderRow)
        rows += [
            LeaderRow(
                topic=at.topic,
                partition=at.partition,
                leader=None if partition.leader < 0 else partition.leader,
                preferred=partition.replicas[0] if partition.replicas else None,
                replicas=partition.replicas,
                isr=partition.isr,
                note=why_not_preferred(partition) or None,
            )
            for at, partition in partitions.items()
            if not is_preferred(partition)
        ]
        if not rows:
            say(options, f"{plural(len(partitions), 'partition')}: all are led by their preferred replica")

    return answer(options, SHAPE, work)
