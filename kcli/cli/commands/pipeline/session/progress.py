"""How far a pipeline is: bars on a terminal, a JSON line for each partition a second with --format ndjson."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

from kcli.cli.output.hints import worded
from kcli.cli.output.messages import complain
from kcli.cli.output.tables.rows import Row, column, duration
from kcli.errors import Hint
from kcli.model import TopicPartition
from kcli.pipeline.jobs.work import StreamState
from kcli.pipeline.progress import Figures, Progress
from kcli.text.numbers import size as size_of

BARS = 12
"""Partitions that have a bar of their own, the slowest first; the others are in the sum."""
EVERY = 1.0
"""Seconds between lines of NDJSON."""


class ProgressRow(Row, section="progress", table=False):
    state: str = column("running or ended.", unit="word", rank=1)
    topic: str | None = column("Name of the topic; null means all.", rank=1)
    partition: int | None = column("Number of the partition; null means all.", rank=1)
    read: int = column("Records read.", unit="count")
    bytes: int = column("Bytes of keys and values read.", unit="bytes")
    done: int = column("Offsets read until now.", unit="count")
    span: int | None = column("Offsets in total; null without an end.", unit="count")
    rate: float = column("Records read per second.", unit="rate")
    eta: float | None = duration("Seconds left; null if unknown.")
    written: int | None = column("Records acknowledged; null without a sink.", unit="count")
    lag: int | None = column("Records not yet read; null in a batch.", unit="count", rank=1)


class Watch:
    """Shows the figures that `at` gets. `what` names the job, `expected` is how many records will be written, where
    that is known; a `hidden` watch shows no bars."""

    def __init__(self, what: str, expected: int | None = None, *, lines: bool = False, hidden: bool = False) -> None:
        self._what = what
        self._expected = expected
        self._lines = lines
        self._shown = not hidden and os.isatty(2)
        self._quiet = hidden
        self._told = 0
        self._bars: Any = None
        self._tasks: dict[Any, Any] = {}
        self._printed = monotonic() - EVERY

    @contextmanager
    def starting(self, label: str = "starting Spark …") -> Iterator[None]:
        """While Spark starts, which takes seconds, a terminal says so."""
        if not self._shown:
            yield
            return
        from rich.console import Console

        with Console(stderr=True).status(label):
            yield

    def at(self, progress: Progress, look: StreamState | None, tasks: tuple[int, int], *, last: bool = False) -> None:
        """The figures now. `tasks` (done, all) are shown where no task reports by itself."""
        if self._lines and (last or monotonic() - self._printed >= EVERY):
            self._printed = monotonic()
            try:
                lines(progress, look, "ended" if last else "running")
            except BrokenPipeError:  # the reader of the progress left; the work continues
                self._lines = False
                os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        if self._shown:
            self._draw(progress, look, tasks)
        for note in progress.notes[self._told :] if not self._quiet else ():
            complain(worded(note, Hint("spark-option")))
        self._told = len(progress.notes)

    def _draw(self, progress: Progress, look: StreamState | None, tasks: tuple[int, int]) -> None:
        if self._bars is None:
            self._bars = bars()
            self._bars.start()
        whole = progress.whole
        if not whole.rows and not progress.written and tasks[1]:
            self._bar(None, self._what, tasks[0], tasks[1], f"{tasks[0]} of {tasks[1]} tasks")
            return
        if len(progress.parts) > 1:
            slowest = sorted(progress.parts.items(), key=lambda item: item[1].done - max(item[1].total, 0))
            for at, part in slowest[:BARS] if not self._tasks else slowest:
                if self._tasks and at not in self._tasks and len(self._tasks) > BARS:
                    continue
                self._bar(at, f"  {at.topic}[{at.partition}]", part.done, part.total, sentence(part))
        if progress.written and not whole.rows:
            total = -1 if self._expected is None else self._expected
            self._bar(None, self._what, progress.written, total, f"{progress.written:,} rows")
            return
        text = sentence(whole)
        if look is not None and look.lag >= 0:
            text += f", lag {look.lag:,}"
        self._bar(None, self._what, whole.done, whole.total, text)

    def _bar(self, key: Any, what: str, done: int, total: int, text: str) -> None:
        if key not in self._tasks:
            self._tasks[key] = self._bars.add_task(what, total=None, figures="")
        self._bars.update(self._tasks[key], completed=done, total=total if total >= 0 else None, figures=text)

    def close(self) -> None:
        """Take the bars away."""
        if self._bars is not None:
            self._bars.stop()
            self._bars = None


def bars() -> Any:
    """Rich's, on stderr."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    words = TextColumn("{task.description}", markup=False)
    figures = TextColumn("{task.fields[figures]}", markup=False)
    return Progress(words, BarColumn(), TaskProgressColumn(), figures, console=Console(stderr=True), transient=True)


def sentence(figures: Figures) -> str:
    """`1,200,000 rows, 310,000/s, 115 MiB, 3s left`."""
    from kcli.text.numbers import human_time

    parts = [f"{figures.rows:,} rows"]
    if figures.rate:
        parts.append(f"{figures.rate:,.0f}/s")
    if figures.bytes:
        parts.append(size_of(figures.bytes))
    if figures.eta > 0:
        parts.append(f"{human_time(figures.eta)} left")
    return ", ".join(parts)


def rows_of(progress: Progress, look: StreamState | None, state: str) -> list[ProgressRow]:
    """A row for all of it, which has no topic, then one for each partition."""
    rows = [_row(None, progress.whole, state)]
    rows[0].written = progress.written or None
    rows[0].lag = look.lag if look is not None and look.lag >= 0 else None
    return rows + [_row(at, part, state) for at, part in sorted(progress.parts.items())]


def _row(at: TopicPartition | None, figures: Figures, state: str) -> ProgressRow:
    return ProgressRow(
        state=state,
        topic=None if at is None else at.topic,
        partition=None if at is None else at.partition,
        read=figures.rows,
        bytes=figures.bytes,
        done=figures.done,
        span=figures.total if figures.total >= 0 else None,
        rate=round(figures.rate, 1),
        eta=round(figures.eta, 1) if figures.eta >= 0 else None,
        written=None,
        lag=None,
    )


def lines(progress: Progress, look: StreamState | None, state: str) -> None:
    """The rows, a JSON line each, at once. Raises BrokenPipeError when the reader left."""
    from json import dumps

    from kcli.text.escape import put

    for row in rows_of(progress, look, state):
        put(dumps(row.as_json(), ensure_ascii=False, separators=(",", ":")) + "\n")
    sys.stdout.flush()
