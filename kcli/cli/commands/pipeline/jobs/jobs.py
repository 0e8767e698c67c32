"""`kcli pipeline list|status|drain|stop`: the jobs of this machine, looked at and asked to end."""

from __future__ import annotations

from time import monotonic, sleep, time
from typing import TYPE_CHECKING, Any

from kcli.cli.main import complain
from kcli.cli.output.timestamps import utc
from kcli.cli.runtime.answer import format_of, plural
from kcli.errors import DeadlineExceeded, UsageError
from kcli.pipeline.jobs import registry
from kcli.pipeline.jobs.registry import Entry

if TYPE_CHECKING:
    from kcli.cli.parsing.option import Values

POLL = 0.1  # seconds
PATIENCE = 60


def show(values: Values) -> int:
    """`list`. Returns the exit code."""
    found = [one for one in registry.entries() if one.alive or not values["running"]]
    if not found and not values["quiet"] and format_of(values) == "table":
        complain("no pipeline runs here" if values["running"] else "no pipeline ran here yet")
    _print(values, found)
    return 0


def status(values: Values) -> int:
    """`status`. Returns the exit code: 3 for a job that neither runs nor ended well."""
    words = values["words"] or []
    if len(words) != 1:
        raise UsageError("status of which pipeline? kcli pipeline list shows them")
    entry = named(words[0])
    if format_of(values) == "table":
        for name, value in row_of(entry).items():
            if value is not None:
                print(f"{name:<12} {_said(name, value)}")
    else:
        _print(values, [entry])
    return 0 if entry.state in ("running", "done") else 3


def _said(name: str, value: Any) -> str:
    from kcli.cli.output.render import human_time
    from kcli.text.escape import visible

    if name == "seconds":
        return human_time(value)
    return f"{value:,}" if isinstance(value, int | float) and name != "pid" else visible(str(value))


def drain(values: Values) -> int:
    """`drain`. Returns the exit code."""
    return _end(values, "drain")


def stop(values: Values) -> int:
    """`stop`. Returns the exit code."""
    return _end(values, "stop")


def _end(values: Values, wish: str) -> int:
    words = values["words"] or []
    if bool(words) == values["all"]:
        raise UsageError(f"{wish} which pipeline? Its name, or --all; kcli pipeline list shows them")
    if values["all"]:
        wanted = [one for one in registry.entries() if one.alive]
    else:
        wanted = list({one.id: one for one in map(named, words)}.values())
    for entry in wanted:
        if not entry.alive:
            raise UsageError(f"{entry.name} does not run: it is {entry.state}")
    for entry in wanted:
        registry.ask(entry, wish)
    patience = PATIENCE if values["wait"] is None else values["wait"]
    _wait(wanted, patience)
    ended = [one for one in registry.entries() if one.id in {entry.id for entry in wanted}]
    _print(values, ended)
    left = [one for one in ended if one.alive]
    if left and patience:
        raise DeadlineExceeded(f"{plural(len(left), 'pipeline')} still at work after {patience} s: {left[0].name}")
    return 0


def _wait(wanted: list[Entry], patience: int) -> None:
    until = monotonic() + patience
    while monotonic() < until and any(one.alive for one in wanted):
        sleep(POLL)


def named(word: str) -> Entry:
    """The job of this name or id, or whose name or id begins so; of several runs the newest, of several that run none.
    Raises UsageError."""
    every = registry.entries()
    exact = [one for one in every if word in (one.name, one.id)]
    found = exact or [one for one in every if one.name.startswith(word) or one.id.startswith(word)]
    if not found:
        from kcli.text.suggest import did_you_mean

        near = did_you_mean(word, {one.name for one in every})
        raise UsageError(f"there is no pipeline {word!r}{near or '; kcli pipeline list shows them'}")
    alive = [one for one in found if one.alive]
    if len(alive) > 1 or (len({one.name for one in found}) > 1 and not alive):
        several = alive if len(alive) > 1 else found
        raise UsageError(f"{word!r} may be {', '.join(f'{one.name} ({one.id})' for one in several[:4])}: say its id")
    return alive[0] if alive else found[0]


def row_of(entry: Entry) -> dict[str, Any]:
    """A job as shapes_pipeline_jobs.py has it."""
    running = entry.state == "running"
    return {
        "id": entry.id, "name": entry.name, "state": entry.state, "mode": entry.mode, "source": entry.source,
        "destination": entry.destination, "records": entry.rows, "bad": entry.bad,
        "rate": round(entry.rate, 1) if running else None, "lag": entry.lag if entry.lag >= 0 else None,
        "seconds": round((time() if running else entry.told) - entry.begun, 1),
        "command": entry.command, "batch": entry.batch if entry.batch >= 0 else None, "done": entry.done,
        "span": entry.total if entry.total >= 0 else None, "pid": entry.pid, "begun": _time(entry.begun),
        "told": _time(entry.told), "checkpoint": entry.checkpoint or None, "log": entry.log or None,
        "error": entry.error or None,
    }  # fmt: skip


def _time(seconds: float) -> str:
    return utc(round(seconds * 1000), "seconds")


def _print(values: Values, entries: list[Entry]) -> None:
    from kcli.cli.output.render import Document, write
    from kcli.cli.output.shapes.shape import shape

    made = Document(shape=shape("pipeline.list"))
    made.rows["jobs"] = [row_of(one) for one in entries]
    write(made, format_of(values))
