"""The pipelines of this machine: found by their names, and printed as rows."""

from __future__ import annotations

from time import time
from typing import TYPE_CHECKING

from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.render import write
from kcli.cli.output.tables.rows import Row, column, duration, shape
from kcli.cli.output.timestamps import utc
from kcli.cli.parsing.groups import FormatOptions, QuietOptions
from kcli.cli.runtime.answer import format_of
from kcli.cli.runtime.views import view_of
from kcli.errors import UsageError
from kcli.pipeline.jobs import registry

if TYPE_CHECKING:
    from kcli.pipeline.jobs.registry import Entry


class JobRow(Row, section="jobs"):
    id: str = column("Of this run.", rank=1, unit="word")
    name: str = column("Of the pipeline.", rank=1)
    state: str = column("running, done, interrupted, failed or crashed.", unit="word", rank=1)
    mode: str = column("batch, once or continuous.", unit="word", rank=3)
    source: str = column("The source.", rank=3)
    destination: str = column("The sink.", rank=3)
    records: int = column("Records read.", unit="count")
    bad: int = column(
        "Keys and values that did not fit their format: null, or in quarantine.", table=False, unit="count"
    )
    rate: float | None = column("Records read per second, while it runs.", unit="rate")
    lag: int | None = column("Records not yet read; null in a batch.", unit="count", rank=1)
    seconds: float = duration("Run time.")
    command: str = column("export, sql, …", table=False)
    batch: int | None = column("The last batch of a stream; null in a batch.", table=False)
    done: int = column("Offsets read until now.", table=False, unit="count")
    span: int | None = column("Offsets in total; null without an end.", table=False, unit="count")
    pid: int = column("Its process.", table=False)
    started: str = column("When it started, UTC.", table=False, unit="time")
    last_report: str = column("Time of its last status report, UTC.", table=False, unit="time")
    checkpoint: str | None = column("Folder of the checkpoint.", table=False)
    log: str | None = column("Spark's own output.", table=False)
    error: str | None = column("Reason of a failure; null without one.", sparse=True, unit="sentence")


SHAPE = shape("pipeline.list", "Pipelines of this machine.", JobRow)


class JobsOptions(FormatOptions, QuietOptions):
    """What the commands have that print pipelines of this machine."""


def named(word: str) -> Entry:
    """The job of this name or id, or whose name or id begins so; of several runs the newest, of several that run none.
    Raises UsageError."""
    entries = registry.entries()
    exact = [entry for entry in entries if word in (entry.name, entry.id)]
    matches = exact or [entry for entry in entries if entry.name.startswith(word) or entry.id.startswith(word)]
    if not matches:
        from kcli.text.suggest import did_you_mean

        near = did_you_mean(word, {entry.name for entry in entries})
        raise UsageError(f"unknown pipeline {word!r}{near or '; kcli pipeline list shows them'}")
    alive = [entry for entry in matches if entry.alive]
    if len(alive) > 1 or (len({entry.name for entry in matches}) > 1 and not alive):
        several = alive if len(alive) > 1 else matches
        listed = ", ".join(f"{entry.name} ({entry.id})" for entry in several[:4])
        raise UsageError(f"{word!r} may be {listed}: say its id")
    return alive[0] if alive else matches[0]


def row_of(entry: Entry) -> JobRow:
    """What is known of a job."""
    running = entry.state == "running"
    return JobRow.of(
        entry,
        records=entry.rows,
        rate=round(entry.rate, 1) if running else None,
        lag=entry.lag if entry.lag >= 0 else None,
        seconds=round((time() if running else entry.told) - entry.begun, 1),
        batch=entry.batch if entry.batch >= 0 else None,
        span=entry.total if entry.total >= 0 else None,
        started=_time(entry.begun),
        last_report=_time(entry.told),
        checkpoint=entry.checkpoint or None,
        log=entry.log or None,
        error=entry.error or None,
    )


def _time(seconds: float) -> str:
    return utc(round(seconds * 1000), "seconds")


def document_of(options: FormatOptions, entries: list[Entry]) -> Document:
    """The document of `pipeline list`."""
    document = Document(shape=SHAPE, view=view_of(options, SHAPE, format_of(options)))
    document.of(JobRow).extend(map(row_of, entries))
    return document


def print_jobs(options: FormatOptions, entries: list[Entry]) -> None:
    """Print them."""
    write(document_of(options, entries), format_of(options))
