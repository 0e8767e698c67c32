"""Declared topics: created, given more partitions and other configs, and deleted if declared absent.

Fewer partitions, and another replication factor, cannot be declared: they are refused with the command to run.
"""

from __future__ import annotations

from kcli.admin.configs import Resource, own
from kcli.admin.topics.delete_records import grow_topics
from kcli.admin.topics.stats import spans
from kcli.admin.topics.topics import NewTopic, create_topics, delete_topics, describe_topics, wait_for_topics
from kcli.admin.topics.topics import Topic as Standing
from kcli.asking.fan_out import good
from kcli.asking.leaders import TopicMissing
from kcli.changes.declared import configs
from kcli.changes.declared.step import ADD, REMOVE, Stage, Step
from kcli.declared.model import Settings, Topic
from kcli.declared.secrets import HIDDEN
from kcli.errors import KcliError
from kcli.text.numbers import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping

    from kcli.changes.declared.plan import ClusterPlan
    from kcli.changes.declared.step import Changes
    from kcli.declared.secrets import Secrets

MOST_TOPICS, MOST_PARTITIONS, UNTOLD = 1000, 4000, 10
"""Limits of one request; a controller rejects more than 10,000 partitions at once. UNTOLD counts topics without a
number of partitions."""


async def compare(plan: ClusterPlan) -> list[Step]:
    """Return the steps for topics. Raises KcliError if the metadata cannot be read."""
    of, everything = plan.declared, plan.whole("topics")
    names = [*of.topics, *of.absent_topics]
    topics = await describe_topics(plan.cluster, None if everything else names, internal=True)
    there = good(topics)
    wanted = {Resource("topic", name): topic.settings for name, topic in of.topics.items() if name in there}
    known = await configs.read(plan.cluster, wanted, whole=everything)
    steps: list[Step] = []
    for name, topic in of.topics.items():
        state = topics.get(name)
        if isinstance(state, KcliError) and not isinstance(state, TopicMissing):
            steps.append(Step(stage=configs.SET, kind="topic", name=name, place=topic.place).fail(state))
        elif not isinstance(state, Standing):
            steps.append(_created(name, topic))
        else:
            at = Resource("topic", name)
            steps += _sized(name, topic, state)
            steps += configs.steps(plan, at, topic.settings, known[at], prune=plan.prunes("topics", name))
    surplus = [name for name in of.absent_topics if name in there]
    surplus += [name for name in there if everything and name not in names and plan.prunes("topics", name)]
    return steps + await _removed(plan, {name: there[name] for name in surplus if not there[name].internal})


def _created(name: str, topic: Topic) -> Step:
    step = Step(stage=CREATE, kind="topic", name=name, sign=ADD, place=topic.place, key=name, value=topic)
    for what, count in (("partitions", topic.partitions), ("replication", topic.replication)):
        if count is not None:
            step.part(what, new=str(count))
    for key, setting in topic.settings.values.items():
        step.part(key, new=setting.value if isinstance(setting.value, str) else HIDDEN)
    if not step.rows:
        step.part("partitions", new="the broker's default")
    step.undo = {"absent": {"topics": [name]}}
    return step


def _sized(name: str, topic: Topic, state: Standing) -> Iterator[Step]:
    have, replicas = len(state.partitions), state.replication_factor
    if topic.partitions is not None and topic.partitions != have:
        step = Step(stage=GROW, kind="topic", name=name, place=topic.place, key=name, value=topic.partitions)
        step.part("partitions", str(have), str(topic.partitions))
        if topic.partitions < have:
            why = f"{name} has {have} partitions, which cannot be reduced: create another topic with {topic.partitions}"
            error = KcliError(f"{topic.place}: {why}, and copy the records").hinted("copy-topic", topic=name)
            step.fail(error, refused=True)
        yield step
    if topic.replication is not None and topic.replication != replicas:
        step = Step(stage=GROW, kind="topic", name=name, place=topic.place)
        step.part("replication", str(replicas), str(topic.replication))
        why = f"{name} has {counted(replicas, 'replica')} of each partition, not {topic.replication}: reassign them"
        error = KcliError(f"{topic.place}: {why}").hinted("reassign-topic", topic=name, replicas=topic.replication)
        yield step.fail(error, refused=True)


async def _removed(plan: ClusterPlan, topics: dict[str, Standing]) -> list[Step]:
    """Return the steps that delete topics, with their number of records as far as offsets tell."""
    if not topics:
        return []
    offsets = await spans(plan.cluster, topics)
    known = await configs.read(plan.cluster, {Resource("topic", name): Settings() for name in topics}, whole=True)
    steps = []
    for name, topic in topics.items():
        step = Step(stage=DELETE, kind="topic", name=name, sign=REMOVE, key=name)
        step.place = plan.declared.absent_topics.get(name, "")
        step.part("partitions", str(len(topic.partitions)))
        count = offsets.get(name)
        step.part("records", "unknown" if count is None else str(count))
        at = Resource("topic", name)
        if isinstance(state := known[at], KcliError):
            step.fail(state)  # an unknown value could not be restored
        else:
            mine = {key: config.value for key, config in state.items() if own(at, config)}
            shape = {"partitions": len(topic.partitions), "replication": topic.replication_factor}
            step.undo = {"topics": {name: {**shape, "configs": mine}}}
        steps.append(step)
    return steps


# -- applying ---------------------------------------------------------------------------------------------------------


def _new(step: Step, secrets: Secrets) -> NewTopic:
    topic: Topic = step.value
    return NewTopic(
        topic=step.name,
        configs={name: secrets.text(value) for name, value in topic.settings.values.items()},
        partitions=topic.partitions or -1,
        replication_factor=topic.replication or -1,
    )


async def _create(plan: ClusterPlan, changes: Changes, dry_run: bool) -> dict[str, object]:
    sizes = {name: max(new.partitions, 0) or UNTOLD for name, new in changes.items()}
    outcomes = await _in_pieces(
        sizes, lambda names: create_topics(plan.cluster, [changes[name] for name in names], dry_run=dry_run)
    )
    if not dry_run:
        await _wait(plan, outcomes, gone=False)
    return outcomes


async def _delete(plan: ClusterPlan, changes: Changes, dry_run: bool) -> dict[str, object]:
    outcomes = await _in_pieces(dict.fromkeys(changes, 1), lambda names: delete_topics(plan.cluster, names))
    outcomes = {name: None if isinstance(outcome, TopicMissing) else outcome for name, outcome in outcomes.items()}
    await _wait(plan, outcomes, gone=True)
    return outcomes


async def _in_pieces(
    sizes: dict[str, int], send: Callable[[list[str]], Awaitable[Mapping[str, object]]]
) -> dict[str, object]:
    """Send as many requests as topics of these sizes need, and return the outcomes."""
    outcomes: dict[str, object] = {}
    for names in pieces(sizes):
        try:
            outcomes |= await send(names)
        except KcliError as error:
            outcomes |= dict.fromkeys(names, error)
    return outcomes


async def _wait(plan: ClusterPlan, outcomes: dict[str, object], *, gone: bool) -> None:
    """Wait until every broker knows the change, for a limited time: it is made in any case, and `ClusterPlan.settled`
    checks again."""
    names = [name for name, outcome in outcomes.items() if not isinstance(outcome, KcliError)]
    try:
        await wait_for_topics(plan.cluster, names, gone=gone)
    except KcliError:
        return


def pieces(sizes: dict[str, int]) -> Iterator[list[str]]:
    """Yield as many topics as one request may have, given the number of their partitions."""
    some: list[str] = []
    size = 0
    for name, more in sizes.items():
        if some and (len(some) >= MOST_TOPICS or size + more > MOST_PARTITIONS):
            yield some
            some, size = [], 0
        some.append(name)
        size += more
    if some:
        yield some


CREATE = Stage(order=10, send=_create, made=_new)
GROW = Stage(order=11, send=lambda plan, changes, dry_run: grow_topics(plan.cluster, changes, dry_run=dry_run))
DELETE = Stage(order=90, send=_delete, checks=False, removes=True)
