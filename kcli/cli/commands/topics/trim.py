"""`kcli topics trim`: records before an offset are deleted for good, after a plan that says how many."""

from __future__ import annotations

import time

from kcli.changes import topics
from kcli.cli.commands.groups.scope import Scope
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ChangeOptions, NamedTopics, PatternOptions
from kcli.cli.runtime.answer import plural, words_of
from kcli.cli.runtime.change import apply_plan
from kcli.errors import UsageError
from kcli.grammar.offsets import one_place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Annotated

    import typer

    from kcli.changes import change
    from kcli.changes.change import Plan
    from kcli.grammar.bound import Bound
    from kcli.model import Cluster


class TrimRow(Row, section="partitions"):
    topic: str = column("Name of the topic.", rank=1)
    partition: int = column("Number of the partition.", rank=1)
    old: int | None = column("Log start offset before.", rank=1)
    new: int | None = column("Log start offset after.", rank=1)
    offsets: int | None = column("Number of offsets deleted.", unit="count")
    note: str | None = column("Note about the row; null without one.", sparse=True, unit="sentence")
    result: str = column("would trim, trimmed, unchanged, failed or unknown.", before="note", unit="word", rank=1)
    error: str | None = column("Error of this row; null without one.", table=False, unit="sentence")


SHAPE = shape("topics.trim", "Log start offsets before and after, and the number of offsets deleted.", TrimRow)


class TrimOptions(NamedTopics, PatternOptions, ChangeOptions):
    before: Annotated[
        str | None,
        typer.Option(
            "--before", "-o", metavar="WHERE", help="end, N, -N (before the end), +N (after the start), @TIME."
        ),
    ] = None


@command(
    "topics trim",
    help="Delete the records before an offset.",
    words="TOPIC[:0,1]",
    examples="""
kcli topics trim orders --before @-7d --dry-run       # records older than a week
kcli topics trim orders:0,1 --before 4711 --execute
kcli topics trim 'orders-*' --before @-7d --dry-run
kcli topics trim orders --before end --execute        # all current records
kcli topics trim orders --before -1000 --execute      # all but the last 1000 of each partition""",
)
def trim(options: TrimOptions) -> int:
    """Delete the records of topics before an offset or a time, for good. The plan comes first: old and new start of
    each log, and the number of offsets deleted."""
    scope, where = Scope(words_of(options, "TOPIC"), literal=options.literal), _where(options.before)

    async def planned(cluster: Cluster) -> Plan:
        return await topics.trim(cluster, await scope.partitions(cluster, ()), where)

    return apply_plan(
        options, SHAPE, TrimRow, planned, verb="trim", noun="topic", by_pattern=bool(scope.patterns), done=_done
    )


def _done(rows: Sequence[change.Row]) -> str:
    """How much is gone."""
    if any(row.error for row in rows):
        return ""
    return f"{plural(sum(row.offsets or 0 for row in rows if isinstance(row, topics.TrimRow)), 'offset')} deleted"


def _where(text: str | None) -> Bound:
    """What --before says. Raises UsageError."""
    if text is None:
        raise UsageError("missing offset: --before N, -N, @TIME or end; deleted records cannot be restored")
    return one_place(text, time.time_ns() // 1_000_000, "--before ")
