"""With groups and their members."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.lag.status import TXN_BLOCKED
from kcli.tui.actions.acts import Act, of_change
from kcli.tui.text.printable import quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kcli.admin.groups.rows import Described, Member
    from kcli.lag.history import GroupStanding
    from kcli.tui.screens.page import Page


def of_group(page: Page, group: str, reset: Callable[[], object], standing: GroupStanding | None = None) -> list[Act]:
    """With a group."""
    from kcli.tui import routes
    from kcli.tui.actions.changes.groups import DeleteGroups
    from kcli.tui.alerts.hushing import hushing

    name, streams = quoted(group), standing is not None and standing.described.type == "streams"
    transactions = Act("t", "Open transactions", "kcli txn list", lambda: page.go(routes.Transactions()))
    return [
        Act("r", "Reset its offsets …", f"kcli groups reset {name} --all-topics --to-latest", reset, changes=True),
        of_change("D", "Delete the group …", DeleteGroups(group, streams=streams), page.begin),
        Act("l", "Its ACLs", f"kcli acls who-can read group {name}", lambda: page.go(routes.Access("group", group))),
        *([transactions] if standing is not None and standing.status == TXN_BLOCKED else []),
        *hushing(page, standing),
    ]


def of_groups(page: Page, groups: Sequence[Described], reset: Callable[[], object]) -> list[Act]:
    """With the groups that are marked."""
    from kcli.tui.actions.changes.groups import DeleteGroups

    many, names = len(groups), [group.group for group in groups]
    delete = DeleteGroups(*names, streams=any(group.type == "streams" for group in groups))
    command = f"kcli groups reset {' '.join(map(quoted, names))} --all-topics --to-latest"
    return [
        Act("r", f"Reset the offsets of the {many} groups …", command, reset, changes=True),
        of_change("D", f"Delete the {many} groups …", delete, page.begin),
    ]


def of_member(page: Page, group: str, member: Member) -> list[Act]:
    """With a member of a group."""
    from kcli.tui.actions.changes.groups import RemoveMember

    return [of_change("X", "Remove the member …", RemoveMember(group, member), page.begin)]
