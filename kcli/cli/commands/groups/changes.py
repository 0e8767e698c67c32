"""A change of committed offsets on the command line: its plan as rows, then the change."""

from __future__ import annotations

from collections import Counter

from kcli.cli.output.tables.rows import Row, column
from kcli.cli.runtime.change import apply_plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from kcli.changes import change as changes
    from kcli.changes.change import Plan
    from kcli.cli.output.tables.shape import Shape
    from kcli.cli.parsing.groups import UndoOptions
    from kcli.model import Cluster


class ChangeRow(Row, section="partitions"):
    group: str = column("Name of the group.", rank=1)
    topic: str = column("Name of the topic.", rank=1)
    partition: int = column("Number of the partition.", rank=1)
    old: int | None = column("Committed offset before; null when nothing was committed.", rank=1)
    new: int | None = column("Committed offset after; null for none.", rank=1)
    delta: int | None = column("new minus old; null if either is null.")
    lag: int | None = column("Offsets behind at the new offset; null without one.", table=False, unit="count", rank=1)
    result: str = column(
        "would reset, would delete, reset, deleted, unchanged, skipped, refused, failed or unknown.",
        unit="word",
        rank=1,
    )
    note: str | None = column("Note about the row; null without one.", unit="sentence")
    start: int | None = column("Log start offset.", table=False)
    end: int | None = column("High watermark.", table=False)
    error: str | None = column("Reason for a failure; null if there was none.", table=False, unit="sentence")


def run(
    options: UndoOptions,
    shape: Shape,
    planned: Callable[[Cluster], Awaitable[Plan]],
    *,
    by_pattern: bool = False,
    verb: str = "change",
) -> int:
    """Show the plan and make the change, if that is wanted. `by_pattern`: a pattern found the groups."""
    return apply_plan(
        options,
        shape,
        ChangeRow,
        planned,
        verb=verb,
        noun="group",
        by_pattern=by_pattern,
        done=_done,
    )


def _done(rows: Sequence[changes.Row]) -> str:
    counts = Counter(row.result for row in rows)
    return "offsets: " + ", ".join(f"{count} {result}" for result, count in counts.items())
