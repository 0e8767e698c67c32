"""Partitions on their way: throttled before they begin, batch after batch, and nothing left of the throttle in the end,
whichever end that is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.reassign import throttles
from kcli.admin.reassign.reassignments import about, alter_reassignments, list_reassignments
from kcli.asking.fan_out import pieces
from kcli.cli.commands.reassign.disks_moving import follow, remember
from kcli.cli.commands.reassign.plan import Plan
from kcli.cli.commands.reassign.throttle import clean, settle_throttle
from kcli.cli.commands.reassign.wait import Watch
from kcli.cli.output.render import Document
from kcli.cli.runtime.answer import plural, say
from kcli.errors import KcliError
from kcli.grammar.units import bytes_text
from kcli.model import Cluster, TopicPartition

if TYPE_CHECKING:
    from kcli.admin.reassign.reassignments import Assignment
    from kcli.cli.output.shapes.shape import Row
    from kcli.cli.parsing.option import Values

    Rows = dict[TopicPartition, Row]


async def move(
    cluster: Cluster, document: Document, values: Values, made: Plan, rows: Rows, rate: int | None
) -> int | None:
    """Move what the plan changes; the exit code, if it is settled by a signal or --timeout."""
    topics = sorted({at.topic for at in made.wanted})
    with Watch(cluster, values) as watch:
        try:
            return await _batches(watch, cluster, document, values, made, rows, rate)
        except KcliError:
            if rate is not None:
                await _left_alone(watch, cluster, values, document, topics)
            raise


async def _left_alone(watch: Watch, cluster: Cluster, values: Values, document: Document, topics: list[str]) -> None:
    """What can be done for the throttle when the cluster let us down in the middle."""
    try:
        await clean(cluster, values, document, topics, known=watch.throttled)
    except KcliError as error:
        say(values, f"throttles may be left ({error}); `kcli reassign throttle` shows them")


async def _batches(
    watch: Watch, cluster: Cluster, document: Document, values: Values, made: Plan, rows: Rows, rate: int | None
) -> int | None:
    waiting = values["wait"] or values["batch"] is not None
    topics = sorted({at.topic for at in made.wanted})
    await remember(cluster, made.log_dirs)
    changes = made.changes()
    for part in pieces(list(changes), values["batch"] or len(changes) or 1):
        wanted = {at: changes[at] for at in part}
        if watch.interrupted:
            break
        if rate is not None and not await _throttled(watch, cluster, document, wanted, made, rate):
            break
        begun = await _begin(cluster, document, wanted, rows)
        if waiting and begun and not await watch.until_done(begun):
            break
    await follow(cluster, document, made.log_dirs, there=waiting and not watch.interrupted)
    if waiting:
        code = await watch.finish(document, rows, topics)
        if code is not None or document.errors:
            return code
        say(values, f"{plural(len(rows), 'partition')} moved")
        return None
    if rate is not None:
        await clean(cluster, values, document, topics, quiet=True, known=watch.throttled)
    still = await list_reassignments(cluster, changes)
    if still:
        held = f", throttled to {bytes_text(rate)}/s," if rate is not None else ""
        say(
            values,
            f"{plural(len(still), 'partition')} on the way{held} `kcli reassign verify --wait` waits"
            f"{' and takes the throttle away' if held else ''}",
        )
    return None


async def _throttled(
    watch: Watch, cluster: Cluster, document: Document, wanted: Assignment, made: Plan, rate: int
) -> bool:
    """Whether the throttle holds everywhere; if not, nothing of it is left."""
    ongoing = await list_reassignments(cluster)
    moves = throttles.moves(wanted, made.everything, ongoing)
    changes = throttles.wanted(moves, rate)
    for at, some in changes.items():
        watch.throttled.setdefault(at, set()).update(one.name for one in some)
    return await settle_throttle(cluster, document, changes)


async def _begin(cluster: Cluster, document: Document, wanted: Assignment, rows: Rows) -> Assignment:
    """What began to move; what did not is an error."""
    begun = {}
    for at, problem in (await alter_reassignments(cluster, wanted)).items():
        if problem is None:
            begun[at] = wanted[at]
            rows[at]["result"] = "moving"
        else:
            rows[at]["result"], rows[at]["error"] = "failed", str(problem)
            document.fail(problem, about(at))
    return begun
