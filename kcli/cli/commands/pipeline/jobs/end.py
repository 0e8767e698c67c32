"""`kcli pipeline drain` and `stop`: ask jobs to end, after their batch or at once, and wait for it."""

from __future__ import annotations

from time import monotonic, sleep
from typing import TYPE_CHECKING

from kcli.cli.commands.pipeline.jobs.entries import JobsOptions, named, print_jobs
from kcli.cli.parsing.command import command
from kcli.cli.runtime.answer import plural
from kcli.errors import DeadlineExceeded, UsageError
from kcli.grammar.durations import seconds
from kcli.pipeline.jobs import registry

if TYPE_CHECKING:
    from typing import Annotated

    import typer

    from kcli.pipeline.jobs.registry import Entry

POLL = 0.1  # seconds
PATIENCE = 60


class EndOptions(JobsOptions):
    """Which jobs, and how long to wait for their end."""

    all: Annotated[bool, typer.Option("-a", "--all", help="All running jobs.")] = False
    moved = (("--wait", "--timeout DURATION"),)
    timeout: Annotated[
        str | None,
        typer.Option(
            "--timeout",
            metavar="DURATION",
            help="Wait up to this long until they ended (default: 60s; 0 does not wait), else exit 4.",
        ),
    ] = None


@command(
    "pipeline drain",
    help="End a pipeline after its current batch.",
    words="[NAME...]",
    examples="""
kcli pipeline drain orders-to-lake
kcli pipeline drain --all --timeout 5m""",
)
def drain(options: EndOptions) -> int:
    """The job completes its current batch, then ends: the next run repeats nothing. A batch job is cancelled and
    leaves no files."""
    return _end(options, "drain")


@command(
    "pipeline stop",
    help="End a pipeline at once; its next run repeats the batch.",
    words="[NAME...]",
    examples="""
kcli pipeline stop orders-to-lake""",
)
def stop(options: EndOptions) -> int:
    """The current batch is cancelled. Its records that are already in a topic are sent again by the next run (unless
    that is exactly once); its files are orphans: `kcli pipeline finalize`."""
    return _end(options, "stop")


def _end(options: EndOptions, wish: str) -> int:
    patience = seconds(options.timeout, "--timeout", PATIENCE)
    entries = _entries(options, wish)
    for entry in entries:
        registry.ask(entry, wish)
    _wait(entries, patience)
    now = [entry for entry in registry.entries() if entry.id in {asked.id for asked in entries}]
    print_jobs(options, now)
    left = [entry for entry in now if entry.alive]
    if left and patience:
        raise DeadlineExceeded(f"{plural(len(left), 'pipeline')} still at work after {patience:g} s: {left[0].name}")
    return 0


def _entries(options: EndOptions, wish: str) -> list[Entry]:
    """The jobs to end. Raises UsageError for one that does not run."""
    if bool(options.words) == options.all:
        raise UsageError(f"{wish} missing argument: the name of a pipeline, or --all; kcli pipeline list shows them")
    if options.all:
        return [entry for entry in registry.entries() if entry.alive]
    entries = list({entry.id: entry for entry in map(named, options.words)}.values())
    for entry in entries:
        if not entry.alive:
            raise UsageError(f"{entry.name} does not run: it is {entry.state}")
    return entries


def _wait(entries: list[Entry], patience: float) -> None:
    until = monotonic() + patience
    while monotonic() < until and any(entry.alive for entry in entries):
        sleep(POLL)
