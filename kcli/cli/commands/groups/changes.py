"""The way from a plan of new offsets to what became of it: the question, the change, row by row."""

from __future__ import annotations

from kcli.admin.groups.reset_plan import execute
from kcli.admin.topics.topics import describe_topics
from kcli.asking.coordinators import Coordinators
from kcli.asking.leaders import TopicMissing
from kcli.cli.commands.groups.undo import undo_of
from kcli.cli.output.tables.rows import Row, column
from kcli.cli.runtime.answer import missing, say
from kcli.cli.runtime.change import PlannedChange, make_change

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from kcli.admin.groups.reset import Change
    from kcli.cli.output.tables.document import Document
    from kcli.cli.output.tables.shape import Shape
    from kcli.cli.parsing.groups import UndoOptions
    from kcli.model import Cluster

    Planned = Callable[[Coordinators, Document], Awaitable[list[Change]]]


class ChangeRow(Row, section="partitions"):
    group: str = column("Name of the group.", rank=1)
    topic: str = column("Name of the topic.", rank=1)
    partition: int = column("Number of the partition.", rank=1)
    old: int | None = column("Committed offset before; null when nothing was committed.", rank=1)
    new: int | None = column("Committed offset after; null for none.", rank=1)
    delta: int | None = column("new minus old; null where one of them is none.")
    lag: int | None = column("Offsets behind at the new offset; null without one.", table=False, unit="count", rank=1)
    result: str = column(
        "would reset, would delete, reset, deleted, unchanged, skipped, refused, failed or unknown.",
        unit="word",
        rank=1,
    )
    note: str | None = column("Note about the row; null without one.", unit="sentence")
    start: int | None = column("Log start offset.", table=False)
    end: int | None = column("High watermark.", table=False)
    error: str | None = column("Reason of a failure; null without one.", table=False, unit="sentence")


def run(options: UndoOptions, shape: Shape, planned: Planned, *, by_pattern: bool = False, verb: str = "change") -> int:
    """Show what `planned` returns and do it, if that is wanted; `shape` has rows of changes. `by_pattern`: a pattern
    found the groups."""

    async def make_plan(cluster: Cluster, document: Document) -> PlannedChange | None:
        coordinators = Coordinators(cluster)
        try:
            changes = await planned(coordinators, document)
        except TopicMissing as error:
            missing(document, error.topic, error, await describe_topics(cluster, internal=False))
            return None
        _show(changes, document)
        ready = [change for change in changes if change.open]
        if not ready and not document.errors:
            nothing = "nothing to change" if changes else "no committed offset: nothing to change"
            say(options, nothing)
        if not ready:
            return None
        groups = sorted({change.group for change in ready})

        undo = undo_of([(change.group, change.at, change.old) for change in ready])

        async def carry_out() -> int | None:
            await execute(coordinators, ready)
            document.errors.clear()
            _show(changes, document)
            _summary(options, changes)
            return None

        return PlannedChange(
            names=groups, verb=verb, noun="group", by_pattern=by_pattern, undo=undo, carry_out=carry_out
        )

    return make_change(options, shape, make_plan)


def _summary(options: UndoOptions, changes: list[Change]) -> None:
    counts: dict[str, int] = {}
    for change in changes:
        counts[change.result] = counts.get(change.result, 0) + 1
    say(options, "offsets: " + ", ".join(f"{count} {result}" for result, count in counts.items()))


def _show(changes: list[Change], document: Document) -> None:
    """Put rows and errors into the document; once an error that all partitions of a group share."""
    document.of(ChangeRow)[:] = [_row(change) for change in changes]
    shown: set[int] = set()
    for change in changes:
        if change.error is not None and id(change.error) not in shown:
            shown.add(id(change.error))
            document.fail(change.error, change.group)


def _row(change: Change) -> ChangeRow:
    old, new = change.old, change.new
    return ChangeRow(
        group=change.group,
        topic=change.at.topic,
        partition=change.at.partition,
        old=None if old is None else old.offset,
        new=None if new is None else new.offset,
        delta=change.delta,
        lag=None if new is None or change.end is None else max(change.end - new.offset, 0),
        result=change.result,
        note="; ".join(change.notes) or None,
        start=change.start,
        end=change.end,
        error=None if change.error is None else str(change.error),
    )
