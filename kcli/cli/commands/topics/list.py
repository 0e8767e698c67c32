"""`kcli topics list`."""

from __future__ import annotations

from kcli.admin.topics.topics import describe_topics
from kcli.asking.fan_out import bad, good
from kcli.cli.commands.topics.state_options import StateOptions
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import NamedTopics, PatternOptions, ReadOptions
from kcli.cli.runtime.answer import answer, say
from kcli.cli.runtime.names import names_of, topic_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Annotated

    import typer

    from kcli.admin.topics.topics import Topic
    from kcli.cli.commands.topics.states import States
    from kcli.cli.output.tables.document import Document
    from kcli.cli.parsing.shared import Internal
    from kcli.model import Cluster


class ListedTopicRow(Row, section="topics"):
    topic: str = column("Name of the topic.", rank=1)
    partitions: int = column("Number of partitions.", unit="count")
    replicas: int = column("Replication factor.", unit="count")
    under_replicated: int = column("Partitions with fewer in-sync replicas than replicas.", unit="count")
    leaderless: int = column("Leaderless partitions.", unit="count")
    internal: bool = column("True for Kafka's own topics.", table=False, rank=3)
    topic_id: str | None = column("Topic id; null from brokers before 2.8.", table=False, rank=3, unit="word")
    at_min_isr: int | None = column(
        "Partitions with min.insync.replicas in sync; null unless requested.", sparse=True, unit="count"
    )
    under_min_isr: int | None = column(
        "Partitions with fewer in sync than that; null unless requested.", sparse=True, unit="count"
    )


SHAPE = shape("topics.list", "Topics, one a row.", ListedTopicRow, empty="no topics")


class ListOptions(NamedTopics, PatternOptions, StateOptions, ReadOptions):
    match: Annotated[
        str | None, typer.Option("--match", metavar="REGEX", help="The same as '^REGEX$' for a TOPIC.", hidden=True)
    ] = None
    internal: Internal = False


@command(
    "topics list",
    help="List topics.",
    words="TOPIC",
    examples="""
kcli topics list
kcli topics list 'orders*' --format plain | cut -f1
kcli topics list '^orders-[0-9]+$'
kcli topics list --under-replicated --unavailable
kcli topics list --unused                # no group reads it, no record for 30 days
kcli topics list --never-written""",
)
def list_topics(options: ListOptions) -> int:
    """List topics, all or those named. Kafka's internal topics are hidden unless --internal is given. Options restrict
    the list to a state: under-replicated, unavailable, at or under min.insync.replicas (as kafka-topics means them), or
    unused.

    A topic that never had a record may be new: Kafka does not report when a topic was created. --unused does not
    list it, --never-written does.
    """
    names = names_of(options, [*options.words, *(f"^(?:{regex})$" for regex in filter(None, [options.match]))])
    if options.match is not None:
        from shlex import quote

        say(options, f"--match was replaced by an argument: kcli topics list {quote(f'^{options.match}$')}")

    async def work(cluster: Cluster, document: Document) -> None:
        chosen = await topic_names(cluster, names, internal=options.internal, empty=options.match is not None)
        topics = await describe_topics(cluster, chosen if names.words else None, internal=options.internal)
        for name, error in bad(topics).items():
            document.fail(error, name)
        described = good(topics)
        if options.named:
            from kcli.cli.commands.topics.states import listed, states_of

            states = await states_of(cluster, described, options)
            chosen = [name for name in described if listed(states[name], options)]
            document.of(ListedTopicRow).extend(_row(described[name], states[name]) for name in chosen)
            document.empty = f"no topic is {' or '.join(options.named)}"
            _say_new(options, sum(state.never_written for state in states.values()))
        else:
            document.of(ListedTopicRow).extend(map(_row, described.values()))

    return answer(options, SHAPE, work)


def _say_new(options: ListOptions, count: int) -> None:
    """Say how many topics --unused does not list because nothing is known of their use."""
    if count and options.unused is not None and not options.never_written:
        topics = "1 topic has" if count == 1 else f"{count} topics have"
        say(options, f"{topics} never had a record, but may be new: --never-written lists them")


def _row(topic: Topic, state: States | None = None) -> ListedTopicRow:
    return ListedTopicRow(
        topic=topic.topic,
        partitions=len(topic.partitions),
        replicas=topic.replication_factor,
        under_replicated=topic.under_replicated,
        leaderless=topic.leaderless,
        internal=topic.internal,
        topic_id=topic.topic_id or None,
        at_min_isr=None if state is None else state.at_min_isr,
        under_min_isr=None if state is None else state.under_min_isr,
    )
