"""`kcli topics delete`."""

from __future__ import annotations

from kcli.changes import topics
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ChangeOptions, NamedTopics, PatternOptions, WaitOptions
from kcli.cli.runtime.answer import words_of
from kcli.cli.runtime.change import apply_plan
from kcli.cli.runtime.names import names_of, topic_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Annotated

    import typer

    from kcli.changes.change import Plan
    from kcli.cli.parsing.shared import IfExists
    from kcli.model import Cluster


class DeletedRow(Row, section="topics"):
    topic: str = column("Name of the topic.", rank=1)
    result: str = column("would delete, deleted, absent, or failed.", unit="word", rank=1)
    partitions: int | None = column("Number of its partitions.", unit="count")
    offsets: int | None = column("Offsets between start and end: an estimate of the records.", unit="count")
    error: str | None = column("Error of this row; null without one.", table=False, unit="sentence")


SHAPE = shape("topics.delete", "Deletions, applied or planned.", DeletedRow)


class DeleteOptions(NamedTopics, PatternOptions, WaitOptions, ChangeOptions):
    if_exists: IfExists = False
    internal: Annotated[bool, typer.Option("--internal", help="Allow the deletion of Kafka's internal topics.")] = False


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
    given, patience = names_of(options, words_of(options, "TOPIC")), options.patience

    async def planned(cluster: Cluster) -> Plan:
        names = await topic_names(cluster, given, changes=True, empty=options.if_exists)
        return await topics.delete(
            cluster, names, if_exists=options.if_exists, internal=options.internal, patience=patience
        )

    return apply_plan(
        options, SHAPE, DeletedRow, planned, verb="delete", noun="topic", nothing="", by_pattern=bool(given.patterns)
    )
