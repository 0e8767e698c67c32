"""Declared topics: created, given more partitions and other configs, and removed where they are declared absent.

Fewer partitions, and another number of replicas, are no matter of a declaration: they are refused with what to run.
"""

from __future__ import annotations

from collections.abc import Iterator

from kcli.admin.configs.resources import Resource, own
from kcli.admin.topics.partitions import grow_topics
from kcli.admin.topics.topics import NewTopic, create_topics, delete_topics, describe_topics, wait_for_topics
from kcli.admin.topics.topics import Topic as Standing
from kcli.asking.fan_out import good
from kcli.asking.leaders import TopicMissing
from kcli.asking.offsets import EARLIEST, LATEST, list_offsets
from kcli.declared.kinds import settings
from kcli.declared.model import ADD, REMOVE, Declared, Item, Settings, Step, Topic
from kcli.declared.secrets import HIDDEN, Secrets
from kcli.errors import KcliError
from kcli.model import Cluster, TopicPartition

CREATE, GROW, CONFIGS, DELETE = 10, 11, settings.CONFIGS, 90
MOST_TOPICS, MOST_PARTITIONS, UNTOLD = 1000, 4000, 10
"""Of one request; a controller refuses more than 10,000 partitions at once. UNTOLD is for one that does not say."""


async def plan(cluster: Cluster, declared: Declared, *, prune: bool, secrets: bool) -> list[Step]:
    """What differs. Raises KcliError when the metadata cannot be read."""
    everything = prune and bool(declared.scope.get("topics"))
    names = [*declared.topics, *declared.absent_topics]
    topics = await describe_topics(cluster, None if everything else names, internal=True)
    there = good(topics)
    wanted = {Resource("topic", name): topic.settings for name, topic in declared.topics.items() if name in there}
    known = await settings.look(cluster, wanted, whole=everything)
    steps: list[Step] = []
    for name, topic in declared.topics.items():
        state = topics.get(name)
        if isinstance(state, KcliError) and not isinstance(state, TopicMissing):
            steps.append(Step(kind="topic", name=name, place=topic.place, problem=state, order=CONFIGS))
        elif not isinstance(state, Standing):
            steps.append(_created(name, topic))
        else:
            steps += _sized(name, topic, state)
            at = Resource("topic", name)
            pruned = prune and declared.selected("topics", name)
            steps += settings.configured(at, topic.settings, known[at], prune=pruned, secrets=secrets)
    surplus = [name for name in declared.absent_topics if name in there]
    if everything:
        surplus += [name for name in there if name not in names and declared.selected("topics", name)]
    return steps + await _removed(cluster, [there[name] for name in surplus if not there[name].internal], declared)


def _created(name: str, topic: Topic) -> Step:
    said = {"partitions": topic.partitions, "replication": topic.replication}
    items = [Item(sign=ADD, what=what, new=str(count)) for what, count in said.items() if count is not None]
    values = topic.settings.values
    shown = {key: value.value if isinstance(value.value, str) else HIDDEN for key, value in values.items()}
    items += [Item(sign=ADD, what=key, new=value) for key, value in shown.items()]
    return Step(
        kind="topic",
        name=name,
        sign=ADD,
        order=CREATE,
        place=topic.place,
        do=topic,
        items=items or [Item(sign=ADD, what="partitions", new="the broker's default")],
        undo={"absent": {"topics": [name]}},
    )


def _sized(name: str, topic: Topic, state: Standing) -> Iterator[Step]:
    have, replicas = len(state.partitions), state.replication_factor
    if topic.partitions is not None and topic.partitions != have:
        step = Step(kind="topic", name=name, order=GROW, place=topic.place, do=topic.partitions)
        step.items = [Item(what="partitions", old=str(have), new=str(topic.partitions))]
        if topic.partitions < have:
            step.refused = True
            step.problem = KcliError(
                f"{topic.place}: {name} has {have} partitions, and no topic can have fewer: create another with "
                f"{topic.partitions}, and copy the records"
            ).hinted("copy-topic", topic=name)
        yield step
    if topic.replication is not None and topic.replication != replicas:
        step = Step(kind="topic", name=name, order=GROW, place=topic.place, refused=True)
        step.items = [Item(what="replication", old=str(replicas), new=str(topic.replication))]
        step.problem = KcliError(
            f"{topic.place}: {name} has {replicas} replicas of each partition, not {topic.replication}: reassign them"
        ).hinted("reassign-topic", topic=name, replicas=topic.replication)
        yield step


async def _removed(cluster: Cluster, topics: list[Standing], declared: Declared) -> list[Step]:
    """With how many records they have, as far as offsets tell."""
    parts = [TopicPartition(topic.topic, p.partition) for topic in topics for p in topic.partitions]
    starts = good(await list_offsets(cluster, dict.fromkeys(parts, EARLIEST), patience=1.0)) if parts else {}
    ends = good(await list_offsets(cluster, dict.fromkeys(parts, LATEST), patience=1.0)) if parts else {}
    wanted = {Resource("topic", topic.topic): Settings() for topic in topics}
    known = await settings.look(cluster, wanted, whole=True) if topics else {}
    steps = []
    for topic in topics:
        here = [TopicPartition(topic.topic, p.partition) for p in topic.partitions]
        told = [ends[at].offset - starts[at].offset for at in here if at in ends and at in starts]
        records = f"{sum(told)}{'' if len(told) == len(here) else ' or more'}"
        at = Resource("topic", topic.topic)
        configs = known[at]
        mine = {} if isinstance(configs, KcliError) else {k: c.value for k, c in configs.items() if own(at, c)}
        shape = {"partitions": len(topic.partitions), "replication": topic.replication_factor}
        steps.append(
            Step(
                kind="topic",
                name=topic.topic,
                sign=REMOVE,
                order=DELETE,
                place=declared.absent_topics.get(topic.topic, ""),
                items=[
                    Item(sign=REMOVE, what="partitions", old=str(len(here))),
                    Item(sign=REMOVE, what="records", old=records),
                ],
                undo={"topics": {topic.topic: {**shape, "configs": mine}}},
                problem=configs if isinstance(configs, KcliError) else None,  # an unknown value cannot be restored
            )
        )
    return steps


async def carry_out(cluster: Cluster, steps: list[Step], secrets: Secrets, *, dry_run: bool) -> None:
    """Do, or have the brokers check, steps of one order."""
    order = steps[0].order
    if order == CONFIGS:
        await settings.alter(cluster, steps, secrets, dry_run=dry_run)
    elif order == GROW:
        grown = await grow_topics(cluster, {step.name: step.do for step in steps}, dry_run=dry_run)
        for step in steps:
            _settle(step, grown[step.name], dry_run=dry_run)
    elif order == CREATE:
        await _create(cluster, steps, secrets, dry_run=dry_run)
    elif not dry_run:
        for some in _pieces(steps):
            gone = await delete_topics(cluster, [step.name for step in some])
            for step in some:
                result = gone.get(
                    step.name, KcliError(f"{step.name}: the broker's response does not contain this topic")
                )
                problem = result if isinstance(result, KcliError) and not isinstance(result, TopicMissing) else None
                _settle(step, problem, dry_run=False)
        await wait_for_topics(cluster, [step.name for step in steps if step.done], gone=True)


async def _create(cluster: Cluster, steps: list[Step], secrets: Secrets, *, dry_run: bool) -> None:
    for some in _pieces(steps):
        new = []
        for step in some:
            topic: Topic = step.do
            try:
                configs = {name: secrets.text(value) for name, value in topic.settings.values.items()}
            except KcliError as error:
                step.problem, step.refused = error, True
                continue
            new.append(
                NewTopic(
                    topic=step.name,
                    configs=configs,
                    partitions=topic.partitions or -1,
                    replication_factor=topic.replication or -1,
                )
            )
        created = await create_topics(cluster, new, dry_run=dry_run) if new else {}
        for step in (step for step in some if step.problem is None):
            result = created.get(
                step.name, KcliError(f"{step.name}: the broker's response does not contain this topic")
            )
            _settle(step, result if isinstance(result, KcliError) else None, dry_run=dry_run)
    if not dry_run:
        await wait_for_topics(cluster, [step.name for step in steps if step.done])


def _settle(step: Step, problem: KcliError | None, *, dry_run: bool) -> None:
    step.problem = problem
    step.done = problem is None and not dry_run


def _pieces(steps: list[Step]) -> Iterator[list[Step]]:
    """As many topics as one request may have."""
    some: list[Step] = []
    size = 0
    for step in steps:
        more = (step.do.partitions or UNTOLD) if step.sign == ADD else 1
        if some and (len(some) >= MOST_TOPICS or size + more > MOST_PARTITIONS):
            yield some
            some, size = [], 0
        some.append(step)
        size += more
    if some:
        yield some
