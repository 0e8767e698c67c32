"""Changes of topics: create and delete them, add partitions, change configs, delete old records."""

from __future__ import annotations

from kcli import codes
from kcli.admin.configs import Operation, Resource, describe_configs
from kcli.admin.topics.delete_records import grow_topics
from kcli.admin.topics.topics import create_topics, delete_topics, describe_topics, wait_for_topics
from kcli.asking.fan_out import bad, good
from kcli.asking.leaders import TopicMissing
from kcli.changes import configs
from kcli.changes.change import Plan, Row, Undo, settle
from kcli.errors import BrokerError, KcliError
from kcli.text.suggest import did_you_mean
from kcli.values import field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kcli.admin.topics.topics import Created, NewTopic, Topic
    from kcli.grammar.bound import Bound
    from kcli.model import Cluster, TopicPartition


async def find(cluster: Cluster, names: Iterable[str] | None, *, internal: bool = True) -> dict[str, Topic | KcliError]:
    """Like `describe_topics`; the error for an unknown topic suggests the most similar name."""
    found = await describe_topics(cluster, names, internal=internal)
    missing = {name: error for name, error in found.items() if isinstance(error, TopicMissing)}
    known = await describe_topics(cluster, internal=False) if missing else ()
    for name, error in missing.items():
        configs.add_hint(error, did_you_mean(name, known))
    return found


class CreateRow(Row):
    """A new topic. Numbers are None if the broker did not report them."""

    columns = "topic=name result partitions replicas configs topic_id".split()
    partitions: int | None = None
    replicas: int | None = None
    configs: dict[str, str] = field(factory=dict)
    topic_id: str | None = None
    result: str = "would create"
    words: tuple[str, str, str] = ("would create", "exists", "created")


async def create(
    cluster: Cluster, wanted: Sequence[NewTopic], *, if_not_exists: bool = False, patience: float | None = 30.0
) -> Plan:
    """Return the plan of new topics, validated by the broker. Its `apply` waits up to `patience` seconds for every
    broker to know them (None: not at all), and raises DeadlineExceeded if one does not."""
    rows = {new.topic: CreateRow(kind="topic", name=new.topic, about=new.topic, configs=new.configs) for new in wanted}

    def take(outcomes: Mapping[str, Created | KcliError], *, checked: bool) -> None:
        for name, made in outcomes.items():
            row = rows[name]
            if not isinstance(made, KcliError):
                row.partitions = made.partitions if made.partitions >= 0 else None
                row.replicas = made.replication_factor if made.replication_factor >= 0 else None
                row.topic_id = made.topic_id or None
                row.new = f"{row.partitions or 'default'} partitions, {row.replicas or 'default'} replicas"
                row.settle(None, unchanged=False if checked else None)
            elif if_not_exists and isinstance(made, BrokerError) and made.code is codes.TOPIC_ALREADY_EXISTS:
                row.settle(None, unchanged=True)
            else:
                row.settle(made)

    checked = await create_topics(cluster, wanted, dry_run=True)
    for new in wanted:
        await _name_config(cluster, checked[new.topic], new.configs)
    take(checked, checked=True)
    ready = [new for new in wanted if rows[new.topic].is_open]

    async def apply(cluster: Cluster) -> None:
        take(await create_topics(cluster, ready), checked=False)
        if patience is not None:
            created = [row.name for row in rows.values() if row.result == "created"]
            await wait_for_topics(cluster, created, timeout=patience)

    made = Plan(rows=list(rows.values()), adds=True)
    if ready:
        from kcli.declared.schema import ID

        document = {"schema": ID, "absent": {"topics": [new.topic for new in ready]}}
        made.apply, made.undo = apply, Undo(document=document, file="topics")
    return made


async def _name_config(cluster: Cluster, answer: Created | KcliError, wanted: Iterable[str]) -> None:
    """Append the config that was probably meant to a rejection; any topic lists the existing ones."""
    if not isinstance(answer, BrokerError) or answer.code is not codes.INVALID_CONFIG:
        return
    wrong = next((name for name in wanted if name in str(answer)), None)
    any_topic = next(iter(await describe_topics(cluster)), None)
    if wrong is not None and any_topic is not None:
        configs.add_hint(answer, await configs.nearest(cluster, Resource("topic", any_topic), wrong))


class AlterRow(Row):
    """The number of partitions of a topic, or one of its configs."""

    columns = "topic=name config=item old new result".split()


async def alter(cluster: Cluster, names: Iterable[str], count: int | None, operations: Sequence[Operation]) -> Plan:
    """Return the plan of `count` partitions, and of other configs, validated by the brokers: a row for each change of
    each topic. Nothing is sent if a part of it is rejected."""
    found = await find(cluster, names)
    topics = good(found)
    changes = {Resource("topic", name): list(operations) for name in topics} if operations else {}
    made = await configs.plan(cluster, changes, kind=AlterRow)
    for row in made.rows:
        row.about = row.name
    growing = {name: count for name, topic in topics.items() if count not in (None, len(topic.partitions))}
    refused = await grow_topics(cluster, growing, dry_run=True)
    grown: dict[str, Row] = {}
    for name, topic in topics.items() if count is not None else ():
        row = grown[name] = AlterRow(kind="topic", name=name, about=name, item="partitions")
        row.old, row.new = str(len(topic.partitions)), str(count)
        row.settle(refused.get(name), unchanged=name not in growing)
    order = list(topics)
    made.rows = sorted([*grown.values(), *made.rows], key=lambda row: order.index(row.name))
    made.failed, made.final = bad(found), bool(growing)
    if growing and made.undo is not None:
        made.warnings.append(f"undo cannot remove the new partitions of {', '.join(growing)}")
    alter_configs, made.apply = made.apply, None

    async def apply(cluster: Cluster) -> None:
        settle(grown, await grow_topics(cluster, growing))
        if alter_configs is not None:
            await alter_configs(cluster)

    if not (made.idle or made.failed or any(row.error for row in made.rows)):
        made.apply = apply
    return made


class TrimRow(Row):
    """The start of one partition's log. `beyond` is the requested position if it is past the end."""

    columns = "topic=name partition old new offsets note=beyond result".split()
    partition: int = 0
    offsets: int | None = None
    beyond: str | None = None
    result: str = "would trim"
    words: tuple[str, str, str] = ("would trim", "unchanged", "trimmed")


async def trim(cluster: Cluster, partitions: Sequence[TopicPartition], where: Bound) -> Plan:
    """Return the plan that permanently deletes the records before a position; nothing if the end of a log, or the
    offset of the position, is unknown."""
    from kcli.admin.groups.reset_plan import standings  # the other changes need none of these
    from kcli.admin.topics.delete_records import delete_records, new_start
    from kcli.seeking.last_records import found_at

    failed = await _compacted(cluster, {at.topic for at in partitions})
    partitions = [at for at in partitions if at.topic not in failed]
    ends = await standings(cluster, partitions)
    places = await found_at(cluster, partitions, where)
    rows: dict[TopicPartition, TrimRow] = {}
    wanted: dict[TopicPartition, int] = {}
    for at in sorted(partitions):
        about = f"{at.topic} [{at.partition}]"
        row = rows[at] = TrimRow(kind="topic", name=at.topic, about=about, partition=at.partition)
        known, place = ends[at], places.get(at)
        if isinstance(known, KcliError) or isinstance(place, KcliError):
            row.settle(known if isinstance(known, KcliError) else place)  # type: ignore[arg-type]  # one is an error
            continue
        new, beyond = new_start(where, known, place)
        row.old, row.new, row.offsets, row.beyond = known[0], new, new - known[0], beyond or None
        row.settle(None, unchanged=not row.offsets)
        row.note = row.beyond or (f"{row.offsets:,} offsets" if row.offsets else None)
        if row.offsets:
            wanted[at] = new

    async def apply(cluster: Cluster) -> None:
        starts = await delete_records(cluster, wanted)
        settle(rows, starts)
        for at, start in starts.items():
            rows[at].new = rows[at].new if isinstance(start, KcliError) else start

    return Plan(rows=list(rows.values()), apply=apply if wanted else None, failed=failed)


async def _compacted(cluster: Cluster, topics: Iterable[str]) -> dict[str, KcliError]:
    """Return the errors of compacted topics, whose records cannot be deleted because brokers keep the last one of each
    key."""
    failed: dict[str, KcliError] = {}
    for at, found in (await describe_configs(cluster, [Resource("topic", name) for name in topics])).items():
        values = {config.name: config.value or "" for config in found} if isinstance(found, list) else {}
        policy = values.get("cleanup.policy", "delete")  # without permission to read it, the broker decides
        if "delete" not in policy.split(","):
            failed[at.name] = KcliError(
                f"{at.name}: only a topic with cleanup.policy delete can be trimmed, and its policy is {policy}"
            )
    return failed


class DeleteRow(Row):
    """A topic to delete. `offsets` is an estimate of its records."""

    columns = "topic=name result partitions offsets".split()
    partitions: int | None = None
    offsets: int | None = None
    result: str = "would delete"
    words: tuple[str, str, str] = ("would delete", "absent", "deleted")


async def delete(
    cluster: Cluster,
    names: Sequence[str],
    *,
    if_exists: bool = False,
    internal: bool = False,
    patience: float | None = None,
) -> Plan:
    """Return the plan that deletes topics with their records, Kafka's own only with `internal`. With `if_exists` a
    missing topic is not an error. `patience` is as in `create`: until no broker knows them."""
    from kcli.admin.topics.stats import spans

    found = await (describe_topics if if_exists else find)(cluster, names)
    offsets = await spans(cluster, good(found))
    rows = {name: DeleteRow(kind="topic", name=name, about=name) for name in names}
    for name, row in rows.items():
        topic = found[name]
        if isinstance(topic, KcliError):
            _gone(row, topic, if_exists)
        elif topic.internal and not internal:
            row.settle(KcliError(f"{name}: this is an internal topic of Kafka").hinted("internal-topic"))
            row.result = "refused"
        else:
            row.partitions, row.offsets = len(topic.partitions), offsets.get(name)
            row.old = f"{row.partitions} partitions, {'?' if row.offsets is None else f'{row.offsets:,}'} offsets"
    ready = [name for name, row in rows.items() if row.is_open]

    async def apply(cluster: Cluster) -> None:
        for name, outcome in (await delete_topics(cluster, ready)).items():
            _gone(rows[name], outcome, if_exists)
        if patience is not None:
            gone = [name for name, row in rows.items() if row.result == "deleted"]
            await wait_for_topics(cluster, gone, gone=True, timeout=patience)

    return Plan(rows=list(rows.values()), apply=apply if ready else None)


def _gone(row: Row, outcome: bool | KcliError, if_exists: bool) -> None:
    absent = if_exists and isinstance(outcome, TopicMissing)
    row.settle(outcome if isinstance(outcome, KcliError) and not absent else None, unchanged=absent or None)
