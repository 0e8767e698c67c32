"""`kcli topics create`."""

from __future__ import annotations

from kcli import codes
from kcli.admin.topics.topics import NewTopic, create_topics, describe_topics, wait_for_topics
from kcli.changes.configs import pair
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import AppliedOptions, NamedTopics, OutputOptions, WaitOptions
from kcli.cli.parsing.option import flag, integer, texts
from kcli.cli.runtime.answer import answer, words_of
from kcli.errors import BrokerError, KcliError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.admin.topics.topics import Created
    from kcli.cli.output.tables.document import Document
    from kcli.model import Cluster


class CreatedRow(Row, section="topics"):
    topic: str = column("Name of the topic.", rank=1)
    result: str = column("created, would create, exists, or failed.", unit="word", rank=1)
    partitions: int | None = column("Number of partitions.", unit="count")
    replicas: int | None = column("Replication factor.", unit="count")
    configs: dict[str, str] = column("Configs set on the topic itself.")
    topic_id: str | None = column("Topic id.", table=False, rank=3, unit="word")
    error: str | None = column("Error of this row; null without one.", table=False, unit="sentence")


SHAPE = shape("topics.create", "Created topics.", CreatedRow)


class CreateOptions(NamedTopics, WaitOptions, AppliedOptions, OutputOptions):
    partitions = integer("-p", "--partitions", least=-1, help="Number of partitions; -1 is the broker's default.")
    replicas = integer(
        "-r", "--replication-factor", least=-1, help="Replicas of each partition; -1 is the broker's default."
    )
    configs = texts(
        "--config", metavar="KEY=VALUE", help="A topic config, also with a unit: retention.ms=7d. Repeatable."
    )
    if_not_exists = flag("--if-not-exists", help="Do not fail if the topic exists.")
    dry_run = flag("--dry-run", help="Only let the broker check; create nothing.")


@command(
    "topics create",
    help="Create topics.",
    words="TOPIC",
    examples="""
kcli topics create orders
kcli topics create orders -p 12 -r 3 --config retention.ms=86400000
kcli topics create orders -p 12 --dry-run      # the broker checks, nothing is created""",
)
def create(options: CreateOptions) -> int:
    """Create topics. Partitions and replicas default to the broker's configuration."""
    options.check_dry_run(options.dry_run)
    wanted, patience = _wanted(options), options.wait_seconds

    async def work(cluster: Cluster, document: Document) -> None:
        results = await create_topics(cluster, wanted, dry_run=options.dry_run)
        rows = document.of(CreatedRow)
        for topic in wanted:
            result = results.get(topic.topic) or KcliError(
                f"{topic.topic}: the broker's response does not contain this topic"
            )
            if isinstance(result, BrokerError) and result.code is codes.INVALID_CONFIG:
                await _hint(cluster, result, topic.configs)
            row = _row(topic, result, options)
            rows.append(row)
            if row.result == "failed" and isinstance(result, KcliError):
                document.fail(result, topic.topic)
        if not options.dry_run and not options.no_wait:
            created = [row.topic for row in rows if row.result == "created"]
            await wait_for_topics(cluster, created, timeout=patience)

    return answer(options, SHAPE, work)


def _wanted(options: CreateOptions) -> list[NewTopic]:
    """The topics of a line. Raises UsageError."""
    if options.partitions == 0 or options.replicas == 0:
        raise UsageError("a topic has at least 1 partition and 1 replica; without the option the broker decides")
    partitions, replicas = (-1 if n is None else n for n in (options.partitions, options.replicas))
    configs = dict(pair(text, "--config") for text in options.configs)
    names = words_of(options, "TOPIC")
    numbers = [name for name in names[1:] if name.isdigit()]
    if numbers and not names[0].isdigit():
        meant = " ".join(f"{flag} {number}" for flag, number in zip(("-p", "-r"), numbers))
        raise UsageError(f"{numbers[0]} would be the name of a topic: kcli topics create {names[0]} {meant}")
    return [NewTopic(topic=name, partitions=partitions, replication_factor=replicas, configs=configs) for name in names]


def _row(topic: NewTopic, result: Created | KcliError, options: CreateOptions) -> CreatedRow:
    row = CreatedRow(
        topic=topic.topic,
        result="would create" if options.dry_run else "created",
        partitions=None,
        replicas=None,
        configs=topic.configs,
        topic_id=None,
        error=None,
    )
    if not isinstance(result, KcliError):
        row.partitions = result.partitions if result.partitions >= 0 else None
        row.replicas = result.replication_factor if result.replication_factor >= 0 else None
        row.topic_id = result.topic_id or None
    elif options.if_not_exists and isinstance(result, BrokerError) and result.code is codes.TOPIC_ALREADY_EXISTS:
        row.result = "exists"
    else:
        row.result, row.error = "failed", str(result)
    return row


async def _hint(cluster: Cluster, problem: BrokerError, configs: dict[str, str]) -> None:
    """Put the config that was probably meant behind a refusal; any topic tells which there are."""
    from kcli.admin.configs.resources import Resource
    from kcli.changes.configs import add_hint, nearest

    wrong = next((name for name in configs if name in str(problem)), None)
    any_topic = next(iter(await describe_topics(cluster)), None)
    if wrong is not None and any_topic is not None:
        add_hint(problem, await nearest(cluster, Resource("topic", any_topic), wrong))
