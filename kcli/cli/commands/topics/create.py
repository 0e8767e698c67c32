"""`kcli topics create`."""

from __future__ import annotations

from functools import partial

from kcli.admin.topics.topics import NewTopic
from kcli.changes import topics
from kcli.changes.configs import pair
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import NamedTopics, UndoOptions, WaitOptions
from kcli.cli.runtime.answer import words_of
from kcli.cli.runtime.change import apply_plan
from kcli.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Annotated

    import typer


class CreatedRow(Row, section="topics"):
    topic: str = column("Name of the topic.", rank=1)
    result: str = column("created, would create, exists, or failed.", unit="word", rank=1)
    partitions: int | None = column("Number of partitions.", unit="count")
    replicas: int | None = column("Replication factor.", unit="count")
    configs: dict[str, str] = column("Configs set on the topic itself.")
    topic_id: str | None = column("Topic id.", table=False, rank=3, unit="word")
    error: str | None = column("Error of this row; null without one.", table=False, unit="sentence")


SHAPE = shape("topics.create", "Created topics.", CreatedRow)


class CreateOptions(NamedTopics, WaitOptions, UndoOptions):
    partitions: Annotated[
        int | None, typer.Option("-p", "--partitions", min=-1, help="Number of partitions; -1 is the broker's default.")
    ] = None
    replicas: Annotated[
        int | None,
        typer.Option(
            "-r", "--replication-factor", min=-1, help="Replicas of each partition; -1 is the broker's default."
        ),
    ] = None
    configs: Annotated[
        list[str],
        typer.Option(
            "--config", metavar="KEY=VALUE", help="A topic config; units are allowed: retention.ms=7d. Repeatable."
        ),
    ]
    if_not_exists: Annotated[bool, typer.Option("--if-not-exists", help="Do not fail if the topic exists.")] = False
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only let the broker validate the request; create nothing.")
    ] = False
    execute: Annotated[
        bool, typer.Option("--execute", "-y", "--yes", help="Apply the plan (the default).", hidden=True)
    ] = False
    yes, expect, needs_undo = False, None, False


@command(
    "topics create",
    help="Create topics.",
    words="TOPIC",
    examples="""
kcli topics create orders
kcli topics create orders -p 12 -r 3 --config retention.ms=86400000
kcli topics create orders -p 12 --dry-run      # the broker validates, nothing is created""",
)
def create(options: CreateOptions) -> int:
    """Create topics. Partitions and replicas default to the broker's configuration. `kcli undo` deletes them."""
    return apply_plan(
        options if options.dry_run else options.replace(execute=True),
        SHAPE,
        CreatedRow,
        partial(
            topics.create,
            wanted=_wanted(options),
            if_not_exists=options.if_not_exists,
            patience=options.patience,
        ),
        verb="create",
        noun="topic",
        nothing="",
    )


def _wanted(options: CreateOptions) -> list[NewTopic]:
    """The topics of a line. Raises UsageError."""
    if options.partitions == 0 or options.replicas == 0:
        raise UsageError("a topic needs at least 1 partition and 1 replica; without the option the broker decides")
    partitions, replicas = (-1 if n is None else n for n in (options.partitions, options.replicas))
    configs = dict(pair(text, "--config") for text in options.configs)
    names = words_of(options, "TOPIC")
    numbers = [name for name in names[1:] if name.isdigit()]
    if numbers and not names[0].isdigit():
        meant = " ".join(f"{flag} {number}" for flag, number in zip(("-p", "-r"), numbers))
        raise UsageError(f"{numbers[0]} looks like a number, not a topic name: kcli topics create {names[0]} {meant}")
    return [NewTopic(topic=name, partitions=partitions, replication_factor=replicas, configs=configs) for name in names]
