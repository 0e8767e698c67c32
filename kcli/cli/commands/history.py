"""`kcli history`."""

from __future__ import annotations

import time

from kcli.changes import journal
from kcli.cli.commands.config.profiles import ListOptions, print_list
from kcli.cli.output.tables.rows import Row, column, moment, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import QuietOptions
from kcli.errors import UsageError
from kcli.grammar.offsets import read_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Annotated

    import typer


class EntryRow(Row, section="changes"):
    number: int = column("Number of the change, for `kcli undo`.", rank=1)
    time: int = moment("When it was made.", rank=1)
    user: str = column("User of this machine who made it.", rank=3)
    cluster: str = column("Cluster id, or the address of a schema registry.", rank=3)
    command: str = column("The command line; secrets are ***.", rank=1)
    result: str = column(
        "done, partly, failed, unchanged, or unknown (interrupted, or no response).", unit="word", rank=1
    )
    changed: int = column("Rows of the plan that were changed.", unit="count", rank=2)
    undoable: bool = column("Whether `kcli undo` can restore the previous state.", rank=2)


SHAPE = shape("history", "Applied changes, one a row, the newest first.", EntryRow, empty="no changes yet")


class HistoryOptions(ListOptions, QuietOptions):
    start: Annotated[
        str | None,
        typer.Option("--start", metavar="TIME", help="Only changes since this time, such as -2d or 2026-01-31."),
    ] = None
    cluster: Annotated[
        str | None, typer.Option("--cluster", metavar="ID", help="Only changes to this cluster or registry.")
    ] = None
    undoable: Annotated[bool, typer.Option("--undoable", help="Only changes that `kcli undo` can undo.")] = False


@command(
    "history",
    help="List the changes that kcli made to clusters.",
    words="WORD",
    examples="""
kcli history
kcli history --start -1d --undoable
kcli history topics delete -J""",
)
def history(options: HistoryOptions) -> int:
    """List the changes made on this machine by commands with a plan, `apply` and the dashboard: the last 1,000, newest
    first. With WORDs, list only changes whose command line contains all of them. The journal is in
    ~/.local/state/kcli/journal, readable only by this user."""
    return print_list(options, SHAPE, lambda: found(options))


def found(options: HistoryOptions) -> list[EntryRow]:
    """The rows that the options select, the newest first. Raises UsageError."""
    since = 0 if options.start is None else read_time(options.start, time.time_ns() // 1_000_000)
    if since is None:
        raise UsageError(f"--start {options.start}: expected a time, such as -2d or 2026-01-31T10:00:00Z")
    return [
        row_of(one)
        for one in reversed(journal.entries())
        if one.time >= since
        and options.cluster in (None, one.cluster)
        and (one.undoable or not options.undoable)
        and all(word in one.command for word in options.words)
    ]


def row_of(one: journal.Entry) -> EntryRow:
    return EntryRow(**{name: getattr(one, name) for name, _ in EntryRow.fields})
