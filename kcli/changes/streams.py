"""The reset of a Kafka Streams application: the offsets of its topics, and its internal topics, which are deleted.

It matches Kafka's StreamsResetter. The local state of the application's instances has to be cleaned up there.
"""

from __future__ import annotations

from re import compile as pattern

from kcli.admin.groups.members import MemberMissing, refusal_to_remove
from kcli.admin.groups.reset_plan import GroupLive
from kcli.admin.topics.topics import describe_topics
from kcli.asking.fan_out import bad, good
from kcli.changes import groups, offset_forms, offsets, topics
from kcli.changes.change import Plan
from kcli.errors import KcliError, UsageError
from kcli.model import TopicPartition
from kcli.text.numbers import counted
from kcli.values import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kcli.admin.groups.reset_plan import Target
    from kcli.admin.topics.topics import Topic
    from kcli.changes.offset_forms import Prepare
    from kcli.model import Cluster

INTERNAL = pattern(
    r".+-(changelog|repartition|subscription-(registration|response)-topic)"
    r"|.+-KTABLE-FK-JOIN-SUBSCRIPTION-(REGISTRATION|RESPONSE)-\d+-topic"
)
"""Suffixes of the topics that Kafka Streams creates; each name begins with the application id."""


class Reset(Frozen):
    """What to reset of an application: `inputs` to the positions of `prepare`, `intermediates` to their ends. With
    `committed`, all other topics with committed offsets are inputs, too. `internal` are the internal topics to delete,
    None all. With `force` its members are removed first."""

    application: str = ""
    inputs: Sequence[str] = ()
    intermediates: Sequence[str] = ()
    internal: Sequence[str] | None = None
    committed: bool = False
    force: bool = False
    prepare: Prepare | offset_forms.Rewind = offset_forms.ready(offset_forms.earliest)


async def plan(cluster: Cluster, wanted: Reset) -> Plan:
    """Return the plan: a row for each partition, one for each internal topic, and with `force` one for each member.

    If the application is running and its members stay, all rows are refused; if an offset cannot be reset, no topic is
    deleted. Raises KcliError for topics that do not exist.
    """
    application = wanted.application
    for problem in bad(await topics.find(cluster, (*wanted.inputs, *wanted.intermediates))).values():
        raise problem
    known = good(await describe_topics(cluster))
    refusal: KcliError | None = None
    gone: list[str] = []
    forced = False

    def parts(target: Target) -> list[tuple[list[TopicPartition], Prepare | offset_forms.Rewind]]:
        nonlocal refusal, gone, forced
        if wanted.force and target.described is not None and isinstance(target.refusal, GroupLive):
            target.refusal = refusal_to_remove(target.described)
            forced = target.refusal is None
        refusal = target.refusal
        if target.share:
            raise KcliError(f"{application}: this is a share group, not a Kafka Streams application")
        internal = internal_topics(application, known, target)
        gone = _chosen(internal, wanted.internal)
        inputs = dict.fromkeys(wanted.inputs)
        if wanted.committed:
            inputs |= dict.fromkeys(at.topic for at in target.committed if at.topic in known)
        for name in (*wanted.intermediates, *internal):
            inputs.pop(name, None)
        latest = offset_forms.ready(offset_forms.latest)
        return [(_partitions(known, inputs), wanted.prepare), (_partitions(known, wanted.intermediates), latest)]

    made = await offsets.plan_parts(cluster, application, parts)
    deletion = await topics.delete(cluster, gone)
    if not made.rows and not gone:
        raise await offsets.missing(cluster, application)
    removal = await groups.plan_removal(cluster, application, None) if forced else Plan()
    return _joined(removal, made, deletion, refusal)


def internal_topics(application: str, known: Iterable[str], target: Target) -> list[str]:
    """Return the topics that the application created: by their names, and by the topology of a streams group."""
    named = {name for name in known if name.startswith(f"{application}-") and INTERNAL.fullmatch(name)}
    described = set() if target.described is None else {*target.described.internal_topics} & {*known}
    return sorted(named | described)


def _chosen(internal: list[str], wanted: Sequence[str] | None) -> list[str]:
    if wanted is None:
        return internal
    if others := [name for name in wanted if name not in internal]:
        there = f"its internal topics are {', '.join(internal)}" if internal else "it has none"
        raise UsageError(f"{', '.join(others)}: not an internal topic of this application; {there}")
    return list(wanted)


def _partitions(known: Mapping[str, Topic], names: Iterable[str]) -> list[TopicPartition]:
    return [TopicPartition(name, partition.partition) for name in names for partition in known[name].partitions]


def _joined(removal: Plan, made: Plan, deletion: Plan, refusal: KcliError | None) -> Plan:
    """Combine the plans: first the members, then the offsets, then the topics."""
    members, moves, losses = list(removal.rows), list(made.rows), list(deletion.rows)
    for row in members:
        row.section = "members"
    for row in moves:
        row.section = "partitions"
    for row in losses:
        row.section = "topics"
        if refusal is not None:
            row.settle(refusal)
            row.result = "refused"
    remove, reset, delete = removal.apply, made.apply, deletion.apply

    async def apply(cluster: Cluster) -> None:
        if remove is not None:
            await remove(cluster)
        if any(row.error is not None and not isinstance(row.error, MemberMissing) for row in members):
            kept = KcliError("offsets and internal topics were not changed, because not all members were removed")
            for row in (*moves, *losses):
                if row.is_open:
                    row.settle(kept)
            return
        if reset is not None:
            await reset(cluster)
        if any(row.error is not None for row in moves):
            for row in losses:
                row.settle(KcliError(f"{row.name}: not deleted, because not all offsets were reset"))
        elif delete is not None:
            await delete(cluster)

    made.rows = [*members, *moves, *losses]
    made.failed |= removal.failed
    made.final = any(row.is_open for row in losses)
    if made.final:
        count = counted(len(losses), "internal topic")
        made.warnings.append(f"{count} with all records cannot be restored; undo restores only offsets")
    made.apply = None
    return made if any(row.error is not None for row in made.rows) else made.applied_by(apply)
