"""Changes of topics: create one, add partitions, delete records before an offset, elect leaders, delete topics."""

from __future__ import annotations

import shlex
import time
from typing import TYPE_CHECKING

from kcli.admin.configs import DELETE, SET, Operation, Resource
from kcli.admin.topics.topics import NewTopic, Topic, describe_topics
from kcli.changes import configs, elections, moves, topics
from kcli.errors import KcliError, UsageError
from kcli.grammar.offsets import one_place
from kcli.model import TopicPartition
from kcli.tui.actions.changes.change import Ask, Change, title_of, word_of
from kcli.tui.text.printable import printable, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kcli.admin.topics.topics import Partition
    from kcli.changes.change import Plan, Row
    from kcli.client import Client
    from kcli.tui.actions.changes.change import Given

EXAMPLES = {"topic": "retention.ms=7d", "broker": "log.cleaner.threads=2"}


def number(given: Given, name: str) -> int:
    """A field that may be empty: the broker decides then. Raises UsageError."""
    text = given[name].strip()
    if text and not (text.isascii() and text.isdigit() and 0 < int(text) < 2**31):
        raise UsageError(f"{name}: expected a number of 1 or more, or nothing for the broker's default, not {text!r}")
    return int(text) if text else -1


async def _partitions(client: Client, topic: str) -> list[Partition]:
    """Those of a topic. Raises KcliError."""
    found = (await topics.find(client.cluster, [topic]))[topic]
    if isinstance(found, KcliError):
        raise found
    return found.partitions


def _partition(row: Row) -> str:
    return f"{row.name}[{row.partition}]" if isinstance(row, topics.TrimRow | elections.ElectionRow) else row.name


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
        words += [f"--config {quoted(word)}" for word in words_of(given["configs"])]
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
            configs=pairs(words_of(given["configs"])),
        )
        return await topics.create(client.cluster, [topic], patience=None)


class AddPartitions(Change):
    """More partitions of a topic."""

    def __init__(self, topic: str) -> None:
        self.word = topic
        self.title = f"Add partitions to topic {printable(topic)}: this cannot be undone"
        self.asks = (Ask("partitions", "partitions", "how many there will be: keys move to other partitions"),)

    def command(self, given: Given) -> str:
        count = given["partitions"].strip()
        return f"kcli topics alter {quoted(self.word)} -p {quoted(count)} --execute" if count else ""

    async def plan(self, client: Client, given: Given) -> Plan:
        count = number(given, "partitions")
        if count < 0:
            raise UsageError("partitions: how many will there be?")
        return await topics.alter(client.cluster, [self.word], count, [])

    def label(self, row: Row) -> str:
        return row.item


class TrimTopic(Change):
    """The records of a topic before a place, or of one partition of it, are deleted for good."""

    destroys = True

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
        numbers = [one.partition for one in await _partitions(client, self.topic)]
        parts = [TopicPartition(self.topic, n) for n in numbers if self.partition in (None, n)]
        return await topics.trim(client.cluster, parts, where)

    def label(self, row: Row) -> str:
        return _partition(row)


class ElectLeaders(Change):
    """The preferred leaders of a topic's partitions; without a topic of all topics but internal ones."""

    def __init__(self, topic: str = "") -> None:
        self.topic = topic
        self.word = topic or "all topics"
        self.title = f"Elect the preferred leaders of {f'topic {printable(topic)}' if topic else 'all topics'}"

    def command(self, given: Given) -> str:
        return f"kcli leaders elect {quoted(self.topic) if self.topic else '--all-topics'} --execute"

    async def plan(self, client: Client, given: Given) -> Plan:
        if self.topic:
            partitions = await _partitions(client, self.topic)
        else:
            every = (await describe_topics(client.cluster, None, internal=False)).values()
            partitions = [one for topic in every if isinstance(topic, Topic) for one in topic.partitions]
        found = {TopicPartition(one.topic, one.partition): one for one in partitions}
        return elections.plan(found, needed_only=not self.topic)

    def label(self, row: Row) -> str:
        return f"leader of {_partition(row)}"


class DeleteTopics(Change):
    """One topic, or several. A row that cannot go says why; the others do."""

    destroys = True

    def __init__(self, *topics: str) -> None:
        self.topics = topics
        self.word = word_of(topics, "topic")
        self.title = f"{title_of('Delete', topics, 'topic')}: this cannot be undone"

    def command(self, given: Given) -> str:
        return f"kcli topics delete {' '.join(map(quoted, self.topics))} --execute"

    async def plan(self, client: Client, given: Given) -> Plan:
        return await topics.delete(client.cluster, self.topics)


class CancelMove(Change):
    """The move of one partition: it gets its previous replicas. Throttles stay, as other moves may need them."""

    destroys = True

    def __init__(self, at: TopicPartition) -> None:
        self.at, self.word = at, at.topic
        self.title = f"Cancel the move of {printable(at.topic)}[{at.partition}]"

    def command(self, given: Given) -> str:
        return f"kcli reassign cancel {quoted(f'{self.at.topic}:{self.at.partition}')} --keep-throttle --execute"

    async def plan(self, client: Client, given: Given) -> Plan:
        made = await moves.plan_cancel(client.cluster, lambda at: at == self.at)
        if not made.rows:
            raise KcliError(f"{self.at.topic}[{self.at.partition}] does not move (any more)")
        return made

    def label(self, row: Row) -> str:
        return f"{self.at.topic}[{self.at.partition}]"


def words_of(text: str) -> list[str]:
    """The words of a field as a shell reads them, so that a value in quotes may have blanks."""
    try:
        return shlex.split(text)
    except ValueError:  # a quote that is not closed yet
        return text.split()


def pairs(words: Iterable[str]) -> dict[str, str]:
    """`retention.ms=7d cleanup.policy=compact` as Kafka wants the values. Raises UsageError."""
    return dict(map(configs.pair, words))


class AlterConfigs(Change):
    """Configs of a resource: set, or removed by a KEY without a value: it inherits then."""

    asks = (Ask("configs", "configs", "KEY=VALUE …; KEY= alone takes the override away"),)

    def __init__(self, at: Resource, name: str = "", value: str = "", *, text: str = "") -> None:
        """`name` and `value`, or `text`, are in the field at first."""
        self.at = at
        self._what = f"{at.kind} {at.name}" if at.name else f"all {at.kind}s"
        self.word = at.name if at.kind == "topic" else self._what
        self.title = f"Change configs of {printable(self._what)}"
        word = f"{name}={value}" if name else ""
        if word and words_of(word) != [word]:
            word = shlex.quote(word)
        self.asks = (self.asks[0]._replace(value=text or word),)

    def command(self, given: Given) -> str:
        words = words_of(given["configs"])
        sets = [word for word in words if not word.endswith("=")]
        drops = [word.removesuffix("=") for word in words if word.endswith("=")]
        where = f"{self.at.kind} {quoted(self.at.name or 'default')}"
        if not words:
            return f"kcli configs set {where} KEY=VALUE --execute"
        parts = [f"kcli configs set {where} {' '.join(map(quoted, sets))} --execute"] if sets else []
        parts += [f"kcli configs unset {where} {' '.join(map(quoted, drops))} --execute"] if drops else []
        return " && ".join(parts)

    async def plan(self, client: Client, given: Given) -> Plan:
        return await configs.plan(client.cluster, {self.at: self._operations(given)})

    def label(self, row: Row) -> str:
        return row.item

    def _operations(self, given: Given) -> list[Operation]:
        """What the field says. Raises UsageError."""
        words = words_of(given["configs"])
        if not words:
            raise UsageError(f"configs: KEY=VALUE, such as {EXAMPLES[self.at.kind]}")
        wanted = pairs(word for word in words if not word.endswith("="))
        sets = [Operation(name=name, how=SET, value=value) for name, value in wanted.items()]
        drops = [word.removesuffix("=") for word in words if word.endswith("=")]
        return sets + [Operation(name=name, how=DELETE) for name in drops]
