"""Delete groups with their committed offsets, which the journal keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.groups.committed import committed_offsets
from kcli.admin.groups.groups import delete_groups, find_groups, who
from kcli.admin.groups.offset_files import SCHEMA, row
from kcli.admin.groups.rows import Described, GroupInUse, GroupMissing
from kcli.asking.coordinators import Coordinators
from kcli.asking.fan_out import bad, good
from kcli.changes.change import Undo
from kcli.errors import KcliError
from kcli.tui.actions.changes.change import Change, Plan, Step
from kcli.tui.actions.changes.several import settle, title_of, word_of
from kcli.tui.text.printable import quoted

if TYPE_CHECKING:
    from kcli.client import Client
    from kcli.model import OffsetAndMetadata, TopicPartition
    from kcli.tui.actions.changes.change import Given

    Commits = dict[TopicPartition, OffsetAndMetadata | KcliError]


class DeleteGroups(Change):
    """One group without members, or several. A row that cannot go says why; the others do."""

    def __init__(self, *groups: str) -> None:
        self.groups = groups
        self.word = word_of(groups, "group")
        self.title = title_of("Delete", groups, "group")

    def command(self, given: Given) -> str:
        return f"kcli groups delete {' '.join(map(quoted, self.groups))} --execute"

    async def plan(self, client: Client, given: Given) -> Plan:
        coordinators = Coordinators(client.cluster)
        found = (await find_groups(coordinators, self.groups))[0]
        commits = await committed_offsets(coordinators, good(found))
        steps = {name: _step(name, found.get(name) or GroupMissing(name), commits.get(name)) for name in self.groups}
        ready = [name for name, step in steps.items() if step.result == "would delete"]
        if not ready:
            raise KcliError(next(iter(steps.values())).note)
        kept = {name: sorted(good(some).items()) for name in ready if isinstance(some := commits[name], dict)}

        async def carry_out(client: Client) -> str:
            settle(steps, await delete_groups(Coordinators(client.cluster), ready), "deleted")
            return ""

        rows = [row(name, at, commit) for name, some in kept.items() for at, commit in some]
        undo = Undo(document={"schema": SCHEMA, "ok": True, "offsets": rows, "errors": []}) if rows else None
        return Plan(steps=list(steps.values()), carry_out=carry_out, undo=undo)


def _step(name: str, group: Described | KcliError, commits: Commits | KcliError | None) -> Step:
    step = Step(what=name, result="would delete")
    if isinstance(group, KcliError):
        step.failed(group)
    elif group.members:
        step.failed(GroupInUse(name, [who(member) for member in group.members]))
    elif not isinstance(commits, dict):
        step.failed(commits or GroupMissing(name))
    elif bad(commits):
        problem = next(iter(bad(commits).values()))
        step.failed(f"{name}: its offsets cannot be read, so `kcli undo` could not restore them ({problem})")
    else:
        step.old = f"{len(commits)} committed offsets"
    return step
