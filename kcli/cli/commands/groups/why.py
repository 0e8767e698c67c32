"""`kcli groups why`: why a group lags, in the dashboard's sentence, and the command that fixes it."""

from __future__ import annotations

import asyncio
import sys
import time

from kcli.admin.groups.groups import progress_of
from kcli.cli.commands.lag.measured import problems, unknown_column
from kcli.cli.commands.lag.records import count_few
from kcli.cli.output.tables.render import render
from kcli.cli.output.tables.rows import Row, column, duration, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import NamedGroups, PatternOptions, ReadOptions
from kcli.cli.runtime.answer import answer, say
from kcli.cli.runtime.names import names_of
from kcli.grammar.durations import seconds
from kcli.lag.formats.past import recall
from kcli.lag.formats.sentences import reason, remedy
from kcli.lag.history import History
from kcli.lag.status import CALM, LOSING_DATA, NO_COMMIT, ORPHANED, SEVERITY, TXN_BLOCKED, UNKNOWN
from kcli.lag.watch import Watch
from kcli.text.escape import visible
from kcli.text.numbers import lower_bound
from kcli.text.width import middle, wrapped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Annotated

    import typer

    from kcli.cli.output.tables.document import Document
    from kcli.cli.output.terminal import Terminal
    from kcli.lag.history import GroupStanding
    from kcli.lag.watch import LagSnapshot
    from kcli.model import Cluster

OVER = 10.0  # seconds that groups are watched for
TURN = 1.0  # seconds between two refreshes
PLAIN = (*CALM, UNKNOWN, NO_COMMIT, ORPHANED, LOSING_DATA, TXN_BLOCKED)
"""Statuses that do not change by watching for some seconds."""


class WhyRow(Row, section="groups"):
    group: str = column("Name of the group.", rank=1)
    status: str = column("Status of the group, as in `kcli lag --watch`.", unit="word", rank=1)
    lag: int | None = column("Offsets behind: end minus committed; null without a commit.", unit="count", rank=1)
    why: str = column("Why the group has this status.", unit="sentence")
    fix: str | None = column("Suggested fix; null if none is needed.", unit="sentence")
    command: str | None = column("The command for the fix.")
    eta: float | None = duration("Seconds until the group has caught up; null if unknown.", table=False)
    status_partitions: int = column("Partitions that have this status.", table=False, unit="count")
    partitions: int = column("Partitions the group committed or owns.", table=False, unit="count")
    unknown: int = unknown_column()
    records: int | None = column(
        "Records behind; null unless at most 4 MiB had to be read to count them.", table=False, unit="count"
    )


SHAPE = shape("groups.why", "Why groups lag, and the suggested fix.", WhyRow)


class WhyOptions(NamedGroups, PatternOptions, ReadOptions):
    over: Annotated[
        str | None,
        typer.Option(
            "--over",
            metavar="DURATION",
            help="Watch for this long if one refresh is not enough (default 10s; detecting STUCK takes 30s).",
        ),
    ] = None


@command(
    "groups why",
    help="Explain why groups lag and name the command that helps.",
    words="GROUP",
    examples="""
kcli groups why billing
kcli groups why                          # all groups that lag, worst first
kcli groups why billing --over 40s       # long enough to call a member stuck
kcli groups why 'billing-*' -J | jq -r '.groups[].command'""",
)
def why(options: WhyOptions) -> int:
    """Explain why groups lag and name the command that helps. All groups that lag, or those named.

    If one refresh cannot explain a group, kcli watches it for --over. kcli counts records if at most 4 MiB must be read
    for that; otherwise it reports offsets.
    """
    over = seconds(options.over, "--over", OVER)
    names = names_of(options, options.words)

    async def work(cluster: Cluster, document: Document) -> None:
        history = History()
        await recall(cluster, history)
        watch = Watch(cluster, names, history, exact=True)
        snapshot = await watch.refresh()
        ends = time.monotonic() + over
        if _undecided(snapshot):
            say(options, f"watching for {over:g} s …")
        while _undecided(snapshot) and time.monotonic() < ends:
            await asyncio.sleep(min(TURN, max(ends - time.monotonic(), 0.0)))
            snapshot = await watch.refresh()
        await problems(cluster, snapshot.snapshot, document)
        meant = [group for group in snapshot.groups if names.words or _lags(group)]
        meant.sort(key=lambda group: (-SEVERITY.index(group.status), -(group.total.lag or 0), group.total.group))
        await count_few(cluster, meant)
        document.of(WhyRow)[:] = [_row(group, snapshot) for group in meant]
        if not meant and not document.errors:
            say(options, "no group lags")

    return answer(options, SHAPE, work, _text)


def _undecided(snapshot: LagSnapshot) -> bool:
    return any(group.status not in PLAIN for group in snapshot.groups)


def _lags(group: GroupStanding) -> bool:
    return group.status not in CALM and progress_of(group.described.group) is None


def _row(group: GroupStanding, snapshot: LagSnapshot) -> WhyRow:
    advice = remedy(group)
    return WhyRow(
        group=group.described.group,
        status=group.status,
        lag=group.total.lag,
        why=reason(group, snapshot),
        fix=None if advice is None else advice[0],
        command=None if advice is None else str(advice[1]),
        eta=None if group.eta is None else round(group.eta, 3),
        status_partitions=group.total.alike,
        partitions=group.total.partitions,
        unknown=group.total.unknown,
        records=group.records,
    )


def _text(document: Document, format: str, terminal: Terminal | None) -> str:
    """Sentences for people: in a table they would be broken. --columns wants a table."""
    if format != "table" or document.view.columns:
        return render(document, format, terminal)
    by_name = {row.group: row for row in document.of(WhyRow)}
    width = terminal.width if terminal is not None and not document.view.wide else sys.maxsize
    lines = []
    for shown in document.section(document.main):
        row = by_name[str(shown["group"])]
        behind = "" if row.lag is None else f", {lower_bound(row.lag, row.unknown)} behind"
        status = f"  {row.status}{behind}"
        lines += [
            f"{middle(_seen(row.group, terminal), width - len(status))}{status}",
            *_folded(_seen(row.why, terminal), width, 2),
        ]
        if row.command is not None:
            lines += [*_folded(f"{row.fix}:", width, 2), f"    {_seen(row.command, terminal)}"]
    return "".join(f"{line}\n" for line in lines)


def _seen(text: str, terminal: Terminal | None) -> str:
    return text if terminal is None else visible(text)


def _folded(text: str, width: int, indent: int) -> list[str]:
    """A sentence in lines of the terminal. A command is never broken: it is copied."""
    return [" " * indent + line for line in wrapped(text, max(width - indent, 1))]
