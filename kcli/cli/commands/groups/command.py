"""`kcli groups`: list, describe, members."""

from __future__ import annotations

from kcli.admin.groups.groups import find_groups, group_names, list_groups, who
from kcli.admin.groups.rows import STATES, TYPES, Described, GroupMissing, Member
from kcli.asking.coordinators import Coordinators
from kcli.asking.fan_out import bad, good
from kcli.cli.runtime.answer import answer, fail_all, plural, say, some_of, unlisted, words_of
from kcli.errors import KcliError
from kcli.lag.snapshot import take

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.output.render import Document
    from kcli.cli.output.shapes.shape import Row
    from kcli.cli.parsing.option import Values
    from kcli.model import Cluster, OffsetAndMetadata, TopicPartition

    Commits = dict[TopicPartition, OffsetAndMetadata | KcliError]


def list_all(values: Values) -> int:
    """`kcli groups list`."""
    wanted_types = some_of(values["types"], TYPES, "--type")
    wanted_states = some_of(values["states"], STATES, "--state")

    async def work(cluster: Cluster, document: Document) -> None:
        listed, failed = await list_groups(cluster)
        if failed:
            await unlisted(cluster, document, failed)
        document.rows["groups"] = [
            {
                "group": row.group,
                "type": row.type,
                "state": row.state,
                "protocol": row.protocol,
                "coordinator": row.coordinator,
            }
            for row in listed
            if (not wanted_types or (row.type or "") in wanted_types)
            and (not wanted_states or (row.state or "").lower() in wanted_states)
        ]

    return answer(values, "groups.list", work)


def describe(values: Values) -> int:
    """`kcli groups describe GROUP...`."""
    from kcli.cli.commands.lag.command import measure, partition_row, problems

    groups = words_of(values, "GROUP")
    isolation = values["isolation"] or "read_uncommitted"

    async def work(cluster: Cluster, document: Document) -> None:
        shot = await take(cluster, groups, isolation=isolation)
        await problems(cluster, shot, document)
        measured = [measure(one) for one in shot.groups]
        document.rows["groups"] = [
            {
                "group": total.group,
                "type": one.described.type,
                "state": one.described.state or None,
                "assignor": one.described.assignor or None,
                "coordinator": one.described.coordinator,
                "epoch": one.described.epoch,
                "members": total.members,
                "lag": total.lag,
                "status": total.status,
            }
            for one, _, total in measured
        ]
        document.rows["partitions"] = [partition_row(row) for _, some, _ in measured for row in some]
        document.rows["members"] = [
            member_row(one.described.group, member) for one, _, _ in measured for member in one.described.members
        ]
        for one, _, _ in measured:
            idle = [who(member) for member in one.described.members if not member.assignment]
            if idle and one.described.owners_known:
                say(
                    values,
                    f"{one.described.group}: {plural(len(idle), 'member')} without a partition: " + ", ".join(idle),
                )

    return answer(values, "groups.describe", work)


def members(values: Values) -> int:
    """`kcli groups members GROUP...`."""
    groups = words_of(values, "GROUP")

    async def work(cluster: Cluster, document: Document) -> None:
        found = await _found(cluster, groups, document)
        document.rows["members"] = [
            member_row(group.group, member) for group in found.values() for member in group.members
        ]
        for group in found.values():
            if not group.members and not group.owners_known and group.type in ("share", "streams"):
                untold = f"{group.group}: this broker lists its {group.type} groups and does not tell their members"
                document.fail(KcliError(untold), group.group)
            elif not group.members:
                say(values, f"{group.group}: no members ({group.state})")

    return answer(values, "groups.members", work)


async def _found(cluster: Cluster, groups: list[str], document: Document) -> dict[str, Described]:
    """The groups that exist; the others are errors of the document."""
    found, _ = await find_groups(Coordinators(cluster), groups)
    await fail_all(document, bad(found), GroupMissing, lambda: group_names(cluster))
    return good(found)


def member_row(group: str, member: Member) -> Row:
    return {
        "group": group,
        "member_id": member.member_id,
        "instance_id": member.instance_id,
        "client_id": member.client_id,
        "host": member.host,
        "partitions": len(member.assignment),
        "assignment": [f"{at.topic}:{at.partition}" for at in member.assignment],
        "epoch": member.epoch,
        "rack": member.rack,
        "subscribed": member.topics or ([member.regex] if member.regex else []),
        "tasks": member.tasks or None,
    }
