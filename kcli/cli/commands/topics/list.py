"""`kcli topics list`."""

from __future__ import annotations

from kcli.admin.topics.topics import describe_topics
from kcli.asking.fan_out import bad, good
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import NamedTopics, OutputOptions, PatternOptions, internal
from kcli.cli.parsing.option import text
from kcli.cli.runtime.answer import answer, say
from kcli.cli.runtime.names import names_of, topic_names

TYPE_CHECKING = False
if TYPE_CHECKING:
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


class ListOptions(NamedTopics, PatternOptions, OutputOptions):
    match = text("--match", metavar="REGEX", help="The same as '^REGEX$' for a TOPIC.", hidden=True)
    internal = internal()


@command(
    "topics list",
    help="List topics.",
    words="TOPIC",
    examples="""
kcli topics list
kcli topics list 'orders*' --format plain | cut -f1
kcli topics list '^orders-[0-9]+$'""",
)
def list_topics(options: ListOptions) -> int:
    """List topics, all or those named. Kafka's own are hidden unless --internal."""
    names = names_of(options, [*options.words, *(f"^(?:{regex})$" for regex in filter(None, [options.match]))])
    if options.match is not None:
        from shlex import quote

        say(options, f"--match is an argument today: kcli topics list {quote(f'^{options.match}$')}")

    async def work(cluster: Cluster, document: Document) -> None:
        chosen = await topic_names(cluster, names, internal=options.internal, empty=options.match is not None)
        topics = await describe_topics(cluster, chosen if names.words else None, internal=options.internal)
        for name, error in bad(topics).items():
            document.fail(error, name)
        document.of(TopicRow).extend(_row(topic) for topic in good(topics).values())

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
