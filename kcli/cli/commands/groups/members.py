"""`kcli groups members`, and the row of a member."""

from __future__ import annotations

from kcli.admin.groups.groups import find_groups, group_names
from kcli.admin.groups.rows import GroupMissing
from kcli.asking.coordinators import Coordinators
from kcli.asking.fan_out import bad, good
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import EveryGroup, NamedGroups, PatternOptions, ReadOptions
from kcli.cli.runtime.answer import answer, fail_all, say, words_of
from kcli.cli.runtime.names import group_names_of, names_of
from kcli.errors import KcliError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.admin.groups.rows import Described, Member
    from kcli.cli.output.tables.document import Document
    from kcli.model import Cluster


class MemberRow(Row, section="members"):
    group: str = column("Name of the group.", rank=1)
    member_id: str = column("Member id.", rank=1, width=20)
    instance_id: str | None = column("Static member id (group.instance.id).", sparse=True, rank=3)
    client_id: str = column("Client id.", rank=3)
    host: str = column("Where the member runs.", rank=3)
    partitions: int = column("Partitions it owns.", unit="count")
    assignment: list[str] = column("Those partitions, as topic:partition.")
    epoch: int | None = column(
        "Member epoch (KIP-848); null for classic members.", table=False, before="partitions", rank=3
    )
    rack: str | None = column("Rack.", table=False, before="partitions", rank=3)
    subscribed: list[str] = column("Topics (or the pattern) it subscribed to.", table=False)
    tasks: list[str] | None = column("Tasks of a streams member: 0_3, 0_3 standby, 0_3 warm-up.", sparse=True)


SHAPE = shape("groups.members", "Members of groups and what they own.", MemberRow)


class MembersOptions(NamedGroups, EveryGroup, PatternOptions, ReadOptions):
    """Names as arguments, or by the option."""


@command(
    "groups members",
    help="Members of groups and what they own.",
    words="GROUP",
    examples="""
kcli groups members billing""",
)
def members(options: MembersOptions) -> int:
    """Print the members of groups, where they run and what they own."""
    groups = names_of(options, words_of(options, "GROUP"))

    async def work(cluster: Cluster, document: Document) -> None:
        described = await _described(cluster, await group_names_of(cluster, groups), document)
        document.of(MemberRow)[:] = [member_row(group.group, member) for group in described for member in group.members]
        for group in described:
            if not group.members and not group.owners_known and group.type in ("share", "streams"):
                unknown = f"{group.group}: this broker lists its {group.type} groups but not their members"
                document.fail(KcliError(unknown), group.group)
            elif not group.members:
                say(options, f"{group.group}: no members ({group.state})")

    return answer(options, SHAPE, work)


async def _described(cluster: Cluster, groups: list[str], document: Document) -> list[Described]:
    """The groups that exist; the others are errors of the document."""
    answers, _ = await find_groups(Coordinators(cluster), groups)
    await fail_all(document, bad(answers), GroupMissing, lambda: group_names(cluster))
    return list(good(answers).values())


def member_row(group: str, member: Member) -> MemberRow:
    return MemberRow.of(
        member,
        group=group,
        partitions=len(member.assignment),
        assignment=[f"{at.topic}:{at.partition}" for at in member.assignment],
        subscribed=member.topics or ([member.regex] if member.regex else []),
        tasks=member.tasks or None,
    )
