"""`kcli topics alter`: more partitions and other configs, after a plan that the broker has checked."""

from __future__ import annotations

from kcli.admin.configs import DELETE, SET, Operation
from kcli.changes import topics
from kcli.changes.configs import once, pair
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import NamedTopics, PatternOptions, UndoOptions
from kcli.cli.runtime.answer import words_of
from kcli.cli.runtime.change import apply_plan
from kcli.cli.runtime.names import names_of, topic_names
from kcli.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Annotated

    import typer

    from kcli.changes.change import Plan
    from kcli.model import Cluster


class ChangeRow(Row, section="changes"):
    topic: str = column("Name of the topic.", rank=1)
    config: str = column("Name of the config, or partitions.", rank=1)
    old: str | None = column("Previous value.", rank=1, width=10)
    new: str | None = column("New value.", rank=1, width=10)
    result: str = column("would change, unchanged, done, failed or unknown.", unit="word", rank=1)
    error: str | None = column("Error of this row; null without one.", table=False, unit="sentence")


SHAPE = shape("topics.alter", "Changes of topics, applied or planned.", ChangeRow)


class AlterOptions(NamedTopics, PatternOptions, UndoOptions):
    partitions: Annotated[
        int | None, typer.Option("-p", "--partitions", min=1, help="New number of partitions; it can only grow.")
    ] = None
    configs: Annotated[
        list[str],
        typer.Option(
            "--config", metavar="KEY=VALUE", help="Set a topic config; units are allowed: retention.ms=7d. Repeatable."
        ),
    ]
    delete_configs: Annotated[
        list[str],
        typer.Option("--delete-config", metavar="KEY", help="Remove the override of a topic config. Repeatable."),
    ]


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

    With more partitions, new records of a key may go to another partition than before: the order per key breaks once.
    """
    given, operations = names_of(options, words_of(options, "TOPIC")), _operations(options)
    if options.partitions is None and not operations:
        raise UsageError("missing change: -p N, --config KEY=VALUE or --delete-config KEY")

    async def planned(cluster: Cluster) -> Plan:
        names = await topic_names(cluster, given, changes=True)
        return await topics.alter(cluster, names, options.partitions, operations)

    return apply_plan(
        options,
        SHAPE,
        ChangeRow,
        planned,
        names=lambda rows: list(dict.fromkeys(row.name for row in rows)),
        verb="alter",
        noun="topic",
        by_pattern=bool(given.patterns),
    )


def _operations(options: AlterOptions) -> list[Operation]:
    """Raises UsageError."""
    pairs = [pair(text, "--config") for text in options.configs]
    operations = [Operation(name=name, how=SET, value=value) for name, value in pairs]
    return once(operations + [Operation(name=name, how=DELETE) for name in options.delete_configs])
