"""What `a` offers with a row: topic, record, group, ACL, quota, schema, transaction, broker, move of a partition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.configs import Resource
from kcli.cluster.cluster import INTERNAL
from kcli.lag.status import TXN_BLOCKED
from kcli.tui.actions.acts import Act, of_change
from kcli.tui.actions.producing import draft_of
from kcli.tui.text.printable import printable, quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kcli.acls import Acl
    from kcli.admin.configs import Config
    from kcli.admin.groups.rows import Described, Member
    from kcli.admin.quotas import Entity
    from kcli.admin.transactions.hanging_transactions import OpenTransaction
    from kcli.lag.history import GroupStanding
    from kcli.model import TopicPartition
    from kcli.tui.screens.page import Page
    from kcli.tui.tail import Seen


def of_topic(page: Page, topic: str) -> list[Act]:
    """With a topic."""
    from kcli.tui import routes
    from kcli.tui.actions.changes.topics import AddPartitions, AlterConfigs, DeleteTopics, ElectLeaders, TrimTopic

    name = quoted(topic)
    acts = [
        Act("t", "Follow its records", f"kcli tail {name}", lambda: page.go(routes.Records((topic,)))),
        Act("n", "Produce a record …", f"kcli produce {name} --value …", lambda: page.produce(topic), changes=True),
        *create_topic(page),
        of_change("c", "Change its configs …", AlterConfigs(Resource("topic", topic)), page.begin),
        of_change("P", "Add partitions …", AddPartitions(topic), page.begin),
        of_change("e", "Elect its preferred leaders …", ElectLeaders(topic), page.begin),
        of_change("T", "Trim: delete old records …", TrimTopic(topic), page.begin),
        of_change("D", "Delete the topic …", DeleteTopics(topic), page.begin),
        Act("A", "Its ACLs", f"kcli acls who-can read topic {name}", lambda: page.go(routes.Access("topic", topic))),
    ]
    return _allowed(topic, acts)


def _allowed(topic: str, acts: list[Act]) -> list[Act]:
    """Without those that delete anything of Kafka's own topics, which kcli refuses."""
    return [act for act in acts if not (act.destroys and topic in INTERNAL)]


def of_partition(page: Page, topic: str, number: int) -> list[Act]:
    """With a partition, and with its topic."""
    from kcli.tui.actions.changes.topics import TrimTopic

    trim = of_change("p", f"Trim partition {number} …", TrimTopic(topic, number), page.begin)
    return _allowed(topic, [trim, *of_topic(page, topic)])


def of_topics(page: Page, topics: Sequence[str]) -> list[Act]:
    """With the topics that are marked."""
    from kcli.tui import routes
    from kcli.tui.actions.changes.topics import DeleteTopics

    followed = f"kcli tail {' '.join(map(quoted, topics))}"
    return [
        Act("t", "Follow their records", followed, lambda: page.go(routes.Records(tuple(topics)))),
        of_change("D", f"Delete the {len(topics)} topics …", DeleteTopics(*topics), page.begin),
    ]


def create_topic(page: Page) -> list[Act]:
    """A new topic, whatever row is under the cursor."""
    from kcli.tui.actions.changes.topics import CreateTopic

    return [of_change("+", "Create a topic …", CreateTopic(), page.begin)]


def of_transaction(page: Page, name: str) -> list[Act]:
    """With a transactional id."""
    from kcli.tui.actions.changes.transactions import Fence

    return [of_change("F", "Fence its producer …", Fence(name), page.begin)]


def of_hanging(page: Page, row: OpenTransaction) -> list[Act]:
    """With a transaction that hangs in a partition."""
    from kcli.tui.actions.changes.transactions import Abort

    return [of_change("A", "Abort it in this partition …", Abort(row.at, row.producer.open_since or 0), page.begin)]


def of_subject(page: Page, subject: str, level: str) -> list[Act]:
    """With a subject. `level` is its compatibility level, "" while that is not known: it cannot be changed then, for an
    empty field in the dialog removes it."""
    from kcli.tui import routes
    from kcli.tui.actions.changes.schemas import DeleteSubject, SetLevel

    option = page.session.registry_option
    shown = f"kcli registry versions {quoted(subject)}{option}"
    acts = [
        Act("o", "Its versions", shown, lambda: page.go(routes.Subject(subject))),
        of_change("D", "Delete the subject …", DeleteSubject(subject, option=option), page.begin),
    ]
    if level:
        acts.insert(1, of_change("c", "Change its compatibility level …", SetLevel(subject, level, option), page.begin))
    return acts


def of_version(page: Page, subject: str, version: int | None, level: str) -> list[Act]:
    """With a version of a subject; None offers nothing."""
    from kcli.tui.actions.changes.schemas import DeleteSubject

    if version is None:
        return []
    change = DeleteSubject(subject, version, page.session.registry_option)
    return [of_change("d", f"Delete version {version} …", change, page.begin), *of_subject(page, subject, level)[1:]]


def of_record(page: Page, record: Seen | None, topic: str, export: Callable[[], object] | None = None) -> list[Act]:
    """With a record of a topic, and with all that are shown, which `export` writes to a file."""
    from kcli.tui import routes
    from kcli.tui.actions.changes.topics import TrimTopic

    name = quoted(topic)
    acts = [
        Act("n", "Produce a record …", f"kcli produce {name} --value …", lambda: page.produce(topic), changes=True),
        Act("t", "Follow the topic", f"kcli tail {name}", lambda: page.go(routes.Records((topic,)))),
        Act("o", "Its topic", f"kcli topics describe {name}", lambda: page.go(routes.Topic(topic))),
    ]
    if export is not None:
        acts.append(Act("w", "Write the shown records to a file", "", export))
    if record is None:
        return acts
    at = f"kcli consume {quoted(record.topic)} -p {record.partition} -o {record.offset} -c 1"
    draft = draft_of(record)
    whole = Act(
        "W",
        "Show it whole",
        f"{at} -J",
        lambda: page.go(routes.Record(record.topic, record.partition, record.offset, record)),
    )
    before = TrimTopic(record.topic, record.partition, str(record.offset))
    acts = [
        whole,
        Act("e", "Edit and send again …", draft.command, lambda: page.produce(record.topic, draft), changes=True),
        of_change("T", "Trim: delete the records before it …", before, page.begin),
        *acts,
    ]
    return _allowed(record.topic, acts)


def of_group(page: Page, group: str, reset: Callable[[], object], standing: GroupStanding | None = None) -> list[Act]:
    """With a group."""
    from kcli.tui import routes
    from kcli.tui.actions.changes.groups import DeleteGroups
    from kcli.tui.alerts.silencing import silencing

    name, streams = quoted(group), standing is not None and standing.described.type == "streams"
    transactions = Act("T", "Open transactions", "kcli txn list", lambda: page.go(routes.Transactions()))
    return [
        Act("r", "Reset its offsets …", f"kcli groups reset {name} --all-topics --to-latest", reset, changes=True),
        of_change("D", "Delete the group …", DeleteGroups(group, streams=streams), page.begin),
        Act("A", "Its ACLs", f"kcli acls who-can read group {name}", lambda: page.go(routes.Access("group", group))),
        *([transactions] if standing is not None and standing.status == TXN_BLOCKED else []),
        *silencing(page, standing),
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


def of_acls(page: Page, acl: Acl | None, marked: Sequence[Acl]) -> list[Act]:
    """With the ACL under the cursor, or with those that are marked; a new one, whatever row it is."""
    from kcli.acls import POSSIBLE
    from kcli.tui import routes
    from kcli.tui.actions.changes.rules import AddAcl, RemoveAcls

    if marked:
        return [of_change("D", f"Remove the {len(marked)} ACLs …", RemoveAcls(*marked), page.begin)]
    new = of_change("+", "Add an ACL …", AddAcl(), page.begin)
    if acl is None:
        return [new]
    operation = POSSIBLE[acl.kind][0] if acl.operation == "all" else acl.operation
    who_can = f"kcli acls who-can {operation} {acl.kind} {quoted(acl.name)}"
    return [
        Act("A", "Access to its resource", who_can, lambda: page.go(routes.Access(acl.kind, acl.name))),
        of_change("N", "Add an ACL for its resource …", AddAcl(acl), page.begin),
        of_change("D", "Remove the ACL …", RemoveAcls(acl), page.begin),
        new,
    ]


def of_access(page: Page, kind: str, name: str, opposite: Acl | None, rule: Acl | None) -> list[Act]:
    """With a principal's access to a resource: add the ACL that says the `opposite`, remove the `rule` that decides."""
    from kcli.acls import ANYWHERE, POSSIBLE, Acl
    from kcli.tui import routes
    from kcli.tui.actions.changes.rules import AddAcl, RemoveAcls

    here = Acl(kind, name, "literal", "", ANYWHERE, POSSIBLE[kind][0], "allow")
    acts = [of_change("N", "Add an ACL for this resource …", AddAcl(here), page.begin)]
    if opposite is not None:
        label = f"{opposite.permission.capitalize()} {opposite.operation} to {printable(opposite.principal)} …"
        acts.insert(0, of_change("A", label, AddAcl(opposite, whole=True), page.begin))
    if rule is not None:
        acts.append(of_change("D", "Remove the ACL that decides this …", RemoveAcls(rule), page.begin))
    if kind == "topic":
        acts.append(Act("o", "The topic", f"kcli topics describe {quoted(name)}", lambda: page.go(routes.Topic(name))))
    elif kind == "group":
        acts.append(Act("o", "The group", f"kcli groups describe {quoted(name)}", lambda: page.go(routes.Group(name))))
    return acts


def of_quotas(
    page: Page, here: tuple[Entity, str, float] | None, marked: Sequence[tuple[Entity, str, float]]
) -> list[Act]:
    """With the limit under the cursor, or with those that are marked; a new one, whatever row it is."""
    from kcli.tui.actions.changes.rules import RemoveQuotas, SetQuota

    if marked:
        limits = [(at, key) for at, key, _ in marked]
        return [of_change("D", f"Remove the {len(marked)} quotas …", RemoveQuotas(*limits), page.begin)]
    new = of_change("+", "Set a quota …", SetQuota(), page.begin)
    if here is None:
        return [new]
    at, key, value = here
    return [
        of_change("c", "Change the limit …", SetQuota(at, key, value), page.begin),
        of_change("N", "Set another quota of it …", SetQuota(at), page.begin),
        of_change("D", "Remove the limit …", RemoveQuotas((at, key)), page.begin),
        new,
    ]


def of_broker(page: Page, number: int, *, others: bool = False) -> list[Act]:
    """With a broker; `others`: there are more brokers, to which its replicas could go."""
    from kcli.tui import routes
    from kcli.tui.actions.changes.topics import AlterConfigs

    shown = Act(
        "o",
        "Its partitions, disks, configs",
        f"kcli logdirs replicas --broker {number}",
        lambda: page.go(routes.Broker(number)),
    )
    plan = f"kcli reassign plan --remove-broker {number}"
    away = Act("M", "Copy the plan that empties it", plan, lambda: page.copy(page.session.aimed(plan)))
    return [
        shown,
        of_change("c", "Change its configs …", AlterConfigs(Resource("broker", str(number))), page.begin),
        of_change("C", "Change configs of all brokers …", AlterConfigs(Resource("broker", "")), page.begin),
        *elect_all(page),
        *([away] if others else []),
    ]


def elect_all(page: Page) -> list[Act]:
    """Preferred leaders, whatever row is under the cursor."""
    from kcli.tui.actions.changes.topics import ElectLeaders

    return [of_change("e", "Elect the preferred leaders of all topics …", ElectLeaders(), page.begin)]


def of_config(page: Page, at: Resource, config: Config | None) -> list[Act]:
    """With a config of a topic or a broker: change it, where brokers allow that and show its value."""
    from kcli.tui.actions.changes.topics import AlterConfigs

    if config is None or config.secret or config.read_only:
        return []
    change = AlterConfigs(at, config.name, config.value or "")
    return [of_change("=", f"Change {printable(config.name)} …", change, page.begin)]


def of_move(page: Page, at: TopicPartition | None) -> list[Act]:
    """With a partition that moves."""
    from kcli.tui import routes
    from kcli.tui.actions.changes.topics import CancelMove

    if at is None:
        return elect_all(page)
    return [
        of_change("X", "Cancel the move …", CancelMove(at), page.begin),
        Act("o", "Its topic", f"kcli topics describe {quoted(at.topic)}", lambda: page.go(routes.Topic(at.topic))),
        *elect_all(page),
    ]
