"""`kcli pipeline list`: the pipelines of this machine."""

from __future__ import annotations

from kcli.cli.commands.pipeline.jobs.entries import JobsOptions, print_jobs
from kcli.cli.output.messages import complain
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import RowOptions
from kcli.cli.parsing.option import flag
from kcli.cli.runtime.answer import format_of
from kcli.pipeline.jobs import registry


class ListOptions(RowOptions, JobsOptions):
    running = flag("--running", help="Only those that run.")


@command(
    "pipeline list",
    help="The pipelines of this machine: what runs, what ended and how.",
    examples="""
kcli pipeline list
kcli pipeline list --running
kcli pipeline list --format ndjson | jq .lag""",
)
def list_jobs(options: ListOptions) -> int:
    """Jobs of yours on this machine that run or ran, the newest first: each tells every second how it stands, wherever
    Spark itself runs. crashed is a job whose process is gone and said nothing."""
    entries = [entry for entry in registry.entries() if entry.alive or not options.running]
    if not entries and not options.quiet and format_of(options) == "table":
        complain("no pipeline runs here" if options.running else "no pipeline ran here yet")
    print_jobs(options, entries)
    return 0
