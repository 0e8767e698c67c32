"""`kcli leaders elect`: elections with a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.changes import elections
from kcli.cli.commands.reassign.partitions_chosen import AllTopicsOptions, Chosen
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ChangeOptions, NamedTopics, PatternOptions
from kcli.cli.runtime.answer import plural
from kcli.cli.runtime.change import apply_plan

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Annotated

    import typer

    from kcli.changes import change
    from kcli.changes.change import Plan
    from kcli.cli.parsing.shared import Internal
    from kcli.model import Cluster


class ElectionRow(Row, section="partitions"):
    topic: str = column("Name of the topic.", rank=1)
    partition: int = column("Number of the partition.", rank=1)
    old: int | None = column("The previous leader; null if there was none.", rank=1)
    new: int | None = column("The new leader; null if no replica can lead.", rank=1)
    replicas: list[int] = column("Brokers with a replica.")
    isr: list[int] = column("Brokers whose replica was in sync before.")
    result: str = column("would elect, not needed, elected or failed.", unit="word", rank=1)
    note: str | None = column("Note about the row; null without one.", sparse=True, unit="sentence")
    error: str | None = column("Error of this row; null without one.", table=False, unit="sentence")


SHAPE = shape("leaders.elect", "Leaders, elected or planned.", ElectionRow)


class ElectOptions(NamedTopics, PatternOptions, AllTopicsOptions, ChangeOptions):
    internal: Internal = False
    unclean: Annotated[
        bool, typer.Option("--unclean", help="For leaderless partitions: elect any live replica. Loses records.")
    ] = False


@command(
    "leaders elect",
    help="Elect preferred leaders, or any live replica (unclean).",
    words="TOPIC",
    examples="""
kcli leaders elect orders                            # the plan
kcli leaders elect orders:0,3 payments --execute
kcli leaders elect 'orders-*'
kcli leaders elect --all-topics --internal --execute
kcli leaders elect orders:3 --unclean --execute      # the last resort""",
)
def elect(options: ElectOptions) -> int:
    """Elect the preferred leader of each partition: its first replica, if that is in sync. The plan comes first;
    --execute applies it. A partition already led by its preferred replica is not an error.

    With --unclean: leaderless partitions get a live replica that is not in sync as leader, and RECORDS THAT ONLY THE
    OTHER REPLICAS HAVE ARE LOST. Try to bring those brokers back first.
    """
    some = Chosen(options.words, options.all_topics, internal=options.internal, literal=options.literal)
    unclean = options.unclean

    async def planned(cluster: Cluster) -> Plan:
        partitions, failed = await some.partitions(cluster)
        made = elections.plan(partitions, unclean=unclean, needed_only=some.everything)
        made.failed = failed
        return made

    def names(rows: Sequence[change.Row]) -> list[str]:
        needed = [row.name for row in rows if row.is_open]
        topics = sorted(set(needed))
        if some.by_pattern:
            return topics
        return ["unclean"] if unclean else topics if len(topics) == 1 else [f"elect {plural(len(needed), 'leader')}"]

    return apply_plan(
        options,
        SHAPE,
        ElectionRow,
        planned,
        names=names,
        noun="topic",
        by_pattern=some.by_pattern,
        nothing="no election is needed",
        done=lambda rows: f"{plural(sum(row.result == 'elected' for row in rows), 'leader')} elected",
    )
