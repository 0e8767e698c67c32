"""`kcli reassign list`: what moves, and how far it is."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from kcli.admin.reassign.move_progress import Share, shares
from kcli.admin.reassign.reassignments import Ongoing, list_reassignments
from kcli.cli.output.render import Document
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import OutputOptions
from kcli.cli.parsing.option import text
from kcli.cli.runtime.answer import answer, say
from kcli.grammar.units import number_of
from kcli.model import Cluster, TopicPartition

if TYPE_CHECKING:
    from kcli.cli.output.shapes.shape import Row


class ListOptions(OutputOptions):
    over = text("--over", metavar="SECONDS", help="How long to look for the rate (default 1; 0: no rate).")


@command(
    "reassign list",
    help="Moves under way: bytes and time left.",
    examples="""
kcli reassign
kcli reassign list --over 5 -J""",
)
def show(options: ListOptions) -> int:
    """Print the moves that are under way, from whomever: what is added and removed, bytes left, and the rate and the
    time left as seen within --over seconds.
    """
    over = 1.0 if options.over is None else number_of(options.over.removesuffix("s"), "--over")

    async def work(cluster: Cluster, document: Document) -> None:
        ongoing, before, now, seconds = await _looked(cluster, over)
        document.rows["partitions"] = [
            {"topic": at.topic, "partition": at.partition, **_progress(move, before[at], now[at], seconds)}
            for at, move in ongoing.items()
        ]
        if not ongoing:
            say(options, "nothing is being moved")

    return answer(options, "reassign.list", work)


async def _looked(
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


def _progress(move: Ongoing, before: Share, now: Share, seconds: float) -> Row:
    rate = max(before.left - now.left, 0) / seconds if seconds else None
    return {
        "replicas": move.replicas,
        "adding": move.adding,
        "removing": move.removing,
        "size": now.size,
        "left": now.left,
        "rate": rate,
        "eta": now.left / rate if rate else None,
    }
