"""Which partitions a command means: `--topic orders:0,1`, `--all-topics`."""

from __future__ import annotations

from kcli.admin.groups.reset_plan import NoPartition, numbers_of
from kcli.asking.leaders import TopicMissing
from kcli.cli.parsing.option import Options, flag, texts
from kcli.errors import KcliError, UsageError
from kcli.model import TopicPartition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from kcli.model import Cluster

MOST = 100_000
"""Partitions that one --topic may name: more is a slip of the keyboard."""


def topics() -> list[str]:
    return texts(
        *("-t", "--topic"),
        metavar="TOPIC[:0,1]",
        help="A topic, all its partitions or those named: orders, orders:0,1, orders:0-5. Repeatable.",
    )


class ScopeOptions(Options):
    """Which committed offsets of a group a command changes."""

    topics = topics()
    all_topics = flag("--all-topics", help="All topics the group has committed offsets of.")


class Scope:
    """The topics and partitions that a line names: each of `topics` is TOPIC, TOPIC:0,1 or TOPIC:0-5. Raises
    UsageError."""

    def __init__(self, topics: Iterable[str], *, all_topics: bool = False) -> None:
        self.all_topics = all_topics
        self.topics: dict[str, set[int] | None] = {}
        for text in topics:
            topic, numbers = _topic(text)
            known = self.topics.get(topic, set())
            self.topics[topic] = None if known is None or numbers is None else known | numbers
        if self.all_topics and self.topics:
            raise UsageError("--topic and --all-topics exclude each other")

    @property
    def empty(self) -> bool:
        return not self.all_topics and not self.topics

    def has(self, at: TopicPartition) -> bool:
        """Whether a partition that is given anyhow, by a file or a group, is meant: all are when nothing is said."""
        if not self.topics:
            return True
        if at.topic not in self.topics:
            return False
        numbers = self.topics[at.topic]
        return numbers is None or at.partition in numbers

    async def partitions(self, cluster: Cluster, committed: Iterable[TopicPartition]) -> list[TopicPartition]:
        """The partitions meant, which exist; with --all-topics all of each topic that has one in `committed`, and those
        that are committed in topics that do not exist any more. Raises KcliError for a topic or a partition that was
        named and does not exist: nothing is done by halves then."""
        partitions: set[TopicPartition] = set()
        if self.all_topics:
            partitions.update(committed)
        for topic in self.topics or sorted({at.topic for at in partitions}):
            numbers = await numbers_of(cluster, topic)
            if isinstance(numbers, KcliError):
                if self.all_topics and isinstance(numbers, TopicMissing):
                    continue
                raise numbers
            wanted = self.topics.get(topic)
            for number in sorted(wanted or numbers):
                at = TopicPartition(topic, number)
                if number not in numbers:
                    raise NoPartition(at, len(numbers))
                partitions.add(at)
        return sorted(partitions)


def _topic(text: str) -> tuple[str, set[int] | None]:
    topic, colon, rest = text.partition(":")
    if not topic or (colon and not rest):
        raise UsageError(f"--topic {text}: expected TOPIC or TOPIC:0,1 or TOPIC:0-5")
    if not colon:
        return topic, None
    numbers: set[int] = set()
    for part in rest.split(","):
        first, dash, last = part.partition("-")
        last = last if dash else first
        if not all(word.isascii() and word.isdigit() and len(word) < 10 for word in (first, last)):
            raise UsageError(f"--topic {text}: {part!r} is no partition; expected TOPIC:0,1 or TOPIC:0-5")
        if int(last) < int(first) or int(last) - int(first) > MOST:
            raise UsageError(f"--topic {text}: {part!r} is no range of partitions")
        numbers.update(range(int(first), int(last) + 1))
    return topic, numbers
