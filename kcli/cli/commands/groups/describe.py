"""`kcli groups describe`."""

from __future__ import annotations

from kcli.admin.groups.groups import who
from kcli.cli.commands.groups.members import MemberRow, member_row
from kcli.cli.commands.lag.measured import ONCE, PartitionRow, measured_all, partition_row, problems, unknown_column
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import EveryGroup, NamedGroups, PatternOptions, ReadOptions
from kcli.cli.runtime.answer import answer, plural, say, words_of
from kcli.cli.runtime.names import names_of
from kcli.lag.snapshot import take

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Annotated, Literal

    import typer

    from kcli.admin.groups.rows import Described
    from kcli.cli.output.tables.document import Document
    from kcli.cli.parsing.shared import LagIsolation
    from kcli.model import Cluster


class GroupRow(Row, section="groups"):
    group: str = column("Name of the group.", rank=1)
    type: str | None = column(
        "classic, consumer (KIP-848), share or streams; null if the broker is too old to report it.", unit="word"
    )
    state: str | None = column("State of the group; null if the broker is too old to report it.", unit="word", rank=1)
    assignor: str | None = column("How partitions are assigned.", rank=3)
    coordinator: int = column("Id of the coordinating broker.", rank=3)
    epoch: int | None = column("Group epoch (KIP-848).", table=False, rank=3)
    members: int = column("Members.", unit="count")
    lag: int | None = column("Offsets behind: end minus committed; null without a commit.", unit="count", rank=1)
    status: str = column(ONCE, unit="word", rank=1)
    internal_topics: list[str] | None = column(
        "Changelogs and repartition topics of a streams group; null for other groups.", table=False
    )
    unknown: int = unknown_column()


class MemberBesideRow(MemberRow, table=False):
    """A member beside the partitions, which are what is drawn."""


SHAPE = shape(
    "groups.describe",
    "Partitions of groups with lag and owner, the groups, and their members.",
    GroupRow,
    PartitionRow,
    MemberBesideRow,
)


class DescribeOptions(NamedGroups, EveryGroup, PatternOptions, ReadOptions):
    moved = (("-p", "--by partition"),)
    by: Annotated[
        Literal["group", "partition"] | None,
        typer.Option("--by", help="partition: groups and their partitions (default); group: groups only."),
    ] = None
    isolation: LagIsolation = None


@command(
    "groups describe",
    help="Partitions, lag and owners of groups.",
    words="GROUP",
    examples="""
kcli groups describe billing
kcli groups describe '^billing-[0-9]' --by group
kcli groups describe billing -J | jq .members""",
)
def describe(options: DescribeOptions) -> int:
    """Print groups and each of their partitions with committed offset, end offset, lag, member and host."""
    groups = names_of(options, words_of(options, "GROUP"))

    async def work(cluster: Cluster, document: Document) -> None:
        snapshot = await take(cluster, groups, isolation=options.isolation or "read_uncommitted", stable=True)
        await problems(cluster, snapshot, document)
        measured = await measured_all(cluster, snapshot)
        document.of(GroupRow)[:] = [
            GroupRow.of(
                total,
                type=group.described.type,
                state=group.described.state or None,
                assignor=group.described.assignor or None,
                coordinator=group.described.coordinator,
                epoch=group.described.epoch,
                internal_topics=group.described.internal_topics if group.described.type == "streams" else None,
            )
            for group, _, total in measured
        ]
        if options.by != "group":
            document.of(PartitionRow)[:] = [partition_row(row) for _, rows, _ in measured for row in rows]
        described = [group.described for group, _, _ in measured]
        document.of(MemberRow)[:] = [member_row(group.group, member) for group in described for member in group.members]
        for group in described:
            _say_idle(options, group)

    return answer(options, SHAPE, work)


def _say_idle(options: DescribeOptions, group: Described) -> None:
    """Name the members that own no partition."""
    idle = [who(member) for member in group.members if not member.assignment]
    if idle and group.owners_known:
        say(options, f"{group.group}: {plural(len(idle), 'member')} without a partition: {', '.join(idle)}")
