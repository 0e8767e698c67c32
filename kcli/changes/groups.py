"""Changes of groups: deleting them, or removing members."""

from __future__ import annotations

from kcli.admin.groups.commits import committed_offsets
from kcli.admin.groups.groups import delete_groups, find_groups, who
from kcli.admin.groups.members import MemberMissing, refusal_to_remove, remove_members
from kcli.admin.groups.rows import GroupInUse, GroupMissing
from kcli.asking.coordinators import Coordinators
from kcli.asking.fan_out import bad, good
from kcli.changes.change import UNCHANGED, Plan, Row, settle
from kcli.changes.offsets import missing, undo_of
from kcli.errors import KcliError, UsageError
from kcli.text.numbers import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from typing import ClassVar

    from kcli.admin.groups.rows import Described, Member
    from kcli.model import Cluster, OffsetAndMetadata, TopicPartition

    Commits = dict[TopicPartition, OffsetAndMetadata | KcliError]


class GroupRow(Row):
    """A group to delete. `partitions` are those with a commit, None for a share group, which has none, and if they
    cannot be read; `internal_topics` are those of a streams group that are deleted with it, None for none."""

    state: str | None = None
    members: int | None = None
    partitions: int | None = None
    internal_topics: list[str] | None = None
    result: str = "would delete"
    words: tuple[str, str, str] = ("would delete", UNCHANGED, "deleted")
    columns: ClassVar[Sequence[str]] = "group=name result state members partitions internal_topics".split()

    def settle(self, error: KcliError | None, *, unchanged: bool | None = None) -> None:
        super().settle(error, unchanged=unchanged)
        if isinstance(error, GroupInUse):
            self.result = "refused"


async def plan_deletion(
    cluster: Cluster,
    groups: Iterable[str],
    *,
    if_exists: bool = False,
    internal_topics: bool = False,
    undoable: bool = True,
) -> Plan:
    """Return the plan that deletes groups without members: a row for each.

    With `if_exists`, a group that does not exist is not an error. `internal_topics` deletes those of streams groups,
    too. An `undoable` deletion fails if the offsets of a group cannot be read.
    """
    coordinators = Coordinators(cluster)
    found = (await find_groups(coordinators, groups))[0]
    commits = await committed_offsets(
        coordinators, [name for name, group in good(found).items() if group.type != "share"]
    )
    rows = {name: GroupRow(name=name, about=name) for name in groups}
    made = Plan(rows=list(rows.values()))
    lost: list[tuple[str, TopicPartition, OffsetAndMetadata]] = []
    for name, row in rows.items():
        group, some = found.get(name) or GroupMissing(name), commits.get(name)
        if isinstance(group, KcliError):
            await _settle(cluster, row, group, if_exists=if_exists)
            continue
        known = some if isinstance(some, dict) else None
        row.state, row.members = group.state or None, len(group.members)
        row.partitions = None if known is None else len(known)
        row.old = None if known is None else f"{len(known)} committed offsets"
        if group.type == "streams" and internal_topics:
            row.internal_topics = group.internal_topics
        elif group.internal_topics:
            row.note = f"{counted(len(group.internal_topics), 'internal topic')} stay"
        if group.members:
            row.settle(GroupInUse(name, [who(member) for member in group.members]))
        elif group.type == "share":
            made.warnings.append(f"{name}: a share group cannot be restored")
        elif undoable and (problem := _unread(name, some)):
            row.settle(problem)
        if row.is_open:
            lost += [(name, at, commit) for at, commit in sorted(good(known or {}).items())]
            made.final = made.final or row.partitions is None or bool(row.internal_topics)
    ready = [row for row in rows.values() if row.is_open]
    if topics := sum(len(row.internal_topics or ()) for row in ready):
        made.warnings.append(f"{counted(topics, 'internal topic')} with all records cannot be restored")
    made.undo = undo_of(lost)

    async def apply(cluster: Cluster) -> None:
        for name, outcome in (await delete_groups(Coordinators(cluster), [row.name for row in ready])).items():
            await _settle(cluster, rows[name], outcome, if_exists=if_exists)
        await _delete_topics(cluster, ready)

    return made.applied_by(apply)


async def _settle(cluster: Cluster, row: GroupRow, outcome: KcliError | bool, *, if_exists: bool) -> None:
    if not isinstance(outcome, GroupMissing):
        row.settle(outcome if isinstance(outcome, KcliError) else None)
    elif if_exists:
        row.result = "absent"
    else:
        row.settle(await missing(cluster, row.name))


def _unread(group: str, commits: Commits | KcliError | None) -> KcliError | None:
    """Return the error if some commits of a group could not be read, and so could not be restored."""
    problem = next(iter(bad(commits).values()), None) if isinstance(commits, dict) else commits
    if problem is None:
        return None
    return KcliError(
        f"{group}: its committed offsets cannot be read, so undo could not restore them ({problem})"
    ).hinted("delete-without-undo")


async def _delete_topics(cluster: Cluster, rows: list[GroupRow]) -> None:
    """Delete the internal topics of deleted groups. A missing one is not an error: a member may have stopped before
    creating it."""
    from kcli.admin.topics.topics import delete_topics
    from kcli.asking.leaders import TopicMissing

    gone = {name: row for row in rows if row.result == "deleted" for name in row.internal_topics or ()}
    for name, result in (await delete_topics(cluster, list(gone))).items() if gone else ():
        if isinstance(result, KcliError) and not isinstance(result, TopicMissing):
            gone[name].error = KcliError(f"the group is deleted, but its topic {name} is not: {result}")


# -- members ---------------------------------------------------------------------------------------------------------


class MemberRow(Row):
    """A member of the group `kind`. `member` is None if the group has none with this name."""

    member: Member | None = None
    partitions: int | None = None
    result: str = "would remove"
    words: tuple[str, str, str] = ("would remove", UNCHANGED, "removed")
    columns: ClassVar[Sequence[str]] = (
        "group=kind member_id=about instance_id=member.instance_id client_id=member.client_id "
        "host=member.host partitions result"
    ).split()


async def plan_removal(cluster: Cluster, group: str, members: Collection[str] | None) -> Plan:
    """Return the plan that removes members, or all (None): a row for each. The words are those of `one_member`; raises
    UsageError for an ambiguous one."""
    found = (await find_groups(Coordinators(cluster), [group]))[0][group]
    if isinstance(found, KcliError):
        return Plan(failed={group: await missing(cluster, group) if isinstance(found, GroupMissing) else found})
    if refusal := refusal_to_remove(found):
        return Plan(failed={group: refusal})
    rows: dict[str, MemberRow] = {}
    for name in [member.member_id for member in found.members] if members is None else members:
        if (member := one_member(found, name)) is None:
            rows[name] = MemberRow(kind=group, name=name, about=name)
            rows[name].settle(MemberMissing(group, name))
        else:
            row = MemberRow(kind=group, name=member.instance_id or member.member_id, about=member.member_id)
            row.member, row.partitions = member, len(member.assignment)
            row.old = counted(row.partitions, "partition")
            rows[member.member_id] = row
    ready = [row.member for row in rows.values() if row.member is not None]

    async def apply(cluster: Cluster) -> None:
        settle(rows, await remove_members(Coordinators(cluster), group, ready))

    return Plan(rows=list(rows.values())).applied_by(apply)


def one_member(group: Described, word: str) -> Member | None:
    """Return the member with this member id or instance id; else with this client id; else the one whose member id has
    this prefix, or with this number in `kcli groups members`, from 1. None if there is none; raises UsageError if there
    are several."""
    row = int(word) if word.isdecimal() else 0
    fitting = (
        [member for member in group.members if word in (member.member_id, member.instance_id)]
        or [member for member in group.members if word == member.client_id]
        or [
            member
            for number, member in enumerate(group.members, 1)
            if number == row or member.member_id.startswith(word)
        ]
    )
    if len(fitting) > 1:
        shown = ", ".join(member.member_id for member in fitting[:5]) + (", …" if len(fitting) > 5 else "")
        raise UsageError(f"{group.group}: {word} matches {len(fitting)} members ({shown}): choose one")
    return fitting[0] if fitting else None
