"""`kcli lag`: one snapshot of the groups' lag, and the assertions about it."""

from __future__ import annotations

import sys

from kcli.admin.groups.groups import progress_of
from kcli.admin.groups.rows import STATES
from kcli.cli.commands.lag.measured import (
    GroupBesideRow,
    GroupRow,
    LagTopicRow,
    PartitionRow,
    group_row,
    measured_all,
    partition_row,
    problems,
    topic_row,
)
from kcli.cli.commands.lag.options import LagOptions
from kcli.cli.commands.lag.report import add_breaches
from kcli.cli.output.messages import complain
from kcli.cli.output.tables.rows import shape
from kcli.cli.parsing.command import command
from kcli.cli.runtime.answer import answer, plural, say, some_of
from kcli.cli.runtime.names import names_of
from kcli.errors import UsageError
from kcli.lag import figures as engine
from kcli.lag.snapshot import take
from kcli.lag.status import SEVERITY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.commands.lag.measured import Measured
    from kcli.cli.output.tables.document import Document
    from kcli.lag.snapshot import Snapshot
    from kcli.model import Cluster
    from kcli.text.names import Names

EMPTY = "no groups"
SHAPES = {
    "topic": shape(
        "lag",
        "Lag by group and topic, and the groups. Named groups without --by.",
        LagTopicRow,
        GroupBesideRow,
        empty=EMPTY,
    ),
    "group": shape("lag.group", "Lag by group.", GroupRow, empty=EMPTY),
    "partition": shape("lag.partition", "Lag by partition, and the groups.", PartitionRow, GroupBesideRow, empty=EMPTY),
}
"""What is printed at a level."""


@command(
    "lag",
    words="GROUP",
    examples="""
kcli lag                                 # all groups, worst first
kcli lag billing                         # by topic
kcli lag 'billing-*' -t '^orders'        # of all groups and topics that match
kcli lag billing --by partition          # by partition, with member and host
kcli lag billing --by partition --records        # count the records, too, by reading them
kcli lag billing --max-lag 1000 -q       # exit code 3 if it is more
kcli lag --watch                         # rates, ETA and time lag, every 5 s; Ctrl-C ends it
kcli lag billing --watch --format ndjson | jq .eta
kcli lag billing --max-lag 0 --timeout 5m        # wait until it has caught up, else exit 4
kcli lag billing --max-time 5m --for 2m          # exit 3 as soon as it lags longer
kcli lag record > incident.ndjson                # then: kcli lag --replay incident.ndjson
kcli lag --replay incident.ndjson --html incident.html   # a page that replays it in any browser
kcli lag --prometheus :9308                      # metrics, as kafka_exporter names them
kcli lag --by partition -J | jq '.partitions[] | select(.status == "ORPHANED")'""",
)
def lag(options: LagOptions) -> int:
    """Print consumer lag of all groups, or of those named.

    Lag is the end offset minus the committed offset. It counts offsets, not records: compaction, markers and aborted
    transactions leave offsets without a record. --records counts the records, and --max-lag then limits records.
    Committed offsets are read before end offsets. "–" means nothing was committed. ORPHANED: lag and no member. LOSING
    DATA: retention deleted records before they were read. -q prints no table, unless --format or -J is given: the exit
    code is the result.
    """
    some_of(options.states, STATES, "--state")
    if not options.over_time:
        return _once(options)
    from kcli.cli.commands.lag.watch import run

    if options.records:
        raise UsageError("--records cannot be combined with --watch or other options that refresh")
    return run(options)


def _once(options: LagOptions) -> int:
    """Print one snapshot; anything over time is in `watch`."""
    groups, topics = names_of(options, options.words), names_of(options, options.topics)
    level = options.level(groups.words)

    async def work(cluster: Cluster, document: Document) -> int | None:
        snapshot = await take(
            cluster,
            groups,
            states=options.states,
            isolation=options.isolation_level,
            topics=topics,
            stable=True,
            own=options.internal,
        )
        measured = await measured_all(cluster, snapshot, options.max_lag or 0)
        await problems(cluster, snapshot, document)
        fill(document, [row for row in measured if row[1]] if topics.words and not groups.words else measured, level)
        _say_missing(options, topics, snapshot, document)
        totals = [(total, rows) for _, rows, total in measured]
        if options.records:
            from kcli.cli.commands.lag.records import add_records

            asserted = options.max_lag is not None
            totals = await add_records(cluster, measured, document, options.isolation, uncommitted=asserted)
        code = _assertion(options, groups, totals, document)
        if options.silent:
            document.rows.clear()
        return code

    return answer(options, SHAPES[level], work)


def fill(document: Document, measured: list[Measured], level: str) -> None:
    """The rows of every section; groups worst first, and the most lag first among equals."""
    if level == "group":
        measured.sort(key=lambda m: (-SEVERITY.index(m[2].status), -(m[2].lag or 0), m[2].group))
    document.of(GroupRow)[:] = [group_row(group.described, total) for group, _, total in measured]
    rows = [row for _, partitions, _ in measured for row in partitions]
    if level == "partition":
        document.of(PartitionRow)[:] = [partition_row(row) for row in rows]
    elif level == "topic":
        document.of(LagTopicRow)[:] = [topic_row(total) for total in engine.by_topic(rows)]


def _assertion(
    options: LagOptions, groups: Names, totals: list[tuple[engine.Total, list[engine.Lag]]], document: Document
) -> int | None:
    """Judge --max-lag, with --records in records: 3 and the reasons in the document where it does not hold."""
    if options.max_lag is None:
        return None
    why = engine.over(totals, options.max_lag, "record" if options.records else "offset")
    if not document.errors:
        why = engine.untold(totals, groups.exact, f"max-lag {options.max_lag}") + why
    add_breaches(document, why)
    return 3 if why else None


def _say_missing(options: LagOptions, topics: Names, snapshot: Snapshot, document: Document) -> None:
    """Name what has no row: topics that belong to no group, and the groups in which kcli keeps its own progress."""
    if options.max_lag is None and not options.quiet and not document.errors:
        _say_unread(snapshot, topics, named=bool(options.words))
    if snapshot.own and (options.verbose or sys.stderr.isatty()):
        say(options, f"{_left_out(snapshot.own)}; --internal shows {'it' if len(snapshot.own) == 1 else 'them'}")


def _left_out(groups: list[str]) -> str:
    commands = " and ".join(sorted({progress_of(name) or "" for name in groups}))
    verb = "is" if len(groups) == 1 else "are"
    return f"{plural(len(groups), 'group')} with the progress of kcli {commands} {verb} hidden"


def _say_unread(snapshot: Snapshot, topics: Names, *, named: bool) -> None:
    """Name the topics of the line that no group reads: an empty table would look as if all were well."""
    read = {sample.topic for group in snapshot.groups for sample in group.samples}
    unread = [topic for topic in topics.exact if topic not in read] + topics.among(read).unmatched
    for topic in unread:
        complain(f"{topic}: {'no such group' if named else 'no group'} has committed offsets or owns a partition of it")
