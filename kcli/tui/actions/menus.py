"""The menus of rows: what can be done with a topic, a group, a transaction. A page says how a change is begun."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.tui.actions.acts import Act, of_change
from kcli.tui.text.printable import quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kcli.acls import Acl
    from kcli.admin.groups.rows import Member
    from kcli.admin.quotas.quotas import Entity
    from kcli.admin.transactions.hanging_transactions import OpenTransaction
    from kcli.lag.history import GroupStanding
    from kcli.tui.screens.page import Page


def of_topic(page: Page, topic: str) -> list[Act]:
    """With a topic."""
    from kcli.tui import routes
    from kcli.tui.actions.changes.delete_topics import DeleteTopics
    from kcli.tui.actions.changes.topics import AlterTopic, ElectLeaders, TrimTopic

    name = quoted(topic)
    return [
        Act("t", "Follow its records", f"kcli tail {name}", lambda: page.go(routes.Records((topic,)))),
        Act("n", "Produce a record …", f"kcli produce {name} --value …", lambda: page.produce(topic), changes=True),
        *create_topic(page),
        of_change("c", "Change its configs …", AlterTopic(topic), page.begin),
        of_change("e", "Elect its preferred leaders …", ElectLeaders(topic), page.begin),
        of_change("T", "Trim: delete old records …", TrimTopic(topic), page.begin),
        of_change("D", "Delete the topic …", DeleteTopics(topic), page.begin),
        Act("l", "Its ACLs", f"kcli acls who-can read topic {name}", lambda: page.go(routes.Access("topic", topic))),
    ]


def of_topics(page: Page, topics: Sequence[str]) -> list[Act]:
    """With the topics that are marked."""
    from kcli.tui.actions.changes.delete_topics import DeleteTopics

    return [of_change("D", f"Delete the {len(topics)} topics …", DeleteTopics(*topics), page.begin)]


def of_groups(page: Page, groups: Sequence[str], reset: Callable[[], object]) -> list[Act]:
    """With the groups that are marked."""
    from kcli.tui.actions.changes.groups import DeleteGroups

    many, names = len(groups), " ".join(map(quoted, groups))
    command = f"kcli groups reset {names} --all-topics --to-latest"
    return [
        Act("r", f"Reset the offsets of the {many} groups …", command, reset, changes=True),
        of_change("D", f"Delete the {many} groups …", DeleteGroups(*groups), page.begin),
    ]


def create_topic(page: Page) -> list[Act]:
    """A new topic, whatever row is under the cursor."""
    from kcli.tui.actions.changes.topics import CreateTopic

    return [of_change("+", "Create a topic …", CreateTopic(), page.begin)]


def of_group(page: Page, group: str, reset: Callable[[], object], standing: GroupStanding | None = None) -> list[Act]:
    """With a group."""
    from kcli.tui import routes
    from kcli.tui.actions.changes.groups import DeleteGroups
    from kcli.tui.alerts.hushing import hushing

    name = quoted(group)
    return [
        Act("r", "Reset its offsets …", f"kcli groups reset {name} --all-topics --to-latest", reset, changes=True),
        of_change("D", "Delete the group …", DeleteGroups(group), page.begin),
        Act("l", "Its ACLs", f"kcli acls who-can read group {name}", lambda: page.go(routes.Access("group", group))),
        *hushing(page, standing),
    ]


def of_member(page: Page, group: str, member: Member) -> list[Act]:
    """With a member of a group."""
    from kcli.tui.actions.changes.members import RemoveMember

    return [of_change("X", "Remove the member …", RemoveMember(group, member), page.begin)]


def of_transaction(page: Page, name: str) -> list[Act]:
    """With a transactional id."""
    from kcli.tui.actions.changes.transactions import Fence

    return [of_change("F", "Fence its producer …", Fence(name), page.begin)]


def of_hanging(page: Page, row: OpenTransaction) -> list[Act]:
    """With a transaction that hangs in a partition."""
    from kcli.tui.actions.changes.transactions import Abort

    return [of_change("A", "Abort it in this partition …", Abort(row.at, row.producer.open_since or 0), page.begin)]


def of_acls(page: Page, acl: Acl | None, marked: Sequence[Acl]) -> list[Act]:
    """With the ACL under the cursor, or with those that are marked; a new one, whatever row it is."""
    from kcli.acls import POSSIBLE
    from kcli.tui import routes
    from kcli.tui.actions.changes.acls import AddAcl, RemoveAcls

    if marked:
        return [of_change("D", f"Remove the {len(marked)} ACLs …", RemoveAcls(*marked), page.begin)]
    new = of_change("+", "Add an ACL for a topic …", AddAcl(), page.begin)
    if acl is None:
        return [new]
    operation = POSSIBLE[acl.kind][0] if acl.operation == "all" else acl.operation
    who_can = f"kcli acls who-can {operation} {acl.kind} {quoted(acl.name)}"
    return [
        Act("l", "Access to its resource", who_can, lambda: page.go(routes.Access(acl.kind, acl.name))),
        of_change("n", "Add an ACL for its resource …", AddAcl(acl), page.begin),
        of_change("D", "Remove the ACL …", RemoveAcls(acl), page.begin),
        new,
    ]


def of_quotas(
    page: Page, here: tuple[Entity, str, float] | None, marked: Sequence[tuple[Entity, str, float]]
) -> list[Act]:
    """With the limit under the cursor, or with those that are marked; a new one, whatever row it is."""
    from kcli.tui.actions.changes.quotas import RemoveQuotas, SetQuota

    if marked:
        limits = [(at, key) for at, key, _ in marked]
        return [of_change("D", f"Remove the {len(marked)} quotas …", RemoveQuotas(*limits), page.begin)]
    new = of_change("+", "Set a quota of a user …", SetQuota(), page.begin)
    if here is None:
        return [new]
    at, key, value = here
    return [
        of_change("c", "Change the limit …", SetQuota(at, key, value), page.begin),
        of_change("n", "Set another quota of it …", SetQuota(at), page.begin),
        of_change("D", "Remove the limit …", RemoveQuotas((at, key)), page.begin),
        new,
    ]
