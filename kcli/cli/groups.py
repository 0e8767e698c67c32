"""`kcli groups`: list, describe, members, delete."""

from __future__ import annotations

from kcli.admin.coordinators import Coordinators
from kcli.admin.gather import bad, good
from kcli.admin.groups import (
    Described,
    GroupInUse,
    GroupMissing,
    Member,
    delete_groups,
    find_groups,
    group_names,
    list_groups,
    who,
)
from kcli.admin.offsets import committed_offsets
from kcli.admin.snapshot import take
from kcli.cli.admin import answer, confirm, excluding, fail_all, missing, plural, say, words_of
from kcli.errors import KcliError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.option import Values
    from kcli.cli.render import Document
    from kcli.cli.shapes import Row
    from kcli.model import Cluster


def list_all(values: Values) -> int:
    """`kcli groups list`."""

    async def work(cluster: Cluster, document: Document) -> None:
        listed, failed = await list_groups(cluster)
        for node_id, error in failed.items():
            document.fail(KcliError(f"broker {node_id} did not list its groups: {error}"), f"broker {node_id}")
        wanted_types, wanted_states = ({word.lower() for word in some} for some in (values["types"], values["states"]))
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
    from kcli.cli.lag import measure, partition_row, problems

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
            if group.type in ("share", "streams"):
                document.fail(
                    KcliError(f"{group.group}: members of {group.type} groups are not shown, only listed"), group.group
                )
            elif not group.members:
                say(values, f"{group.group}: no members ({group.state})")

    return answer(values, "groups.members", work)


def delete(values: Values) -> int:
    """`kcli groups delete GROUP...`."""
    groups, if_exists = words_of(values, "GROUP"), values["if_exists"]
    excluding(values)

    async def work(cluster: Cluster, document: Document) -> int | None:
        coordinators = Coordinators(cluster)
        rows = document.rows["groups"] = await _plan(cluster, coordinators, groups, if_exists, document)
        ready = [row["group"] for row in rows if row["result"] == "would delete"]
        if values["dry_run"] or not ready:
            return None
        phrase = ready[0] if len(ready) == 1 else f"delete {len(ready)} groups"
        if not confirm(values, document, phrase):
            document.rows.clear()
            return 1
        done = await delete_groups(coordinators, ready)
        for row in rows:
            result = done.get(row["group"])
            if result is True:
                row["result"] = "deleted"
            elif isinstance(result, GroupMissing) and if_exists:
                row["result"] = "absent"
            elif isinstance(result, KcliError):
                _failed(row, result, document)
        return None

    return answer(values, "groups.delete", work)


async def _plan(
    cluster: Cluster, coordinators: Coordinators, groups: list[str], if_exists: bool, document: Document
) -> list[Row]:
    """A row per group: whether it can go, and what goes with it."""
    found, _ = await find_groups(coordinators, groups)
    commits = await committed_offsets(coordinators, good(found))
    rows: list[Row] = []
    for name in dict.fromkeys(groups):
        group, offsets = found[name], commits.get(name)
        row: Row = {"group": name, "result": "would delete", "state": None, "members": None, "partitions": None}
        row["error"] = None
        rows.append(row)
        if isinstance(group, GroupMissing) and if_exists:
            row["result"] = "absent"
        elif isinstance(group, KcliError):
            _failed(row, group, document)
            if isinstance(group, GroupMissing):
                document.errors.pop()
                missing(document, name, group, await group_names(cluster))
        else:
            row["state"], row["members"] = group.state or None, len(group.members)
            row["partitions"] = len(offsets) if isinstance(offsets, dict) else None
            if group.members:
                _failed(row, GroupInUse(name, [who(member) for member in group.members]), document)
    return rows


def _failed(row: Row, error: KcliError, document: Document) -> None:
    row["result"] = "refused" if isinstance(error, GroupInUse) else "failed"
    row["error"] = str(error)
    document.fail(error, row["group"])


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
    }
