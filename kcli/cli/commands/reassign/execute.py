"""`kcli reassign execute`: the plan is shown and asked for before anything moves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.reassign.reassignments import about
from kcli.changes.moves import undo_of
from kcli.cli.commands.reassign.moving import BatchOptions, move, waits
from kcli.cli.commands.reassign.plan_rows import (
    BrokerRow,
    PartitionRow,
    broker_rows,
    partition_rows,
    sum_up,
    warn_of_few_replicas,
)
from kcli.cli.commands.reassign.planning import (
    FileOptions,
    Plan,
    PlanningOptions,
    file_of,
    from_file,
    from_options,
    look,
    plans_anew,
)
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

SHAPE = shape("reassign.execute", "The planned replicas, and the brokers before and after.", BrokerRow, PartitionRow)


class ExecuteOptions(FileOptions, NamedTopics, PlanningOptions, RateOptions, BatchOptions, UndoOptions):
    additional: Annotated[bool, typer.Option("--additional", help="Add to moves in progress.")] = False


@command(
    "reassign execute",
    help="Move partitions by a file, or by a new plan.",
    words="FILE|TOPIC",
    examples="""
kcli reassign execute plan.json --throttle 50MiB --execute --wait
kcli reassign execute --remove-broker 3 --throttle 20MiB --execute --wait --batch 50
kcli reassign execute orders --replication-factor 3 --execute
kcli reassign execute before.json --execute    # back: of --undo-file""",
)
def execute(options: ExecuteOptions) -> int:
    """Move partitions to other brokers, as FILE says (kafka-reassign-partitions' JSON, of `plan --save`, of an undo
    file), or by a new plan from topics and options. The plan is shown first; --execute applies it. Replicas are
    spread over racks and evenly over brokers, with as few bytes copied as possible; then preferred leaders are
    balanced, which copies nothing. `kcli undo` moves them back.
    """
    path = file_of(options.words)
    if path is not None and plans_anew(options):
        raise UsageError(f"{path} is a plan; planning options exclude it")
    rate = None if options.throttle is None else rate_of(options.throttle)
    patterns = path is None and not options.literal and any(map(is_pattern, options.words))
    _check(options)

    async def make_plan(cluster: Cluster, document: Document) -> PlannedChange | None:
        plan = await _plan(cluster, document, options, path)
        document.of(BrokerRow)[:] = broker_rows(plan) if plan.wanted or plan.log_dirs else []
        rows = partition_rows(plan, "would move")
        document.of(PartitionRow)[:] = rows.values()
        sum_up(options, plan, rows, failed=bool(document.errors))
        if rate is not None and rows:
            _say_time(options, document.of(BrokerRow), rate)
        await warn_of_few_replicas(cluster, options, plan)
        if document.errors or not (rows or plan.log_dirs):
            return None
        topics = sorted({at.topic for at in rows or plan.wanted})

        async def carry_out() -> int | None:
            return await move(cluster, document, options, plan, rows, rate)

        return PlannedChange(
            names=topics if patterns or len(topics) == 1 else [f"move {plural(len(rows), 'partition')}"],
            noun="topic",
            by_pattern=patterns,
            final=bool(plan.log_dirs),
            undo=undo_of({at: plan.everything[at] for at in plan.changes()}),
            carry_out=carry_out,
        )

    return make_change(options, SHAPE, make_plan)


async def _plan(cluster: Cluster, document: Document, options: ExecuteOptions, path: str | None) -> Plan:
    """The plan of the file at `path`, or of the options. Raises KcliError where partitions are moving already."""
    plan, _ = await look(cluster, document, options)
    if not options.additional and not options.plan_only:
        _refuse_others(plan)
    if path is None:
        await from_options(cluster, plan, document, options)
    else:
        from_file(plan, document, path)
    return plan


def _refuse_others(plan: Plan) -> None:
    """Raises KcliError where partitions are moving already."""
    if plan.ongoing:
        raise KcliError(
            f"{plural(len(plan.ongoing), 'partition')} on the way already, such as "
            f"{about(next(iter(plan.ongoing)))}; wait (kcli reassign verify --wait), or add --additional"
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
            raise UsageError(f"{name} goes with --wait")


def rate_of(text: str) -> int:
    """`50MiB` in bytes a second. Raises UsageError."""
    rate = int(bytes_of(text, "--throttle"))
    if rate < 1:
        raise UsageError(f"--throttle {text}: a limit is 1 byte a second or more")
    return rate
