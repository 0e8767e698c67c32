"""Remove a member that is gone from its group."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.groups.groups import find_groups, who
from kcli.admin.groups.members import MemberMissing, refusal_to_remove, remove_members
from kcli.asking.coordinators import Coordinators
from kcli.errors import KcliError
from kcli.tui.actions.changes.change import Change, Plan, Step
from kcli.tui.text.printable import printable, quoted

if TYPE_CHECKING:
    from kcli.admin.groups.rows import Member
    from kcli.client import Client
    from kcli.tui.actions.changes.change import Given


class RemoveMember(Change):
    """One member. What has to be typed is its instance id or its client id: member ids are long."""

    def __init__(self, group: str, member: Member) -> None:
        self.group, self.member = group, member
        self.word = member.instance_id or member.client_id or group
        self.title = f"Remove {printable(who(member))} from group {printable(group)}: one that still runs joins again"

    def command(self, given: Given) -> str:
        name = quoted(self.member.instance_id or self.member.member_id)
        return f"kcli groups remove-members {quoted(self.group)} --member {name} --execute"

    async def plan(self, client: Client, given: Given) -> Plan:
        coordinators = Coordinators(client.cluster)
        group = (await find_groups(coordinators, [self.group]))[0][self.group]
        if isinstance(group, KcliError):
            raise group
        refusal = refusal_to_remove(group)
        if refusal is not None:
            raise refusal
        member = next((one for one in group.members if one.member_id == self.member.member_id), None)
        if member is None:
            raise MemberMissing(self.group, who(self.member))
        many = len(member.assignment)
        step = Step(what=who(member), old=f"{many} partition{'s' * (many != 1)}", result="would remove")

        async def carry_out(client: Client) -> str:
            outcome = (await remove_members(Coordinators(client.cluster), self.group, [member]))[member.member_id]
            if isinstance(outcome, KcliError):
                step.failed(outcome)
            else:
                step.result, step.new = "removed", "its partitions go to others"
            return ""

        return Plan(steps=[step], carry_out=carry_out)
