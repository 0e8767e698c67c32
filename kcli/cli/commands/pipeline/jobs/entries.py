"""The pipelines of this machine: found by their names, and printed as rows."""

from __future__ import annotations

from time import time
from typing import TYPE_CHECKING, Any

from kcli.cli.output.timestamps import utc
from kcli.cli.parsing.groups import FormatOptions, QuietOptions
from kcli.cli.runtime.answer import format_of
from kcli.errors import UsageError
from kcli.pipeline.jobs import registry

if TYPE_CHECKING:
    from kcli.pipeline.jobs.registry import Entry


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
        raise UsageError(f"there is no pipeline {word!r}{near or '; kcli pipeline list shows them'}")
    alive = [entry for entry in matches if entry.alive]
    if len(alive) > 1 or (len({entry.name for entry in matches}) > 1 and not alive):
        several = alive if len(alive) > 1 else matches
        listed = ", ".join(f"{entry.name} ({entry.id})" for entry in several[:4])
        raise UsageError(f"{word!r} may be {listed}: say its id")
    return alive[0] if alive else matches[0]


def row_of(entry: Entry) -> dict[str, Any]:
    """A job as `output/shapes` declares it for `pipeline list`."""
    running = entry.state == "running"
    return {
        "id": entry.id,
        "name": entry.name,
        "state": entry.state,
        "mode": entry.mode,
        "source": entry.source,
        "destination": entry.destination,
        "records": entry.rows,
        "bad": entry.bad,
        "rate": round(entry.rate, 1) if running else None,
        "lag": entry.lag if entry.lag >= 0 else None,
        "seconds": round((time() if running else entry.told) - entry.begun, 1),
        "command": entry.command,
        "batch": entry.batch if entry.batch >= 0 else None,
        "done": entry.done,
        "span": entry.total if entry.total >= 0 else None,
        "pid": entry.pid,
        "begun": _time(entry.begun),
        "told": _time(entry.told),
        "checkpoint": entry.checkpoint or None,
        "log": entry.log or None,
        "error": entry.error or None,
    }


def _time(seconds: float) -> str:
    return utc(round(seconds * 1000), "seconds")


def print_jobs(options: FormatOptions, entries: list[Entry]) -> None:
    """The document of `pipeline list`."""
    from kcli.cli.output.render import Document, write
    from kcli.cli.output.shapes.shape import shape

    document = Document(shape=shape("pipeline.list"))
    document.rows["jobs"] = [row_of(entry) for entry in entries]
    write(document, format_of(options))
