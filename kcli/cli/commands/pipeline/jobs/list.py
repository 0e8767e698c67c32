"""`kcli pipeline list`: the pipelines of this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.cli.commands.pipeline.jobs.entries import JobsOptions, document_of, print_jobs
from kcli.cli.output.messages import complain
from kcli.cli.output.tables.document import Document
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import RefreshOptions, RowOptions
from kcli.cli.runtime.answer import format_of
from kcli.cli.runtime.refresh import watch
from kcli.cli.runtime.signals import run
from kcli.pipeline.jobs import registry
from kcli.pipeline.jobs.registry import Entry

if TYPE_CHECKING:
    from typing import Annotated

    import typer


class ListOptions(RowOptions, RefreshOptions, JobsOptions):
    running: Annotated[bool, typer.Option("--running", help="Only those that run.")] = False


@command(
    "pipeline list",
    help="List the pipelines of this machine, running and ended.",
    examples="""
kcli pipeline list
kcli pipeline list --running
kcli pipeline list --format ndjson | jq .lag""",
)
def list_jobs(options: ListOptions) -> int:
    """Your jobs on this machine that run or ran, the newest first: each reports its status every second, wherever Spark
    itself runs. crashed is a job whose process ended without a last report."""
    if options.watch:
        return run(lambda stop: watch(lambda: _once(options), stop, options, format_of(options)))
    entries = _entries(options)
    if not entries and not options.quiet and format_of(options) == "table":
        complain("no pipeline runs on this machine" if options.running else "no pipeline ran on this machine yet")
    print_jobs(options, entries)
    return 0


def _entries(options: ListOptions) -> list[Entry]:
    return [entry for entry in registry.entries() if entry.alive or not options.running]


async def _once(options: ListOptions) -> tuple[Document, int]:
    return document_of(options, _entries(options)), 0
