"""`kcli topics trim`: records before an offset are deleted for good, after a plan that says how many."""

from __future__ import annotations

import time

from kcli.admin.groups.reset_plan import standings
from kcli.admin.topics.delete_records import delete_records
from kcli.asking.offsets import LogOffset, list_offsets
from kcli.cli.commands.groups.scope import Scope
from kcli.cli.runtime.answer import answer, confirm, excluding, plural, say, words_of
from kcli.errors import KcliError, UsageError
from kcli.grammar.offsets import Range, parse_range

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.output.render import Document
    from kcli.cli.output.shapes.shape import Row
    from kcli.cli.parsing.option import Values
    from kcli.grammar.bound import Bound
    from kcli.model import Cluster, TopicPartition

    Ends = dict[TopicPartition, tuple[int, int] | KcliError]


def trim(values: Values) -> int:
    """`kcli topics trim TOPIC[:0,1]...`."""
    scope, where = Scope(words_of(values, "TOPIC")), _where(values)
    excluding(values)

    async def work(cluster: Cluster, document: Document) -> int | None:
        parts = sorted(await scope.partitions(cluster, ()))
        ends = await standings(cluster, parts)
        times: dict[TopicPartition, LogOffset | KcliError] = {}
        if where.kind == "time":
            times = await list_offsets(cluster, dict.fromkeys(parts, where.value))
        rows = document.rows["partitions"] = [_row(at, ends[at], where, times.get(at), document) for at in parts]
        ready = {at: row for at, row in zip(parts, rows, strict=True) if row["result"] == "would trim"}
        gone = sum(row["offsets"] for row in ready.values())
        if values["dry_run"] or not ready:
            return None
        topics = sorted({at.topic for at in ready})
        phrase = topics[0] if len(topics) == 1 else f"trim {plural(len(topics), 'topic')}"
        if not confirm(values, document, phrase):
            document.rows.clear()
            return 1
        done = await delete_records(cluster, {at: row["new"] for at, row in ready.items()})
        for at, row in ready.items():
            outcome = done[at]
            if isinstance(outcome, KcliError):
                row["result"], row["error"] = "failed", str(outcome)
                document.fail(outcome, f"{at.topic} [{at.partition}]")
            else:
                row["result"], row["new"] = "trimmed", outcome
        if not document.errors:
            say(values, f"{plural(gone, 'offset')} deleted")
        return None

    return answer(values, "topics.trim", work)


def _where(values: Values) -> Bound:
    """What --before says. Raises UsageError."""
    if values["before"] is None:
        raise UsageError("before which offset? --before N, -N, @TIME or end; there is no way back")
    try:
        found = parse_range([values["before"]], time.time_ns() // 1_000_000)
    except UsageError:  # which speaks of -o and of ranges
        found = Range()
    if found.start is None or found.stop is not None or found.start.kind == "stored":
        raise UsageError(f"--before {values['before']}: one place, such as 4711, -1000, @-7d or end")
    return found.start


def _row(
    at: TopicPartition,
    ends: tuple[int, int] | KcliError,
    where: Bound,
    written: LogOffset | KcliError | None,
    document: Document,
) -> Row:
    """What is to be deleted of a partition: nothing where it cannot be told how far its log or that time goes."""
    row: Row = {"topic": at.topic, "partition": at.partition, "old": None, "new": None, "offsets": None, "note": None}
    if isinstance(ends, KcliError):
        return _untold(row, at, ends, document)
    if isinstance(written, KcliError):
        return _untold(row, at, written, document)
    start, end = ends
    wanted = {
        "earliest": start,
        "latest": end,
        "offset": where.value,
        "relative": end - where.value,
        "from_start": start + where.value,
        "time": written.offset if written is not None and written.offset >= 0 else end,
    }[where.kind]
    new = min(max(wanted, start), end)
    beyond = f"clamped: {wanted} is past the log's end" if wanted > end else None
    return {
        **row, "old": start, "new": new, "offsets": new - start, "note": beyond,
        "result": "would trim" if new > start else "unchanged", "error": None,
    }  # fmt: skip


def _untold(row: Row, at: TopicPartition, problem: KcliError, document: Document) -> Row:
    document.fail(problem, f"{at.topic} [{at.partition}]")
    return {**row, "result": "failed", "error": str(problem)}
