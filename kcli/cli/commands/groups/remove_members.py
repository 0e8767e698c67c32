"""`kcli groups remove-members`: members that are gone and did not leave."""

from __future__ import annotations

from kcli.changes import groups as planner
from kcli.changes.groups import MemberRow
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ChangeOptions, NamedGroups
from kcli.cli.runtime.answer import words_of
from kcli.cli.runtime.change import apply_plan
from kcli.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Annotated

    import typer

    from kcli.changes import change as changes
    from kcli.changes.change import Plan
    from kcli.model import Cluster


class RemovedRow(Row, section="members"):
    group: str = column("Name of the group.", rank=1)
    member_id: str = column("Member id.", rank=1, width=20)
    instance_id: str | None = column("Static member id (group.instance.id).", sparse=True, rank=2)
    client_id: str | None = column("Client id.", rank=3)
    host: str | None = column("Where the member runs.", rank=3)
    partitions: int | None = column("Partitions it owns.", unit="count")
    result: str = column("would remove, removed, failed or unknown.", unit="word", rank=1)
    error: str | None = column("Error of this row; null without one.", table=False, unit="sentence")


SHAPE = shape("groups.remove-members", "Members that were removed, or would be.", RemovedRow)


class RemoveMembersOptions(NamedGroups, ChangeOptions):
    members: Annotated[
        list[str],
        typer.Option(
            "--member",
            metavar="MEMBER",
            help="An instance id, a client id, the beginning of a member id, or a row number. Repeatable.",
        ),
    ]
    all: Annotated[bool, typer.Option("--all", help="All members.")] = False


@command(
    "groups remove-members",
    help="Remove members from a group.",
    words="GROUP",
    examples="""
kcli groups remove-members billing --member billing-7 --dry-run    # the plan
kcli groups remove-members billing --member billing-7 --execute
kcli groups remove-members billing --member 2                      # the second row of kcli groups members
kcli groups remove-members billing --all --execute""",
)
def remove(options: RemoveMembersOptions) -> int:
    """Remove members that are gone, so that their partitions do not have to wait for the session timeout, as those of
    static members do. A member that still runs joins again. Kafka can remove members only from classic and consumer
    groups, not from share and streams groups.
    """
    groups = words_of(options, "GROUP")
    if len(groups) > 1:
        raise UsageError(f"give only one group, not {', '.join(groups)}")
    if bool(options.members) == options.all:
        raise UsageError("choose members with --member MEMBER, or all of them with --all")

    async def planned(cluster: Cluster) -> Plan:
        return await planner.plan_removal(cluster, groups[0], None if options.all else options.members)

    nothing = f"{groups[0]}: no members: nothing to change"
    return apply_plan(options, SHAPE, RemovedRow, planned, names=_names, verb="remove", noun="member", nothing=nothing)


def _names(rows: Sequence[changes.Row]) -> list[str]:
    """The members by their ids; a single one by what is short enough to be typed."""
    left = [row.member for row in rows if isinstance(row, MemberRow) and row.member is not None]
    if len(left) == 1:
        return [left[0].instance_id or left[0].client_id or left[0].member_id]
    return [member.member_id for member in left]
