"""`kcli pipeline status NAME`: everything that is known of a job."""

from __future__ import annotations

from kcli.cli.commands.pipeline.jobs.entries import JobsOptions, named, print_jobs, row_of
from kcli.cli.parsing.command import command
from kcli.cli.runtime.answer import format_of
from kcli.errors import UsageError


class StatusOptions(JobsOptions):
    """The word names the job."""


@command(
    "pipeline status",
    help="Show a pipeline's status: records, rate, lag, checkpoint, log.",
    words="NAME",
    examples="""
kcli pipeline status orders-to-lake
kcli pipeline status 3f2a -J""",
)
def status(options: StatusOptions) -> int:
    """Show all that is known about a job. NAME is its name or id, or a prefix of either; the newest run wins. Exit 3
    unless it runs or ended well."""
    if len(options.words) != 1:
        raise UsageError("missing argument: the name of a pipeline; kcli pipeline list shows them")
    entry = named(options.words[0])
    if format_of(options) == "table":
        for name, value in row_of(entry).as_json().items():
            if value is not None:
                print(f"{name:<12} {_text(name, value)}")
    else:
        print_jobs(options, [entry])
    return 0 if entry.state in ("running", "done") else 3


def _text(name: str, value: object) -> str:
    from kcli.text.escape import visible
    from kcli.text.numbers import human_time

    if not isinstance(value, int | float) or name == "pid":
        return visible(str(value))
    return human_time(value) if name == "seconds" else f"{value:,}"
