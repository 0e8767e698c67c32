"""`kcli reassign list`: what moves, and how far it is."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from kcli.admin.reassign.reassignments import Ongoing, Share, list_reassignments, shares
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import Row, column, duration, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ReadOptions
from kcli.cli.runtime.answer import answer, say
from kcli.grammar.durations import seconds
from kcli.model import Cluster, TopicPartition

if TYPE_CHECKING:
    from typing import Annotated

    import typer


class MoveRow(Row, section="partitions"):
    topic: str = column("Name of the topic.", rank=1)
    partition: int = column("Number of the partition.", rank=1)
    replicas: list[int] = column("All replicas while it moves.")
    adding: list[int] = column("Brokers that get a replica.", rank=3)
    removing: list[int] = column("Brokers that lose a replica.", rank=3)
    size: int = column("Bytes to copy in total.", unit="bytes")
    left: int = column("Bytes left to copy.", unit="bytes")
    rate: float | None = column("Bytes copied per second.", unit="bytes/s")
    eta: float | None = duration("Seconds until the move is complete.")


SHAPE = shape("reassign.list", "Moves of partitions in progress, one a row.", MoveRow)


class ListOptions(ReadOptions):
    over: Annotated[
        str | None,
        typer.Option(
            "--over", metavar="DURATION", help="Time over which the rate is measured (default 1s; 0: no rate)."
        ),
    ] = None


@command(
    "reassign list",
    help="List moves in progress: bytes and time left.",
    examples="""
kcli reassign
kcli reassign list --over 5s -J""",
)
def show(options: ListOptions) -> int:
    """Print all moves in progress: replicas added and removed, bytes left, and the rate and time left, measured over
    --over."""
    over = seconds(options.over, "--over", 1.0)

    async def work(cluster: Cluster, document: Document) -> None:
        ongoing, before, now, seconds = await _read(cluster, over)
        document.of(MoveRow)[:] = [_row(at, move, before[at], now[at], seconds) for at, move in ongoing.items()]
        if not ongoing:
            say(options, "no moves in progress")

    return answer(options, SHAPE, work)


async def _read(
    cluster: Cluster, over: float
) -> tuple[dict[TopicPartition, Ongoing], dict[TopicPartition, Share], dict[TopicPartition, Share], float]:
    """What moves, how far it was and is, and the seconds between."""
    ongoing = await list_reassignments(cluster)
    before = now = await shares(cluster, ongoing)
    clock, begun = asyncio.get_running_loop().time, asyncio.get_running_loop().time()
    if not ongoing or not over:
        return ongoing, before, now, 0.0
    await asyncio.sleep(over)
    now = await shares(cluster, ongoing)
    return ongoing, before, now, clock() - begun


def _row(at: TopicPartition, move: Ongoing, before: Share, now: Share, seconds: float) -> MoveRow:
    rate = now.rate_since(before, seconds)
    return MoveRow(
        topic=at.topic,
        partition=at.partition,
        replicas=move.replicas,
        adding=move.adding,
        removing=move.removing,
        size=now.size,
        left=now.left,
        rate=rate,
        eta=now.eta(rate),
    )
