"""Changes of a topic: create one, set its configs, delete records before an offset, elect its leaders."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from kcli.admin.cluster.elections import elect_leaders, is_preferred, why_not_preferred
from kcli.admin.configs.resources import DELETE, SET, Operation, Resource, alter_configs, describe_configs, foreseen
from kcli.admin.configs.undo import before, document
from kcli.admin.groups.reset_plan import standings
from kcli.admin.topics.delete_records import delete_records, new_start
from kcli.admin.topics.topics import (
    NewTopic,
    Topic,
    create_topics,
    describe_topics,
    wait_for_topics,
)
from kcli.asking.leaders import TopicMissing
from kcli.asking.offsets import list_offsets
from kcli.declared.units import plain
from kcli.errors import KcliError, UsageError
from kcli.grammar.offsets import one_place
from kcli.model import TopicPartition
from kcli.tui.actions.changes.change import Ask, Change, Plan, Step, keep
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


def pairs(text: str) -> dict[str, str]:
    """`retention.ms=7d cleanup.policy=compact` as Kafka wants the values. Raises UsageError."""
    found: dict[str, str] = {}
    for word in text.split():
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise UsageError(f"{word}: expected KEY=VALUE, such as retention.ms=7d")
        found[name] = plain(name, value)
    return found


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
            await wait_for_topics(client.cluster, [name])
            return f"kcli topics delete {quoted(name)} --execute"

        return Plan(steps=[step], carry_out=carry_out)


def _or_default(count: int) -> str:
    return str(count) if count > 0 else "default"


class AlterTopic(Change):
    """Configs of a topic: set, or removed by a KEY without a value: the topic inherits then."""

    asks = (Ask("configs", "configs", "KEY=VALUE …; KEY= alone takes the override away"),)

    def __init__(self, topic: str, name: str = "", value: str = "") -> None:
        self.topic = self.word = topic
        self.title = f"Change configs of topic {printable(topic)}"
        if name:
            self.asks = (self.asks[0]._replace(value=f"{name}={value}"),)

    def command(self, given: Given) -> str:
        words = given["configs"].split()
        sets = [word for word in words if not word.endswith("=")]
        drops = [word.removesuffix("=") for word in words if word.endswith("=")]
        at = quoted(self.topic)
        parts = [f"kcli configs set topic {at} {' '.join(map(quoted, sets))} --execute"] if sets or not drops else []
        parts += [f"kcli configs unset topic {at} {' '.join(map(quoted, drops))} --execute"] if drops else []
        return " && ".join(parts)

    async def plan(self, client: Client, given: Given) -> Plan:
        wanted = pairs(" ".join(word for word in given["configs"].split() if not word.endswith("=")))
        drops = [word.removesuffix("=") for word in given["configs"].split() if word.endswith("=")]
        if not wanted and not drops:
            raise UsageError("configs: KEY=VALUE, such as retention.ms=7d")
        at = Resource("topic", self.topic)
        operations = [Operation(name=name, how=SET, value=value) for name, value in wanted.items()]
        operations += [Operation(name=name, how=DELETE) for name in drops]
        known = await describe_configs(client.cluster, [at])
        configs, checked = known[at], (await alter_configs(client.cluster, {at: operations}, dry_run=True))[at]
        if isinstance(configs, KcliError) or checked is not None:
            raise checked or configs  # type: ignore[misc]  # one of the two is an error
        by_name = {config.name: config for config in configs}
        steps = []
        for operation in operations:
            old = by_name.get(operation.name)
            new, same = foreseen(at, operation, old)
            was = "" if old is None else "***" if old.secret else old.value or ""
            result = "unchanged" if same else "would change"
            steps.append(Step(what=operation.name, old=was, new=new or "", result=result))

        async def carry_out(client: Client) -> str:
            rows, _ = before({at: operations}, known)
            back = await keep(client, f"topic-{self.topic}", document(rows), "kcli configs restore {}")
            problem = (await alter_configs(client.cluster, {at: operations}))[at]
            for step in steps:
                if problem is not None:
                    step.failed(problem)
                elif step.result == "would change":
                    step.result = "done"
            return back if problem is None else ""

        idle = all(step.result == "unchanged" for step in steps)
        return Plan(steps=steps, carry_out=None if idle else carry_out)


class TrimTopic(Change):
    """The records of a topic before a place, or of one partition of it, are deleted for good."""

    asks = (Ask("before", "before", "@-7d (a time), end, 4711 (an offset), -1000 (all but the last)", "@-7d"),)

    def __init__(self, topic: str, partition: int | None = None) -> None:
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
        times = await list_offsets(client.cluster, dict.fromkeys(parts, where.value)) if where.kind == "time" else {}
        steps: dict[TopicPartition, Step] = {}
        wanted: dict[TopicPartition, int] = {}
        for at in sorted(parts):
            step = steps[at] = Step(what=f"{at.topic}[{at.partition}]")
            known, written = ends[at], times.get(at)
            if isinstance(known, KcliError) or isinstance(written, KcliError):
                step.failed(known if isinstance(known, KcliError) else written)
                continue
            new, step.note = new_start(where, known, written)
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
    """The preferred leaders of a topic's partitions."""

    def __init__(self, topic: str) -> None:
        self.topic = self.word = topic
        self.title = f"Elect the preferred leaders of topic {printable(topic)}"

    def command(self, given: Given) -> str:
        return f"kcli leaders elect {quoted(self.topic)} --execute"

    async def plan(self, client: Client, given: Given) -> Plan:
        topic = described(await describe_topics(client.cluster, [self.topic]), self.topic)
        steps: dict[TopicPartition, Step] = {}
        wanted = []
        for one in topic.partitions:
            at = TopicPartition(self.topic, one.partition)
            step = steps[at] = Step(what=f"{self.topic}[{one.partition}]", old=f"leader {one.leader}")
            step.result, step.new = "not needed", step.old
            if not is_preferred(one):
                step.result, step.note = "would elect", why_not_preferred(one)
                step.new = f"leader {one.replicas[0]}" if one.replicas else ""
                wanted.append(at)

        async def carry_out(client: Client) -> str:
            for at, outcome in (await elect_leaders(client.cluster, wanted)).items():
                if isinstance(outcome, KcliError):
                    steps[at].failed(outcome)
                else:
                    steps[at].result = "elected" if outcome else "not needed"
            return ""

        return Plan(steps=list(steps.values()), carry_out=carry_out if wanted else None)
