"""`kcli topics alter`: more partitions and other configs, after a plan that the broker has checked."""

from __future__ import annotations

from kcli.admin.configs.resources import DELETE, SET, Operation, Resource, alter_configs, describe_configs, foreseen
from kcli.admin.topics.partitions import grow_topics
from kcli.admin.topics.topics import describe_topics
from kcli.asking.fan_out import bad, good
from kcli.changes import configs
from kcli.changes.configs import pair
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import NamedTopics, PatternOptions, UndoOptions
from kcli.cli.parsing.option import integer, texts
from kcli.cli.runtime.answer import missing, say, words_of
from kcli.cli.runtime.change import PlannedChange, make_change
from kcli.cli.runtime.names import names_of, topic_names
from kcli.errors import KcliError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.admin.configs.resources import Config
    from kcli.admin.topics.topics import Topic
    from kcli.cli.output.tables.document import Document
    from kcli.model import Cluster
    from kcli.text.names import Names

    Configs = dict[Resource, list[Config] | KcliError]
    Outcomes = dict[Resource, KcliError | None]


class ChangeRow(Row, section="changes"):
    topic: str = column("Name of the topic.", rank=1)
    config: str = column("Name of the config, or partitions.", rank=1)
    old: str | None = column("Previous value.", rank=1, width=10)
    new: str | None = column("New value.", rank=1, width=10)
    result: str = column("would change, unchanged, done or failed.", unit="word", rank=1)
    error: str | None = column("Error of this row; null without one.", table=False, unit="sentence")


SHAPE = shape("topics.alter", "Changes of topics, applied or planned.", ChangeRow)


class AlterOptions(NamedTopics, PatternOptions, UndoOptions):
    partitions = integer("-p", "--partitions", least=1, help="New number of partitions; it can only grow.")
    configs = texts(
        "--config", metavar="KEY=VALUE", help="Set a topic config, also with a unit: retention.ms=7d. Repeatable."
    )
    delete_configs = texts("--delete-config", metavar="KEY", help="Remove the override of a topic config. Repeatable.")


@command(
    "topics alter",
    help="Add partitions, set and remove configs.",
    words="TOPIC",
    examples="""
kcli topics alter orders -p 12 --execute
kcli topics alter orders --config retention.ms=1d --delete-config segment.ms -y
kcli topics alter 'orders-*' payments -p 12 --dry-run""",
)
def alter(options: AlterOptions) -> int:
    """Add partitions to topics, and set or remove configs. The plan comes first,
    checked by the broker.

    More partitions send the records of a key to another partition than before: the order by key breaks once.
    """
    given, operations = names_of(options, words_of(options, "TOPIC")), _operations(options)
    count = options.partitions
    if count is None and not operations:
        raise UsageError("missing change: -p N, --config KEY=VALUE or --delete-config KEY")

    async def make_plan(cluster: Cluster, document: Document) -> PlannedChange | None:
        topics = await _topics(cluster, given, document)
        growing = {name: count for name, topic in topics.items() if count not in (None, len(topic.partitions))}
        changes = {Resource("topic", name): operations for name in topics} if operations else {}
        before = await describe_configs(cluster, changes) if changes else {}
        rows = document.of(ChangeRow)
        rows += _plan(topics, count, changes, before)
        refused = await grow_topics(cluster, growing, dry_run=True)
        _settle(rows, refused, await configs.check(cluster, changes, before) if changes else {}, document, done="")
        if not _may_change(options, rows, document):
            return None
        undo, lost = configs.undo_of(changes, before)
        for sentence in lost:
            say(options, sentence)

        async def carry_out() -> int | None:
            grown = await grow_topics(cluster, growing)
            altered = await alter_configs(cluster, changes) if changes else {}
            _settle(rows, grown, altered, document, done="done")
            return None

        return PlannedChange(
            names=list(topics),
            verb="alter",
            noun="topic",
            by_pattern=bool(given.patterns),
            final=bool(growing),
            undo=undo,
            carry_out=carry_out,
        )

    return make_change(options, SHAPE, make_plan)


async def _topics(cluster: Cluster, given: Names, document: Document) -> dict[str, Topic]:
    """The topics that the line names; a name without a topic is an error of the document."""
    described = await describe_topics(cluster, await topic_names(cluster, given, changes=True))
    for name, error in bad(described).items():
        missing(document, name, error, await describe_topics(cluster, internal=False))
    return good(described)


def _may_change(options: AlterOptions, rows: list[ChangeRow], document: Document) -> bool:
    """Whether the plan has a change, and the brokers accept all of it."""
    changes = any(row.result == "would change" for row in rows)
    if document.errors and changes and not options.plan_only:
        say(options, "nothing was changed: parts of the plan are refused")
    return changes and not document.errors


def _operations(options: AlterOptions) -> list[Operation]:
    """Raises UsageError."""
    pairs = [pair(text, "--config") for text in options.configs]
    operations = [Operation(name=name, how=SET, value=value) for name, value in pairs]
    operations += [Operation(name=name, how=DELETE) for name in options.delete_configs]
    names = [operation.name for operation in operations]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise UsageError(f"{', '.join(sorted(twice))}: named twice")
    return operations


def _plan(
    topics: dict[str, Topic], count: int | None, changes: dict[Resource, list[Operation]], before: Configs
) -> list[ChangeRow]:
    rows: list[ChangeRow] = []
    for name, topic in topics.items():
        if count is not None:
            have = len(topic.partitions)
            same = have == count
            rows.append(_row(name, "partitions", str(have), str(count), "unchanged" if same else "would change"))
        at = Resource("topic", name)
        known = _known(before.get(at))
        for operation in changes.get(at, []):
            old = known.get(operation.name)
            new, same = foreseen(at, operation, old)
            was = old.value if old is not None else None
            rows.append(_row(name, operation.name, was, new, "unchanged" if same else "would change"))
    return rows


def _row(topic: str, what: str, old: str | None, new: str | None, result: str) -> ChangeRow:
    return ChangeRow(topic=topic, config=what, old=old, new=new, result=result, error=None)


def _known(configs: list[Config] | KcliError | None) -> dict[str, Config]:
    return {config.name: config for config in configs} if isinstance(configs, list) else {}


def _settle(
    rows: list[ChangeRow],
    partitions: dict[str, KcliError | None],
    configs: Outcomes,
    document: Document,
    *,
    done: str,
) -> None:
    """What became of each row; an error of a topic is in the document once."""
    by_name = {at.name: problem for at, problem in configs.items()}
    for row in rows:
        outcomes = partitions if row.config == "partitions" else by_name
        if row.topic not in outcomes:
            continue
        problem = outcomes[row.topic]
        if problem is not None:
            row.result, row.error = "failed", str(problem)
        elif done and row.result == "would change":
            row.result = done
    for name, problem in [*partitions.items(), *by_name.items()]:
        if problem is not None:
            document.fail(problem, name)
