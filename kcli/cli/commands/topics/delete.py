"""`kcli topics delete`."""

from __future__ import annotations

from kcli.admin.topics.stats import spans
from kcli.admin.topics.topics import Topic, delete_topics, describe_topics, wait_for_topics
from kcli.asking.fan_out import good
from kcli.asking.leaders import TopicMissing
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ChangeOptions, NamedTopics, PatternOptions, WaitOptions, if_exists
from kcli.cli.parsing.option import flag
from kcli.cli.runtime.answer import missing, words_of
from kcli.cli.runtime.change import PlannedChange, make_change
from kcli.cli.runtime.names import names_of, topic_names
from kcli.errors import KcliError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.output.tables.document import Document
    from kcli.model import Cluster


class DeletedRow(Row, section="topics"):
    topic: str = column("Name of the topic.", rank=1)
    result: str = column("would delete, deleted, absent, or failed.", unit="word", rank=1)
    partitions: int | None = column("Number of its partitions.", unit="count")
    offsets: int | None = column("Offsets between start and end: an estimate of the records.", unit="count")
    error: str | None = column("Error of this row; null without one.", table=False, unit="sentence")


SHAPE = shape("topics.delete", "Deletions, applied or planned.", DeletedRow)


class DeleteOptions(NamedTopics, PatternOptions, WaitOptions, ChangeOptions):
    if_exists = if_exists()
    internal = flag("--internal", help="Allow the deletion of Kafka's internal topics.")


@command(
    "topics delete",
    help="Delete topics.",
    words="TOPIC",
    examples="""
kcli topics delete orders --dry-run      # the plan
kcli topics delete orders --execute
kcli topics delete 'tmp-*' --dry-run     # all that match""",
)
def delete(options: DeleteOptions) -> int:
    """Delete topics and all their records."""
    given, patience = names_of(options, words_of(options, "TOPIC")), options.wait_seconds

    async def make_plan(cluster: Cluster, document: Document) -> PlannedChange | None:
        rows = document.of(DeletedRow)
        names = await topic_names(cluster, given, changes=True, empty=options.if_exists)
        rows += await _plan(cluster, names, options, document)
        ready = [row.topic for row in rows if row.result == "would delete"]
        if not ready:
            return None

        async def carry_out() -> int | None:
            results = await delete_topics(cluster, ready)
            for row in rows:
                result = results.get(row.topic)
                if result is True:
                    row.result = "deleted"
                elif isinstance(result, TopicMissing) and options.if_exists:
                    row.result = "absent"
                elif isinstance(result, KcliError):
                    row.result, row.error = "failed", str(result)
                    document.fail(result, row.topic)
            if not options.no_wait:
                deleted = [row.topic for row in rows if row.result == "deleted"]
                await wait_for_topics(cluster, deleted, gone=True, timeout=patience)
            return None

        return PlannedChange(
            names=ready, verb="delete", noun="topic", by_pattern=bool(given.patterns), carry_out=carry_out
        )

    return make_change(options, SHAPE, make_plan)


async def _plan(cluster: Cluster, names: list[str], options: DeleteOptions, document: Document) -> list[DeletedRow]:
    """A row per topic: whether it can go, and about how many records go with it."""
    topics = await describe_topics(cluster, names)
    offsets = await spans(cluster, good(topics))
    rows: list[DeletedRow] = []
    for name in dict.fromkeys(names):
        topic = topics.get(name) or TopicMissing(name)
        row = DeletedRow(topic=name, result="would delete", partitions=None, offsets=None, error=None)
        rows.append(row)
        if isinstance(topic, TopicMissing) and options.if_exists:
            row.result = "absent"
        elif isinstance(topic, TopicMissing):
            row.result, row.error = "failed", str(topic)
            missing(document, name, topic, await describe_topics(cluster, internal=False))
        elif isinstance(topic, Topic) and topic.internal and not options.internal:
            error = KcliError(f"{name}: this is an internal topic of Kafka; --internal allows this")
            row.result, row.error = "refused", str(error)
            document.fail(error, name)
        elif isinstance(topic, KcliError):
            row.result, row.error = "failed", str(topic)
            document.fail(topic, name)
        else:
            row.partitions, row.offsets = len(topic.partitions), offsets.get(name)
    return rows
