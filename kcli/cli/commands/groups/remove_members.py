"""`kcli groups remove-members`: members that are gone and did not leave."""

from __future__ import annotations

from kcli.admin.groups.groups import find_groups, group_names
from kcli.admin.groups.members import MemberMissing, refusal_to_remove, remove_members
from kcli.admin.groups.rows import GroupMissing
from kcli.asking.coordinators import Coordinators
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ChangeOptions, NamedGroups
from kcli.cli.parsing.option import flag, texts
from kcli.cli.runtime.answer import missing, say, words_of
from kcli.cli.runtime.change import PlannedChange, make_change
from kcli.errors import KcliError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.admin.groups.rows import Described, Member
    from kcli.cli.output.tables.document import Document
    from kcli.model import Cluster


class RemovedRow(Row, section="members"):
    group: str = column("Name of the group.", rank=1)
    member_id: str = column("Member id.", rank=1, width=20)
    instance_id: str | None = column("Static member id (group.instance.id).", sparse=True, rank=2)
    client_id: str | None = column("Client id.", rank=3)
    host: str | None = column("Where the member runs.", rank=3)
    partitions: int | None = column("Partitions it owns.", unit="count")
    result: str = column("would remove, removed or failed.", unit="word", rank=1)
    error: str | None = column("Error of this row; null without one.", table=False, unit="sentence")


SHAPE = shape("groups.remove-members", "Members that were removed, or would be.", RemovedRow)


class RemoveMembersOptions(NamedGroups, ChangeOptions):
    members = texts("--member", metavar="MEMBER", help="A member id, or a static member's instance id. Repeatable.")
    all = flag("--all", help="All members.")


@command(
    "groups remove-members",
    help="Remove members from a group.",
    words="GROUP",
    examples="""
kcli groups remove-members billing --member billing-7 --dry-run    # the plan
kcli groups remove-members billing --member billing-7 --execute
kcli groups remove-members billing --all --execute""",
)
def remove(options: RemoveMembersOptions) -> int:
    """Remove members from a group: those that are gone and whose partitions would wait until their session times out,
    as static members' do. A member that still runs joins again. Kafka removes members of classic and consumer groups
    only: there is no request for those of share and streams groups.
    """
    groups = words_of(options, "GROUP")
    if len(groups) > 1:
        raise UsageError(f"one group at a time: {', '.join(groups)}")
    if bool(options.members) == options.all:
        raise UsageError("name members with --member MEMBER, or all of them with --all")

    async def make_plan(cluster: Cluster, document: Document) -> PlannedChange | None:
        coordinators = Coordinators(cluster)
        found = (await find_groups(coordinators, groups))[0][groups[0]]
        if isinstance(found, GroupMissing):
            missing(document, groups[0], found, await group_names(cluster))
            return None
        problem = found if isinstance(found, KcliError) else refusal_to_remove(found)
        if problem is not None:
            document.fail(problem, groups[0])
        if problem is not None or isinstance(found, KcliError):
            return None
        members = _plan(found, options, document)
        if not members:
            return None

        async def carry_out() -> int | None:
            outcomes = await remove_members(coordinators, found.group, members)
            for row in document.of(RemovedRow):
                outcome = outcomes.get(row.member_id)
                if outcome is True:
                    row.result = "removed"
                elif isinstance(outcome, KcliError):
                    _failed(row, outcome, document)
            return None

        return PlannedChange(
            names=[member.instance_id or member.member_id for member in members],
            verb="remove",
            noun="member",
            carry_out=carry_out,
        )

    return make_change(options, SHAPE, make_plan)


def _plan(group: Described, options: RemoveMembersOptions, document: Document) -> list[Member]:
    """A row per member that is named; the members that can be removed."""
    if options.all and not group.members:
        say(options, f"{group.group}: no members ({group.state})")
    by_name = {member.member_id: member for member in group.members}
    by_name |= {member.instance_id: member for member in group.members if member.instance_id}
    wanted: dict[str, Member] = {}
    for name in dict.fromkeys(options.members) or [member.member_id for member in group.members]:
        if name in by_name:
            wanted[by_name[name].member_id] = by_name[name]
        else:
            nothing = dict.fromkeys(("instance_id", "client_id", "host", "partitions", "error"))
            row = RemovedRow(group=group.group, member_id=name, result="failed", **nothing)
            _failed(row, MemberMissing(group.group, name), document)
            document.of(RemovedRow).append(row)
    document.of(RemovedRow).extend(_row(group.group, member) for member in wanted.values())
    return list(wanted.values())


def _row(group: str, member: Member) -> RemovedRow:
    return RemovedRow.of(
        member,
        group=group,
        partitions=len(member.assignment),
        result="would remove",
        error=None,
    )


def _failed(row: RemovedRow, problem: KcliError, document: Document) -> None:
    row.result, row.error = "failed", str(problem)
    document.fail(problem, row.member_id)
