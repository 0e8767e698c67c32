"""`kcli topics trim`: records before an offset are deleted for good, after a plan that says how many."""

from __future__ import annotations

import time

from kcli.admin.groups.reset_plan import standings
from kcli.admin.topics.delete_records import delete_records, new_start
from kcli.cli.commands.groups.scope import Scope
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ChangeOptions, NamedTopics, PatternOptions
from kcli.cli.parsing.option import text
from kcli.cli.runtime.answer import plural, say, words_of
from kcli.cli.runtime.change import PlannedChange, make_change
from kcli.errors import KcliError, UsageError
from kcli.grammar.offsets import one_place
from kcli.seeking.last_records import found_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.output.tables.document import Document
    from kcli.grammar.bound import Bound
    from kcli.model import Cluster, TopicPartition

    Ends = dict[TopicPartition, tuple[int, int] | KcliError]


class TrimRow(Row, section="partitions"):
    topic: str = column("Name of the topic.", rank=1)
    partition: int = column("Number of the partition.", rank=1)
    old: int | None = column("Log start offset before.", rank=1)
    new: int | None = column("Log start offset after.", rank=1)
    offsets: int | None = column("Number of offsets deleted.", unit="count")
    note: str | None = column("Note about the row; null without one.", sparse=True, unit="sentence")
    result: str = column("would trim, trimmed, unchanged or failed.", before="note", unit="word", rank=1)
    error: str | None = column("Error of this row; null without one.", table=False, unit="sentence")


SHAPE = shape("topics.trim", "Log start offsets before and after, and the number of offsets deleted.", TrimRow)


class TrimOptions(NamedTopics, PatternOptions, ChangeOptions):
    before = text("--before", "-o", metavar="WHERE", help="end, N, -N (before the end), +N (after the start), @TIME.")


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

    async def make_plan(cluster: Cluster, document: Document) -> PlannedChange | None:
        parts = sorted(await scope.partitions(cluster, ()))
        ends = await standings(cluster, parts)
        found = await found_at(cluster, parts, where)
        rows = document.of(TrimRow)
        rows += [_row(at, ends[at], where, found.get(at), document) for at in parts]
        ready = {at: row for at, row in zip(parts, rows, strict=True) if row.result == "would trim"}
        gone = sum(row.offsets or 0 for row in ready.values())
        if not ready:
            return None
        topics = sorted({at.topic for at in ready})

        async def carry_out() -> int | None:
            results = await delete_records(cluster, {at: row.new for at, row in ready.items() if row.new is not None})
            for at, row in ready.items():
                outcome = results[at]
                if isinstance(outcome, KcliError):
                    row.result, row.error = "failed", str(outcome)
                    document.fail(outcome, f"{at.topic} [{at.partition}]")
                else:
                    row.result, row.new = "trimmed", outcome
            if not document.errors:
                say(options, f"{plural(gone, 'offset')} deleted")
            return None

        return PlannedChange(
            names=topics, verb="trim", noun="topic", by_pattern=bool(scope.patterns), carry_out=carry_out
        )

    return make_change(options, SHAPE, make_plan)


def _where(text: str | None) -> Bound:
    """What --before says. Raises UsageError."""
    if text is None:
        raise UsageError("missing offset: --before N, -N, @TIME or end; deleted records cannot be restored")
    return one_place(text, time.time_ns() // 1_000_000, "--before ")


def _row(
    at: TopicPartition,
    ends: tuple[int, int] | KcliError,
    where: Bound,
    found: int | KcliError | None,
    document: Document,
) -> TrimRow:
    """What is to be deleted of a partition: nothing where the end of its log or the offset of the place is unknown."""
    if isinstance(ends, KcliError):
        return _unknown(at, ends, document)
    if isinstance(found, KcliError):
        return _unknown(at, found, document)
    start, _ = ends
    new, beyond = new_start(where, ends, found)
    result = "would trim" if new > start else "unchanged"
    return TrimRow(
        topic=at.topic,
        partition=at.partition,
        old=start,
        new=new,
        offsets=new - start,
        result=result,
        note=beyond or None,
        error=None,
    )


def _unknown(at: TopicPartition, problem: KcliError, document: Document) -> TrimRow:
    document.fail(problem, f"{at.topic} [{at.partition}]")
    return TrimRow(
        topic=at.topic,
        partition=at.partition,
        old=None,
        new=None,
        offsets=None,
        result="failed",
        note=None,
        error=str(problem),
    )
