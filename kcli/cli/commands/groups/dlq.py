"""`kcli groups dlq`: the dead-letter queue of a share group."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.changes import dead_letters
from kcli.cli.commands.apply.rows import ChangeRow
from kcli.cli.output.tables.rows import shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import NamedGroups, UndoOptions
from kcli.cli.runtime.answer import say, words_of
from kcli.cli.runtime.change import apply_plan
from kcli.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Annotated

    import typer

    from kcli.changes.change import Row
    from kcli.changes.declared.plan import ClusterPlan
    from kcli.model import Cluster

SHAPE = shape("groups.dlq", "The changes that set up a dead-letter queue, applied or planned.", ChangeRow)


class DlqOptions(NamedGroups, UndoOptions):
    expect = None
    topic: Annotated[
        str | None,
        typer.Option("-t", "--topic", metavar="TOPIC", help="The dead-letter topic (default: dlq. and the group)."),
    ] = None
    partitions: Annotated[
        int | None, typer.Option("-p", "--partitions", min=1, help="Partitions of the topic (default: the broker's).")
    ] = None
    replication: Annotated[
        int | None,
        typer.Option("-r", "--replication-factor", min=1, help="Its replication factor (default: the broker's)."),
    ] = None
    copy: Annotated[bool, typer.Option("--copy", help="Store the record's key and value in the dead letter.")] = False
    no_copy: Annotated[
        bool, typer.Option("--no-copy", help="Store only topic, partition and offset (Kafka's default).")
    ] = False
    off: Annotated[bool, typer.Option("--off", help="Stop writing dead letters for this group; the topic stays.")] = (
        False
    )


@command(
    "groups dlq",
    help="Set up the dead-letter queue of a share group.",
    words="GROUP",
    examples="""
kcli groups dlq billing                                   # the plan
kcli groups dlq billing --execute                         # dead letters go to dlq.billing
kcli groups dlq billing --topic dlq.all -p 3 -r 3 --copy --execute
kcli groups dlq billing --off --execute""",
)
def dlq(options: DlqOptions) -> int:
    """Have the broker write records that a share group rejects, or that are delivered too often, to a dead-letter topic
    (KIP-1191, Kafka 4.4). The plan comes first: kcli creates the topic if it does not exist, allows it to receive dead
    letters, and sets its name on the group. --execute applies it, and `kcli undo` restores the previous state.

    Without --copy a dead letter contains only the record's topic, partition and offset. `kcli redrive` sends dead
    letters back and fetches the records from there; a record that has been deleted meanwhile is lost. --copy keeps its
    key and value.
    """
    (group, *others) = words_of(options, "GROUP")
    if others:
        raise UsageError(f"give only one group: kcli groups dlq {group}")
    if options.copy and options.no_copy:
        raise UsageError("--copy and --no-copy cannot be combined")
    if options.off and options.given().keys() & {"topic", "partitions", "replication", "copy", "no_copy"}:
        raise UsageError("--off cannot be combined with other options of the queue")
    made: ClusterPlan

    async def planned(cluster: Cluster) -> ClusterPlan:
        nonlocal made
        if options.off:
            made = await dead_letters.plan_off(cluster, group)
        else:
            made = await dead_letters.plan(
                *(cluster, group, options.topic), partitions=options.partitions, replication=options.replication,
                copies=True if options.copy else False if options.no_copy else None,
            )  # fmt: skip
        return made

    def done(rows: Sequence[Row]) -> str:
        if made.late:
            say(options, made.late)
        return ""

    return apply_plan(options, SHAPE, ChangeRow, planned, done=done, names=lambda rows: [group])
