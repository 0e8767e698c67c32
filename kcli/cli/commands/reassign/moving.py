"""Partitions on their way: throttled before they begin, batch after batch, and nothing left of the throttle in the end,
whichever end that is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.reassign import throttles
from kcli.admin.reassign.reassignments import about, list_reassignments
from kcli.asking.fan_out import pieces
from kcli.changes import moves
from kcli.cli.commands.reassign.disks import follow, remember
from kcli.cli.commands.reassign.throttling import clean, settle_throttle
from kcli.cli.commands.reassign.wait import Watch, WatchOptions
from kcli.cli.output.tables.document import Document
from kcli.cli.parsing.groups import QuietOptions
from kcli.cli.runtime.answer import plural, say
from kcli.errors import KcliError
from kcli.grammar.units import bytes_text
from kcli.model import Cluster, TopicPartition

if TYPE_CHECKING:
    from typing import Annotated

    import typer

    from kcli.admin.reassign.reassignments import Assignment
    from kcli.changes.moves import MovePlan
    from kcli.cli.commands.reassign.plan_rows import PartitionRow

    Rows = dict[TopicPartition, PartitionRow]


class BatchOptions(WatchOptions):
    """How many partitions move at a time, and whether a command waits for them."""

    batch: Annotated[
        int | None, typer.Option("--batch", min=1, help="Move N partitions at a time; implies --wait.")
    ] = None


def waits(options: BatchOptions) -> bool:
    """Whether a command waits for the moves."""
    return options.wait or options.batch is not None


async def move(
    cluster: Cluster, document: Document, options: BatchOptions, plan: MovePlan, rows: Rows, rate: int | None
) -> int | None:
    """Move what the plan changes; the exit code, if it is settled by a signal or --timeout."""
    topics = sorted({at.topic for at in plan.wanted})
    with Watch(cluster, options) as watch:
        try:
            return await _batches(watch, cluster, document, options, plan, rows, rate)
        except KcliError:
            if rate is not None:
                await _left_alone(watch, cluster, options, document, topics)
            raise


async def _left_alone(
    watch: Watch, cluster: Cluster, options: QuietOptions, document: Document, topics: list[str]
) -> None:
    """What can be done for the throttle when the cluster let us down in the middle."""
    try:
        await clean(cluster, options, document, topics, known=watch.throttled)
    except KcliError as error:
        say(options, f"throttles may still be set ({error}); `kcli reassign throttle` shows them")


async def _batches(
    watch: Watch,
    cluster: Cluster,
    document: Document,
    options: BatchOptions,
    plan: MovePlan,
    rows: Rows,
    rate: int | None,
) -> int | None:
    waiting = waits(options)
    topics = sorted({at.topic for at in plan.wanted})
    await remember(cluster, plan.log_dirs)
    changes = plan.changes
    for part in pieces(list(changes), options.batch or len(changes) or 1):
        wanted = {at: changes[at] for at in part}
        if watch.interrupted:
            break
        if rate is not None and not await _throttled(watch, cluster, document, wanted, plan, rate):
            break
        begun = await _begin(cluster, document, plan, wanted, rows)
        if waiting and begun and not await watch.until_done(begun):
            break
    await follow(cluster, document, plan.log_dirs, there=waiting and not watch.interrupted)
    if waiting:
        code = await watch.finish(document, rows, topics)
        if code is not None or document.errors:
            return code
        say(options, f"{plural(len(rows), 'partition')} moved")
        return None
    if rate is not None:
        await clean(cluster, options, document, topics, quiet=True, known=watch.throttled)
    still = await list_reassignments(cluster, changes)
    if still:
        held = f", throttled to {bytes_text(rate)}/s," if rate is not None else ""
        say(
            options,
            f"{plural(len(still), 'partition')} on the way{held} `kcli reassign verify --wait` waits"
            f"{' and removes the throttle' if held else ''}",
        )
    return None


async def _throttled(
    watch: Watch, cluster: Cluster, document: Document, wanted: Assignment, plan: MovePlan, rate: int
) -> bool:
    """Whether the throttle holds everywhere; if not, nothing of it is left."""
    ongoing = await list_reassignments(cluster)
    copies = throttles.moves(wanted, plan.layout.replicas, ongoing)
    there = {str(node.id) for node in await cluster.nodes()}
    changes = {
        at: operations
        for at, operations in throttles.wanted(copies, rate).items()
        if at.kind == "topic" or at.name in there  # a broker that is down copies nothing, and cannot be configured
    }
    for at, operations in changes.items():
        watch.throttled.setdefault(at, set()).update(operation.name for operation in operations)
    return await settle_throttle(cluster, document, changes)


async def _begin(cluster: Cluster, document: Document, plan: MovePlan, wanted: Assignment, rows: Rows) -> Assignment:
    """What began to move; what did not is an error."""
    begun = await moves.begin(cluster, plan, wanted)
    for planned in plan.rows:
        if isinstance(planned, moves.PartitionMove) and planned.at in wanted:
            row = rows[planned.at]
            row.result = planned.result
            if planned.error is not None:
                row.error = str(planned.error)
                document.fail(planned.error, about(planned.at))
    return begun
