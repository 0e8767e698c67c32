"""Which partitions a command means: `--topic orders:0,1`, `--all-topics`."""

from __future__ import annotations

from kcli.admin.groups.reset_plan import NoPartition, numbers_of
from kcli.admin.topics.topics import describe_topics
from kcli.asking.leaders import TopicMissing
from kcli.cli.parsing.option import Options
from kcli.cli.runtime.names import topic_names
from kcli.errors import KcliError, UsageError
from kcli.model import TopicPartition
from kcli.text.names import Names, is_pattern
from kcli.text.suggest import did_you_mean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Annotated

    import typer

    from kcli.cli.parsing.shared import ScopeTopics
    from kcli.model import Cluster

MOST = 100_000
"""Partitions that one --topic may name: more is a slip of the keyboard."""


class CreateOptions(Options):
    """Whether a group that does not exist is created."""

    create: Annotated[bool, typer.Option("--create", help="Create a group that does not exist.")] = False


class ScopeOptions(Options):
    """Which committed offsets of a group a command changes."""

    topics: ScopeTopics
    all_topics: Annotated[
        bool, typer.Option("--all-topics", help="All topics that the group has committed offsets for.")
    ] = False


class Scope:
    """The topics and partitions that a line names: each of `topics` is TOPIC, TOPIC:0,1 or TOPIC:0-5, and unless
    `literal` TOPIC may be a pattern; with `reads` patterns match topics such as _schemas too. Raises UsageError."""

    def __init__(
        self, topics: Iterable[str], *, all_topics: bool = False, literal: bool = True, reads: bool = False
    ) -> None:
        self.all_topics, self._reads = all_topics, reads
        self.topics: dict[str, set[int] | None] = {}
        self.patterns: dict[str, set[int] | None] = {}
        for text in topics:
            topic, numbers = _topic(text, literal=literal)
            kind = self.topics if literal or not is_pattern(topic) else self.patterns
            kind[topic] = _union(kind.get(topic, set()), numbers)
        self._names = Names(self.patterns)
        if self.all_topics and self.named:
            raise UsageError("--topic and --all-topics cannot be combined")

    @property
    def named(self) -> bool:
        return bool(self.topics or self.patterns)

    @property
    def empty(self) -> bool:
        return not self.all_topics and not self.named

    def has(self, at: TopicPartition) -> bool:
        """Whether a partition that is given anyhow, by a file or a group, is meant; all are when none is named."""
        if not self.named:
            return True
        numbers = self.numbers(at.topic)
        return numbers is None or at.partition in numbers

    def numbers(self, topic: str) -> set[int] | None:
        """The partitions that are meant of a topic, by its name or by patterns: all (None), some, or none."""
        if topic in self.topics:
            return self.topics[topic]
        numbers: set[int] | None = set()
        for text, pattern in self._names.patterns.items():
            if pattern.fits(topic):
                numbers = _union(numbers, self.patterns[text])
        return numbers

    async def partitions(self, cluster: Cluster, committed: Iterable[TopicPartition]) -> list[TopicPartition]:
        """The partitions meant, which exist; with --all-topics all of each topic that has one in `committed`, and those
        that are committed in topics that do not exist any more. Patterns match such topics, or all topics there are
        where nothing is committed. Raises KcliError for a topic or a partition that was named and does not exist, and
        for a pattern without a match: nothing is done by halves then."""
        given = set(committed)
        topics = await self._found(cluster, sorted({at.topic for at in given}))
        partitions = {at for at in given if at.topic in topics and (self.all_topics or self.has(at))}
        for topic in {**self.topics, **dict.fromkeys(topics)}:
            numbers = await numbers_of(cluster, topic)
            if isinstance(numbers, KcliError):
                if topic in topics and isinstance(numbers, TopicMissing):
                    continue
                if isinstance(numbers, TopicMissing):
                    from kcli.changes.configs import add_hint

                    add_hint(numbers, did_you_mean(topic, await describe_topics(cluster, internal=False)))
                raise numbers
            wanted = self.numbers(topic) or None
            for number in sorted(wanted or numbers):
                at = TopicPartition(topic, number)
                if number in numbers:
                    partitions.add(at)
                elif topic in self.topics:
                    raise NoPartition(at, len(numbers))
        return sorted(partitions)

    async def matching(self, cluster: Cluster) -> list[str]:
        """The topics that patterns match. Raises KcliError for a pattern that matches none."""
        return await topic_names(cluster, self._names, changes=not self._reads)

    async def _found(self, cluster: Cluster, committed: list[str]) -> list[str]:
        """The topics that are meant without being named."""
        if self.all_topics:
            return committed
        if not committed:
            return await self.matching(cluster)
        match = self._names.among(committed)
        if match.unmatched:
            raise KcliError(f"{', '.join(match.unmatched)}: no matching topic has committed offsets of the group")
        return match.names


def _union(numbers: set[int] | None, more: set[int] | None) -> set[int] | None:
    """Partitions of both; None is all."""
    return None if numbers is None or more is None else numbers | more


def _topic(text: str, *, literal: bool) -> tuple[str, set[int] | None]:
    topic, colon, rest = text.partition(":")
    if not literal and is_pattern(text):
        topic, colon, rest = text.rpartition(":")  # a regular expression may have colons
        if not rest or not set(rest) <= set("0123456789,-"):
            topic, colon, rest = text, "", ""
    if not topic or (colon and not rest):
        raise UsageError(f"--topic {text}: expected TOPIC or TOPIC:0,1 or TOPIC:0-5")
    if not colon:
        return topic, None
    numbers: set[int] = set()
    for part in rest.split(","):
        first, dash, last = part.partition("-")
        last = last if dash else first
        if not all(word.isascii() and word.isdigit() and len(word) < 10 for word in (first, last)):
            raise UsageError(f"--topic {text}: {part!r} is not a partition; expected TOPIC:0,1 or TOPIC:0-5")
        if int(last) < int(first) or int(last) - int(first) > MOST:
            raise UsageError(f"--topic {text}: {part!r} is not a range of partitions")
        numbers.update(range(int(first), int(last) + 1))
    return topic, numbers
