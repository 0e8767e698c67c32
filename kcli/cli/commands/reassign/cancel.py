"""`kcli reassign cancel`: cancel the moves under way, and remove their throttles."""

from __future__ import annotations

from kcli.admin.reassign import assignment_file
from kcli.admin.reassign.reassignments import Ongoing, about, alter_reassignments, list_reassignments
from kcli.admin.storage.disks import Replica, alter_log_dirs
from kcli.admin.storage.log_dirs import log_dirs
from kcli.cli.commands.groups.scope import Scope
from kcli.cli.commands.reassign.partitions_chosen import AllTopicsOptions
from kcli.cli.commands.reassign.planning import FileOptions, file_of, undo_of
from kcli.cli.commands.reassign.throttling import KeepThrottleOptions, clean
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import NamedTopics, PatternOptions, UndoOptions
from kcli.cli.runtime.answer import plural, say
from kcli.cli.runtime.change import PlannedChange, make_change
from kcli.errors import UsageError
from kcli.model import Cluster, TopicPartition


class CancelRow(Row, section="partitions"):
    topic: str = column("Name of the topic.", rank=1)
    partition: int = column("Number of the partition.", rank=1)
    old: list[int] = column("All replicas while it moves.", rank=1, width=10)
    new: list[int] = column("The replicas after: those before the move.", rank=1, width=10)
    adding: list[int] = column("Brokers that get a replica.", rank=3)
    removing: list[int] = column("Brokers that lose a replica.", rank=3)
    result: str = column("would cancel, cancelled or failed.", unit="word", rank=1)
    error: str | None = column("Error of this row; null without one.", table=False, unit="sentence")


SHAPE = shape("reassign.cancel", "Moves that were cancelled, or would be.", CancelRow)


class CancelOptions(FileOptions, NamedTopics, PatternOptions, AllTopicsOptions, KeepThrottleOptions, UndoOptions):
    """All topics, and what becomes of throttles."""


@command(
    "reassign cancel",
    help="Cancel moves in progress.",
    words="FILE|TOPIC",
    examples="""
kcli reassign cancel plan.json --execute
kcli reassign cancel orders:0,3 --execute
kcli reassign cancel --all-topics --execute""",
)
def cancel(options: CancelOptions) -> int:
    """Cancel moves: each partition gets its previous replicas. The plan comes first; --execute applies it. Throttles
    are removed, unless other moves are in progress. `kcli undo` starts the cancelled moves again."""
    if bool(options.words) == options.all_topics:
        raise UsageError("missing argument: FILE, topics such as orders or orders:0,1, or --all-topics")
    path = None if options.all_topics else file_of(options.words)
    wanted, dirs = assignment_file.read(path) if path is not None else (None, {})
    scope = Scope([] if path is not None else options.words, literal=options.literal)

    async def make_plan(cluster: Cluster, document: Document) -> PlannedChange | None:
        ongoing = await list_reassignments(cluster)
        meant = {at: move for at, move in ongoing.items() if (scope.has(at) if wanted is None else at in wanted)}
        if not meant and scope.named:
            await scope.partitions(cluster, ())  # a mistyped name must not read as "nothing moves"
        rows = {at: _row(at, move) for at, move in meant.items()}
        document.of(CancelRow)[:] = rows.values()
        back = await _on_disks(cluster, dirs)
        if not rows and not back:
            say(options, "none of these partitions moves")
            if not options.execute:
                return None
        topics = sorted({at.topic for at in wanted or meant})

        async def carry_out() -> int | None:
            await _take_back(cluster, document, rows, back)
            if not options.keep_throttle:
                await clean(cluster, options, document, topics if wanted is not None or scope.named else None)
            return None

        return PlannedChange(
            names=topics if scope.patterns else [f"cancel {plural(len(rows) or len(back), 'move')}"],
            noun="topic",
            by_pattern=bool(scope.patterns),
            final=bool(back),
            undo=undo_of({at: move.target for at, move in meant.items()}),
            carry_out=carry_out,
        )

    return make_change(options, SHAPE, make_plan)


def _row(at: TopicPartition, move: Ongoing) -> CancelRow:
    return CancelRow(
        topic=at.topic,
        partition=at.partition,
        old=move.replicas,
        new=move.sources,
        adding=move.adding,
        removing=move.removing,
        result="would cancel",
        error=None,
    )


async def _take_back(
    cluster: Cluster, document: Document, rows: dict[TopicPartition, CancelRow], back: dict[Replica, str]
) -> None:
    """Cancel the moves between brokers, and those between directories; the rows and the document say what failed."""
    for at, problem in (await alter_reassignments(cluster, dict.fromkeys(rows))).items():
        rows[at].result, rows[at].error = ("cancelled", None) if problem is None else ("failed", str(problem))
        if problem is not None:
            document.fail(problem, about(at))
    for replica, problem in (await alter_log_dirs(cluster, back)).items():
        if problem is not None:
            document.fail(problem, f"{replica.topic} [{replica.partition}]")


async def _on_disks(cluster: Cluster, dirs: dict[Replica, str]) -> dict[Replica, str]:
    """Replicas that are on their way to another directory, and the one they are in."""
    if not dirs:
        return {}
    places, _ = await log_dirs(cluster, brokers={at.broker for at in dirs})
    here: dict[Replica, str] = {}
    moving: set[Replica] = set()
    for place in places:
        for replica in place.replicas:
            at = Replica(replica.topic, replica.partition, replica.broker)
            if replica.future:
                moving.add(at)
            else:
                here[at] = place.directory
    return {at: here[at] for at in dirs if at in moving and at in here}
