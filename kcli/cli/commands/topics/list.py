"""`kcli topics list`."""

from __future__ import annotations

from kcli.admin.topics.topics import describe_topics
from kcli.asking.fan_out import bad, good
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import OutputOptions, internal
from kcli.cli.parsing.option import text
from kcli.cli.runtime.answer import answer
from kcli.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from kcli.admin.topics.topics import Topic
    from kcli.cli.output.tables.document import Document
    from kcli.model import Cluster


class TopicRow(Row, section="topics"):
    topic: str = column("Name of the topic.")
    partitions: int = column("Number of partitions.")
    replicas: int = column("Replication factor.")
    under_replicated: int = column("Partitions with fewer in-sync replicas than replicas.")
    leaderless: int = column("Partitions that nobody leads.")
    internal: bool = column("True for Kafka's own topics.", table=False)
    topic_id: str | None = column("Topic id; null from brokers before 2.8.", table=False)


SHAPE = shape("topics.list", "Topics, one a row.", TopicRow)


class ListOptions(OutputOptions):
    match = text("--match", metavar="REGEX", help="Only topics whose whole name matches.")
    internal = internal()


@command(
    "topics list",
    help="List topics.",
    examples="""
kcli topics list
kcli topics list --match 'orders.*' --format plain | cut -f1""",
)
def list_topics(options: ListOptions) -> int:
    """List topics. Kafka's own are hidden unless --internal."""
    matches = name_matcher(options.match)

    async def work(cluster: Cluster, document: Document) -> None:
        topics = await describe_topics(cluster, internal=options.internal)
        for name, error in bad(topics).items():
            document.fail(error, name)
        document.of(TopicRow).extend(_row(topic) for name, topic in good(topics).items() if matches(name))

    return answer(options, SHAPE, work)


def _row(topic: Topic) -> TopicRow:
    return TopicRow(
        topic=topic.topic,
        partitions=len(topic.partitions),
        replicas=topic.replication_factor,
        under_replicated=topic.under_replicated,
        leaderless=topic.leaderless,
        internal=topic.internal,
        topic_id=topic.topic_id or None,
    )


def name_matcher(text: str | None) -> Callable[[str], object]:
    """A function that says whether --match matches a name. Raises UsageError."""
    if text is None:
        return lambda name: True
    import re

    from kcli.text.patterns import compiled, matcher

    try:
        return matcher(compiled(text), f"--match {text}", whole=True)
    except re.error as wrong:
        raise UsageError(f"--match {text}: {wrong}") from wrong
