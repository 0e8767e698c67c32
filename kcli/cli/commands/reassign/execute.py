"""`kcli reassign execute`: the plan is shown and asked for before anything moves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.reassign import assignment_file
from kcli.admin.reassign.reassignments import about
from kcli.changes import moves
from kcli.changes.moves import read_layout
from kcli.cli.commands.reassign.moving import BatchOptions, move, waits
from kcli.cli.commands.reassign.plan_rows import BrokerRow, PartitionRow, present
from kcli.cli.commands.reassign.planning import FileOptions, PlanningOptions, file_of, plan_of, plans_anew
from kcli.cli.commands.reassign.throttling import RateOptions
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import NamedTopics, UndoOptions
from kcli.cli.runtime.answer import plural, say
from kcli.cli.runtime.change import PlannedChange, make_change
from kcli.errors import KcliError, UsageError
from kcli.grammar.units import bytes_of, bytes_text
from kcli.model import Cluster
from kcli.text.names import is_pattern
from kcli.text.numbers import human_time

if TYPE_CHECKING:
    from typing import Annotated

    import typer

    from kcli.changes.moves import Layout, MovePlan

SHAPE = shape("reassign.execute", "The planned replicas, and the brokers before and after.", BrokerRow, PartitionRow)


class ExecuteOptions(FileOptions, NamedTopics, PlanningOptions, RateOptions, BatchOptions, UndoOptions):
    additional: Annotated[bool, typer.Option("--additional", help="Add to moves in progress.")] = False


@command(
    "reassign execute",
    help="Move partitions with a plan from a file, or a new one.",
    words="FILE|TOPIC",
    examples="""
kcli reassign execute plan.json --throttle 50MiB --execute --wait
kcli reassign execute --remove-broker 3 --throttle 20MiB --execute --wait --batch 50
kcli reassign execute orders --replication-factor 3 --execute
kcli reassign execute before.json --execute    # back, with an --undo-file""",
)
def execute(options: ExecuteOptions) -> int:
    """Move partitions to other brokers, with a plan from FILE (JSON of kafka-reassign-partitions or `plan --save`, or
    an undo file), or with a new plan from topics and options. The plan is shown first; --execute applies it. Replicas
    are spread over racks and evenly over brokers, with as few bytes copied as possible; then preferred leaders are
    balanced, which copies nothing. `kcli undo` moves them back.
    """
    path = file_of(options.words)
    if path is not None and plans_anew(options):
        raise UsageError(f"{path} is a plan, which cannot be combined with planning options")
    rate = None if options.throttle is None else rate_of(options.throttle)
    patterns = path is None and not options.literal and any(map(is_pattern, options.words))
    _check(options)

    async def make_plan(cluster: Cluster, document: Document) -> PlannedChange | None:
        plan = await _plan(cluster, options, path)
        present(document, options, plan)
        if rate is not None and plan.rows:
            _say_time(options, document.of(BrokerRow), rate)
        for warning in plan.warnings:
            say(options, warning)
        if plan.apply is None:
            return None
        topics = sorted({at.topic for at in plan.changes or plan.wanted})

        async def carry_out() -> int | None:
            rows = dict(zip(plan.changes, document.of(PartitionRow), strict=True))
            return await move(cluster, document, options, plan, rows, rate)

        return PlannedChange(
            names=topics if patterns or len(topics) == 1 else [f"move {plural(len(plan.rows), 'partition')}"],
            noun="topic",
            by_pattern=patterns,
            final=plan.final,
            undo=plan.undo,
            carry_out=carry_out,
        )

    return make_change(options, SHAPE, make_plan)


async def _plan(cluster: Cluster, options: ExecuteOptions, path: str | None) -> MovePlan:
    """The plan of the file at `path`, or of the options. Raises KcliError where partitions are moving already."""
    layout = await read_layout(cluster)
    if not options.additional and not options.plan_only:
        _refuse_others(layout)
    if path is None:
        return await plan_of(cluster, layout, options)
    return await moves.plan(cluster, layout, *assignment_file.read(path))


def _refuse_others(layout: Layout) -> None:
    """Raises KcliError where partitions are moving already."""
    if layout.ongoing:
        raise KcliError(
            f"{plural(len(layout.ongoing), 'partition')} already moving, such as "
            f"{about(next(iter(layout.ongoing)))}; wait (kcli reassign verify --wait), or add --additional"
        )


def _say_time(options: ExecuteOptions, brokers: list[BrokerRow], rate: int) -> None:
    """Say how long the moves take at least: the broker that receives most decides."""
    most = max(row.receives for row in brokers)
    if not most:
        say(options, f"nothing to move at {bytes_text(rate)}/s: the partitions are empty")
        return
    takes = "less than a second" if most < rate else f"{human_time(most / rate)} or more"
    say(options, f"at {bytes_text(rate)}/s for each broker, this takes {takes}")


def _check(options: ExecuteOptions) -> None:
    """Raises UsageError for options that mean nothing without waiting."""
    for name, given in (("--timeout", options.patience), ("--on-interrupt", options.on_interrupt)):
        if given is not None and not waits(options):
            raise UsageError(f"{name} requires --wait")


def rate_of(text: str) -> int:
    """`50MiB` in bytes a second. Raises UsageError."""
    rate = int(bytes_of(text, "--throttle"))
    if rate < 1:
        raise UsageError(f"--throttle {text}: a limit must be 1 byte per second or more")
    return rate
