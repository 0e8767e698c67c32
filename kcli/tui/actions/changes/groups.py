"""Changes of groups: delete some, with their committed offsets, or remove a member that is gone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.groups.groups import who
from kcli.changes import groups
from kcli.tui.actions.changes.change import Ask, Change, title_of, word_of
from kcli.tui.text.printable import printable, quoted

if TYPE_CHECKING:
    from kcli.admin.groups.rows import Member
    from kcli.changes.change import Plan, Row
    from kcli.client import Client
    from kcli.tui.actions.changes.change import Given

INTERNAL = Ask("internal", "internal topics", "delete, to delete those of streams groups too")


class DeleteGroups(Change):
    """One group without members, or several. A row that cannot go says why; the others do."""

    destroys = True

    def __init__(self, *groups: str, streams: bool = False) -> None:
        """`streams`: some are streams groups, whose internal topics can be deleted with them."""
        self.groups = groups
        self.word = word_of(groups, "group")
        self.title = title_of("Delete", groups, "group")
        self.asks = (INTERNAL,) if streams else ()

    def command(self, given: Given) -> str:
        internal = " --delete-internal-topics" if self._internal(given) else ""
        return f"kcli groups delete {' '.join(map(quoted, self.groups))}{internal} --execute"

    async def plan(self, client: Client, given: Given) -> Plan:
        return await groups.plan_deletion(client.cluster, self.groups, internal_topics=self._internal(given))

    def _internal(self, given: Given) -> bool:
        return given.get("internal", "").strip().lower() in ("delete", "yes", "y")


class RemoveMember(Change):
    """One member. What has to be typed is its instance id or its client id: member ids are long."""

    destroys = True

    def __init__(self, group: str, member: Member) -> None:
        self.group, self.member = group, member
        self.word = member.instance_id or member.client_id or group
        self.title = (
            f"Remove {printable(who(member))} from group {printable(group)}: a member that is still running rejoins"
        )

    def command(self, given: Given) -> str:
        name = quoted(self.member.instance_id or self.member.member_id)
        return f"kcli groups remove-members {quoted(self.group)} --member {name} --execute"

    async def plan(self, client: Client, given: Given) -> Plan:
        return await groups.plan_removal(client.cluster, self.group, [self.member.member_id])

    def label(self, row: Row) -> str:
        return who(self.member)
