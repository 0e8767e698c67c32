"""Changes of a group: delete it with its committed offsets, which an undo file keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.groups.committed import committed_offsets
from kcli.admin.groups.groups import delete_groups, find_groups, who
from kcli.admin.groups.offset_files import SCHEMA, row
from kcli.admin.groups.rows import GroupInUse, GroupMissing
from kcli.asking.coordinators import Coordinators
from kcli.asking.fan_out import bad, good
from kcli.errors import KcliError
from kcli.tui.actions.changes.change import Change, Plan, Step, keep
from kcli.tui.text.printable import printable, quoted

if TYPE_CHECKING:
    from kcli.client import Client
    from kcli.tui.actions.changes.change import Given


class DeleteGroup(Change):
    """A group without members."""

    def __init__(self, group: str) -> None:
        self.group = self.word = group
        self.title = f"Delete group {printable(group)}"

    def command(self, given: Given) -> str:
        return f"kcli groups delete {quoted(self.group)} --execute"

    async def plan(self, client: Client, given: Given) -> Plan:
        coordinators = Coordinators(client.cluster)
        found = (await find_groups(coordinators, [self.group]))[0].get(self.group) or GroupMissing(self.group)
        if isinstance(found, KcliError):
            raise found
        if found.members:
            raise GroupInUse(self.group, [who(member) for member in found.members])
        commits = (await committed_offsets(coordinators, [self.group]))[self.group]
        if isinstance(commits, KcliError):
            raise commits
        for problem in bad(commits).values():
            raise KcliError(f"{self.group}: its offsets cannot be read, so no undo file can keep them ({problem})")
        kept = sorted(good(commits).items())
        step = Step(what=self.group, old=f"{len(kept)} committed offsets", result="would delete")

        async def carry_out(client: Client) -> str:
            rows = [row(self.group, at, commit) for at, commit in kept]
            document = {"schema": SCHEMA, "ok": True, "offsets": rows, "errors": []}
            back = await keep(client, self.group, document, "kcli groups reset --from-file {}") if rows else ""
            outcome = (await delete_groups(Coordinators(client.cluster), [self.group]))[self.group]
            if isinstance(outcome, KcliError):
                step.failed(outcome)
                return ""
            step.result = "deleted"
            return back

        return Plan(steps=[step], carry_out=carry_out)
