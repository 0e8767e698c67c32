"""`kcli leaders elect`: elections with a plan."""

from __future__ import annotations

import asyncio

from kcli.admin.cluster.elections import elect_leaders, is_preferred, why_not_preferred
from kcli.admin.reassign.reassignments import about
from kcli.admin.topics.topics import Partition, Topic, describe_topics
from kcli.backoff import Backoff, repeat
from kcli.cli.commands.reassign.partitions_chosen import AllTopicsOptions, Chosen
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ChangeOptions, NamedTopics, PatternOptions, internal
from kcli.cli.parsing.option import flag
from kcli.cli.runtime.answer import plural, say
from kcli.cli.runtime.change import PlannedChange, make_change
from kcli.errors import KcliError
from kcli.model import Cluster, TopicPartition

PATIENCE = 5.0  # seconds until brokers have heard of a new leader
PAUSE = 0.05
Partitions = dict[TopicPartition, Partition]


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
    internal = internal()
    unclean = flag("--unclean", help="For leaderless partitions: elect any live replica. Loses records.")


@command(
    "leaders elect",
    help="Elect preferred leaders; or, unclean, any live replica.",
    words="TOPIC",
    examples="""
kcli leaders elect orders                            # the plan
kcli leaders elect orders:0,3 payments --execute
kcli leaders elect 'orders-*'
kcli leaders elect --all-topics --internal --execute
kcli leaders elect orders:3 --unclean --execute      # the last resort""",
)
def elect(options: ElectOptions) -> int:
    """Elect leaders: of each partition the first of its replicas, if that is in sync. The plan comes first; --execute
    applies it. A partition already led by its preferred replica is not an error.

    With --unclean: leaderless partitions get a live replica that is not in sync as leader, and RECORDS THAT ONLY THE
    OTHER REPLICAS HAVE ARE LOST. Try to bring those brokers back first.
    """
    some = Chosen(options.words, options.all_topics, internal=options.internal, literal=options.literal)
    unclean = options.unclean

    async def make_plan(cluster: Cluster, document: Document) -> PlannedChange | None:
        partitions = await some.find(cluster, document)
        needed = _needing(partitions, unclean)
        rows = {at: _planned(partition, at in needed, unclean) for at, partition in partitions.items()}
        document.of(ElectionRow)[:] = [row for at, row in rows.items() if at in needed or not some.everything]
        if not needed:
            if partitions or not document.errors:
                say(options, f"{plural(len(partitions), 'partition')}: no election is needed")
            return None
        if unclean:
            say(
                options,
                f"WARNING: an unclean election of {plural(len(needed), 'partition')} loses the records that only the "
                "missing replicas have, for good. If a broker can come back, let it.",
            )

        async def carry_out() -> int | None:
            done = await elect_leaders(cluster, needed, unclean=unclean)
            now = await _heard(cluster, {at: needed[at] for at, outcome in done.items() if outcome is True})
            for at, outcome in done.items():
                _settle(rows[at], at, outcome, now, document)
            say(options, f"{plural(sum(outcome is True for outcome in done.values()), 'leader')} elected")
            return None

        topics = sorted({at.topic for at in needed})
        phrase = topics[0] if len(topics) == 1 else f"elect {plural(len(needed), 'leader')}"
        return PlannedChange(
            names=topics if some.by_pattern else ["unclean" if unclean else phrase],
            noun="topic",
            by_pattern=some.by_pattern,
            carry_out=carry_out,
        )

    return make_change(options, SHAPE, make_plan)


def _needing(partitions: Partitions, unclean: bool) -> Partitions:
    """The partitions without a leader, or those that another replica leads than the preferred."""
    return {
        at: partition
        for at, partition in partitions.items()
        if (partition.leader < 0 if unclean else not is_preferred(partition))
    }


def _planned(partition: Partition, needed: bool, unclean: bool) -> ElectionRow:
    old = None if partition.leader < 0 else partition.leader
    new = old
    if needed and unclean:
        new = next((node for node in partition.replicas if node not in partition.offline), None)
    elif needed:
        new = partition.replicas[0] if partition.replicas else None
    return ElectionRow.of(
        partition,
        old=old,
        new=new,
        result="would elect" if needed else "not needed",
        note=(why_not_preferred(partition) or None) if needed and not unclean else None,
        error=None,
    )


def _settle(
    row: ElectionRow,
    at: TopicPartition,
    outcome: bool | KcliError,
    leaders: dict[TopicPartition, int],
    document: Document,
) -> None:
    """Put the outcome of an election into its row."""
    if isinstance(outcome, KcliError):
        row.result, row.new, row.error = "failed", row.old, str(outcome)
        document.fail(outcome, about(at))
    else:
        row.result, row.new = "elected" if outcome else "not needed", leaders.get(at, row.new)


async def _heard(cluster: Cluster, elected: Partitions) -> dict[TopicPartition, int]:
    """The leaders that a broker tells by now, if one does; it may hear of them a little later than the controller."""
    leaders: dict[TopicPartition, int] = {}

    async def heard() -> bool:
        nonlocal leaders
        try:
            topics = (await describe_topics(cluster, {at.topic for at in elected})).values()
        except KcliError:  # they are elected all the same, as the plan shows
            return True
        leaders = {
            at: partition.leader
            for topic in topics
            if isinstance(topic, Topic)
            for partition in topic.partitions
            if (at := TopicPartition(partition.topic, partition.partition)) in elected and partition.leader >= 0
        }
        return all(leaders.get(at, partition.leader) != partition.leader for at, partition in elected.items())

    if elected:
        await repeat(heard, Backoff(PAUSE, PAUSE), asyncio.get_running_loop().time() + PATIENCE)
    return leaders
