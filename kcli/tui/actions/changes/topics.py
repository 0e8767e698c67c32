"""Changes of a topic: create one, delete records before an offset, elect its leaders."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from kcli.admin.cluster.elections import elect_leaders, is_preferred, why_not_preferred
from kcli.admin.groups.reset_plan import standings
from kcli.admin.topics.delete_records import delete_records, new_start
from kcli.admin.topics.topics import (
    NewTopic,
    Partition,
    Topic,
    create_topics,
    describe_topics,
    wait_for_topics,
)
from kcli.asking.leaders import TopicMissing
from kcli.errors import KcliError, UsageError
from kcli.grammar.offsets import one_place
from kcli.model import TopicPartition
from kcli.seeking.last_records import found_at
from kcli.tui.actions.changes.change import Ask, Change, Plan, Step
from kcli.tui.actions.changes.configs import pairs
from kcli.tui.text.formatting import exact
from kcli.tui.text.printable import printable, quoted

if TYPE_CHECKING:
    from kcli.client import Client
    from kcli.tui.actions.changes.change import Given


def described(answers: dict[str, Topic | KcliError], name: str) -> Topic:
    """The topic of an answer. Raises KcliError."""
    found = answers.get(name) or TopicMissing(name)
    if isinstance(found, KcliError):
        raise found
    return found


def number(given: Given, name: str) -> int:
    """A field that may be empty: the broker decides then. Raises UsageError."""
    text = given[name].strip()
    if text and not (text.isascii() and text.isdigit() and 0 < int(text) < 2**31):
        raise UsageError(f"{name}: expected a number from 1 on, or nothing for the broker's default, not {text!r}")
    return int(text) if text else -1


class CreateTopic(Change):
    """A new topic. The broker checks the plan."""

    title = "Create a topic"
    asks = (
        Ask("name", "name", "of the topic"),
        Ask("partitions", "partitions", "the broker's default"),
        Ask("replicas", "replicas", "the broker's default"),
        Ask("configs", "configs", "KEY=VALUE …, such as retention.ms=7d cleanup.policy=compact"),
    )

    def command(self, given: Given) -> str:
        words = ["kcli topics create", quoted(given["name"].strip()) if given["name"].strip() else "TOPIC"]
        words += [f"-p {quoted(given['partitions'].strip())}"] if given["partitions"].strip() else []
        words += [f"-r {quoted(given['replicas'].strip())}"] if given["replicas"].strip() else []
        words += [f"--config {quoted(word)}" for word in given["configs"].split()]
        return " ".join(words)

    async def plan(self, client: Client, given: Given) -> Plan:
        name = given["name"].strip()
        if not name:
            raise UsageError("name: a topic needs a name")
        self.word = name
        topic = NewTopic(
            topic=name,
            partitions=number(given, "partitions"),
            replication_factor=number(given, "replicas"),
            configs=pairs(given["configs"]),
        )
        checked = (await create_topics(client.cluster, [topic], dry_run=True))[name]
        if isinstance(checked, KcliError):
            raise checked
        shape = f"{_or_default(checked.partitions)} partitions, {_or_default(checked.replication_factor)} replicas"
        step = Step(what=name, new=shape, result="would create")

        async def carry_out(client: Client) -> str:
            done = (await create_topics(client.cluster, [topic]))[name]
            if isinstance(done, KcliError):
                step.failed(done)
                return ""
            step.result = "created"
            try:
                await wait_for_topics(client.cluster, [name])
            except KcliError as problem:
                step.note = str(problem)
            return f"kcli topics delete {quoted(name)} --execute"

        return Plan(steps=[step], carry_out=carry_out)


def _or_default(count: int) -> str:
    return str(count) if count > 0 else "default"


class TrimTopic(Change):
    """The records of a topic before a place, or of one partition of it, are deleted for good."""

    def __init__(self, topic: str, partition: int | None = None, before: str = "@-7d") -> None:
        """`before` is in the field at first."""
        self.asks = (Ask("before", "before", "@-7d (a time), end, 4711 (an offset), -1000 (all but the last)", before),)
        self.topic = self.word = topic
        self.partition = partition
        self._name = topic if partition is None else f"{topic}:{partition}"
        self.title = f"Delete records of {printable(self._name)}: this cannot be undone"

    def command(self, given: Given) -> str:
        return f"kcli topics trim {quoted(self._name)} --before {quoted(given['before'].strip() or '…')} --execute"

    async def plan(self, client: Client, given: Given) -> Plan:
        where = one_place(given["before"].strip(), time.time_ns() // 1_000_000)
        topic = described(await describe_topics(client.cluster, [self.topic]), self.topic)
        parts = [
            TopicPartition(self.topic, one.partition)
            for one in topic.partitions
            if self.partition in (None, one.partition)
        ]
        ends = await standings(client.cluster, parts)
        places = await found_at(client.cluster, parts, where)
        steps: dict[TopicPartition, Step] = {}
        wanted: dict[TopicPartition, int] = {}
        for at in sorted(parts):
            step = steps[at] = Step(what=f"{at.topic}[{at.partition}]")
            known, found = ends[at], places.get(at)
            if isinstance(known, KcliError):
                step.failed(known)
                continue
            if isinstance(found, KcliError):
                step.failed(found)
                continue
            new, step.note = new_start(where, known, found)
            step.old, step.new = exact(known[0]), exact(new)
            step.result = "would trim" if new > known[0] else "unchanged"
            if new > known[0]:
                wanted[at] = new
                step.note = step.note or f"{exact(new - known[0])} offsets"

        async def carry_out(client: Client) -> str:
            for at, outcome in (await delete_records(client.cluster, wanted)).items():
                if isinstance(outcome, KcliError):
                    steps[at].failed(outcome)
                else:
                    steps[at].result, steps[at].new = "trimmed", exact(outcome)
            return ""

        return Plan(steps=list(steps.values()), carry_out=carry_out if wanted else None)


class ElectLeaders(Change):
    """The preferred leaders of a topic's partitions; without a topic of all topics but internal ones."""

    def __init__(self, topic: str = "") -> None:
        self.topic = topic
        self.word = topic or "all topics"
        self.title = f"Elect the preferred leaders of {f'topic {printable(topic)}' if topic else 'all topics'}"

    def command(self, given: Given) -> str:
        return f"kcli leaders elect {quoted(self.topic) if self.topic else '--all-topics'} --execute"

    async def plan(self, client: Client, given: Given) -> Plan:
        steps: dict[TopicPartition, Step] = {}
        wanted = []
        for one in await self._partitions(client):
            at = TopicPartition(one.topic, one.partition)
            if is_preferred(one):
                if self.topic:
                    steps[at] = Step(what=f"{at.topic}[{at.partition}]", old=_led(one.leader), new=_led(one.leader))
                    steps[at].result = "not needed"
                continue
            new = _led(one.replicas[0]) if one.replicas else ""
            step = Step(what=f"{at.topic}[{at.partition}]", old=_led(one.leader), new=new, result="would elect")
            step.note = why_not_preferred(one)
            steps[at] = step
            wanted.append(at)

        async def carry_out(client: Client) -> str:
            for at, outcome in (await elect_leaders(client.cluster, wanted)).items():
                if isinstance(outcome, KcliError):
                    steps[at].failed(outcome)
                else:
                    steps[at].result = "elected" if outcome else "not needed"
            return ""

        return Plan(steps=list(steps.values()), carry_out=carry_out if wanted else None)

    async def _partitions(self, client: Client) -> list[Partition]:
        """Those of the topic, or of all. Raises KcliError."""
        if self.topic:
            return described(await describe_topics(client.cluster, [self.topic]), self.topic).partitions
        topics = (await describe_topics(client.cluster, None, internal=False)).values()
        return [one for topic in topics if isinstance(topic, Topic) for one in topic.partitions]


def _led(broker: int) -> str:
    return f"leader {broker}" if broker >= 0 else "no leader"
