"""`kcli reassign cancel`: cancel the moves under way, and remove their throttles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.reassign import assignment_file
from kcli.changes import moves
from kcli.cli.commands.groups.scope import Scope
from kcli.cli.commands.reassign.partitions_chosen import AllTopicsOptions
from kcli.cli.commands.reassign.planning import FileOptions, file_of
from kcli.cli.commands.reassign.throttling import KeepThrottleOptions, clean
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import NamedTopics, PatternOptions, UndoOptions
from kcli.cli.runtime.answer import plural
from kcli.cli.runtime.change import PlannedChange, make_change, of_plan
from kcli.errors import UsageError
from kcli.model import Cluster

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


class CancelRow(Row, section="partitions"):
    topic: str = column("Name of the topic.", rank=1)
    partition: int = column("Number of the partition.", rank=1)
    old: list[int] = column("All replicas while it moves.", rank=1, width=10)
    new: list[int] = column("The replicas after: those before the move.", rank=1, width=10)
    adding: list[int] = column("Brokers that get a replica.", rank=3)
    removing: list[int] = column("Brokers that lose a replica.", rank=3)
    result: str = column("would cancel, cancelled, failed or unknown.", unit="word", rank=1)
    error: str | None = column("Error of this row; null without one.", table=False, unit="sentence")


SHAPE = shape("reassign.cancel", "Moves that were cancelled, or would be.", CancelRow)


NOTHING = "none of these partitions is moving"


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
        made = await moves.plan_cancel(cluster, scope.has if wanted is None else wanted.__contains__, dirs)
        found = sorted({str(row.as_json()["topic"]) for row in made.rows})
        if not found and scope.named:
            await scope.partitions(cluster, ())  # a mistyped name must not read as "nothing moves"
        planned = of_plan(
            *(options, document, (CancelRow,), cluster, made), nothing="" if made.apply else NOTHING,
            names=found if scope.patterns else [f"cancel {plural(len(made.rows) or len(dirs), 'move')}"],
            done=lambda rows: "", noun="topic", by_pattern=bool(scope.patterns),
        )  # fmt: skip
        topics = sorted({at.topic for at in wanted}) if wanted is not None else found if scope.named else None
        if options.keep_throttle or (planned is None and not options.execute):
            return planned
        return _and_cleaned(planned, lambda: clean(cluster, options, document, topics))

    return make_change(options, SHAPE, make_plan)


def _and_cleaned(planned: PlannedChange | None, clean: Callable[[], Awaitable[bool]]) -> PlannedChange:
    """The change, if there is one, and then no throttle that is left behind."""
    first = planned or PlannedChange(names=["remove throttles"], idle=True)

    async def carry_out() -> None:
        if planned is not None:
            await planned.carry_out()
        await clean()

    return first.replace(carry_out=carry_out)
