"""`kcli reassign verify`: whether replicas are where they should be; then throttles go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.reassign import assignment_file
from kcli.admin.reassign.reassignments import list_reassignments, shares
from kcli.admin.storage import Replica, directories
from kcli.cli.commands.reassign.planning import FileOptions
from kcli.cli.commands.reassign.throttling import KeepThrottleOptions
from kcli.cli.commands.reassign.wait import Watch, WatchOptions
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import OutputOptions
from kcli.cli.runtime.answer import answer, say
from kcli.errors import KcliError, UsageError
from kcli.model import Cluster, TopicPartition

if TYPE_CHECKING:
    from kcli.admin.reassign.reassignments import Assignment

MOVING = 3  # exit code: an assertion, that all is done, did not hold


class VerifyRow(Row, section="partitions"):
    topic: str = column("Name of the topic.", rank=1)
    partition: int = column("Number of the partition.", rank=1)
    new: list[int] = column("The expected replicas.", rank=1, width=10)
    replicas: list[int] | None = column("All replicas while it moves.", sparse=True)
    size: int | None = column("Bytes to copy in total.", sparse=True, unit="bytes")
    left: int | None = column("Bytes left to copy.", sparse=True, unit="bytes")
    result: str = column("done, moving, cancelled or failed.", unit="word", rank=1)
    error: str | None = column("Error of this row; null without one.", table=False, unit="sentence")


SHAPE = shape("reassign.verify", "Status of moves, one a row.", VerifyRow)


class VerifyOptions(FileOptions, WatchOptions, KeepThrottleOptions, OutputOptions):
    """Waiting, and what becomes of throttles."""


@command(
    "reassign verify",
    help="Check whether moves are done; remove their throttles.",
    words="FILE",
    examples="""
kcli reassign verify plan.json
kcli reassign verify --wait                          # all moves in progress
kcli reassign verify plan.json --wait --timeout 1h -J""",
)
def verify(options: VerifyOptions) -> int:
    """Print the progress of the moves of FILE, or of all moves. When no move is left, all throttles of moves are
    removed. Exit code 3 while a move is in progress, 1 when replicas differ from FILE."""
    words = options.words
    if len(words) > 1:
        raise UsageError("give one FILE, or none for all moves")
    wanted: Assignment = {}
    dirs: dict[Replica, str] = {}
    if words:
        wanted, dirs = assignment_file.read(words[0])
    if options.patience is not None and not options.wait:
        raise UsageError("--timeout requires --wait")

    async def work(cluster: Cluster, document: Document) -> int | None:
        targets = wanted if words else {at: move.target for at, move in (await list_reassignments(cluster)).items()}
        rows = {at: _row(at, brokers) for at, brokers in targets.items()}
        document.of(VerifyRow)[:] = rows.values()
        with Watch(cluster, options, keep_throttle=options.keep_throttle) as watch:
            if options.wait:
                await watch.until_done(targets)
            code = await watch.finish(document, rows, sorted({at.topic for at in targets}) if words else None)
        await _on_disks(cluster, document, rows, dirs)
        ongoing = await list_reassignments(cluster, targets)
        now = await shares(cluster, ongoing)
        for at, move in ongoing.items():
            row = rows[at]
            row.replicas, row.size, row.left = move.replicas, now[at].size, now[at].left
        if not rows:
            say(options, "no moves in progress")
        if code is None and not document.errors and any(row.result == "moving" for row in rows.values()):
            return MOVING
        return code

    return answer(options, SHAPE, work)


def _row(at: TopicPartition, brokers: list[int]) -> VerifyRow:
    return VerifyRow(
        topic=at.topic,
        partition=at.partition,
        new=brokers,
        replicas=None,
        size=None,
        left=None,
        result="moving",
        error=None,
    )


async def _on_disks(
    cluster: Cluster, document: Document, rows: dict[TopicPartition, VerifyRow], dirs: dict[Replica, str]
) -> None:
    """Whether replicas are in the directories that the file names for them."""
    if not dirs:
        return
    here = await directories(cluster, dirs)
    for at, wanted in dirs.items():
        row = next(row for key, row in rows.items() if (key.topic, key.partition) == (at.topic, at.partition))
        if here.get((at, False)) == wanted or row.result != "done":
            continue
        if here.get((at, True)) == wanted:
            row.result = "moving"
            continue
        problem = KcliError(
            f"{at.topic} [{at.partition}] at broker {at.broker} is in {here.get((at, False))} and not in {wanted}"
        )
        row.result, row.error = "failed", str(problem)
        document.fail(problem, f"{at.topic} [{at.partition}]")
