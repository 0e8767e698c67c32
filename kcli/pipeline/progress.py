"""Progress of running tasks: each sends a datagram to `progressAddr` every 200 ms, and one at its end.

Datagrams may be lost, duplicated and late: each has totals of its attempt, so the newest one is right.
"""

from __future__ import annotations

import json
import socket
import time
from collections import deque
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Self

from kcli.model import TopicPartition
from kcli.values import Value, field

EVERY = 0.2
MANY = 8000
"""Task attempts after which those of old stages are dropped, because a stream creates new ones forever."""
Spans = Mapping[TopicPartition, tuple[int, int]]

WINDOW = 10.0
"""Seconds over which a rate is computed."""
MANY_RANGES = 2000
"""Ranges after which finished ones are added up and dropped, because a stream creates new ones forever."""


class Figures(Value):
    """One partition, or all of them. `total` -1: there is no end. `rate` is in rows per second, `eta` in seconds (-1:
    unknown)."""

    done: int = 0
    total: int = -1
    rows: int = 0
    bytes: int = 0
    rate: float = 0.0
    eta: float = -1.0


class Progress(Value):
    """All progress at one moment; `written` is what writers of topics had acknowledged, `notes` are sentences for
    display."""

    whole: Figures = field(factory=Figures)
    parts: dict[TopicPartition, Figures] = field(factory=dict)
    written: int = 0
    notes: list[str] = field(factory=list)


class Sum:
    """Call `take` with the reports from time to time. `spans` are the ranges of a batch; a stream has none."""

    def __init__(self, spans: Spans | None = None) -> None:
        self._spans = spans
        self._ranges: dict[tuple[str, int, int], Report] = {}
        self._base: dict[tuple[str, int], tuple[int, int, int]] = {}
        self._written: dict[tuple[int, int], int] = {}
        self._folded = -1
        self._notes: dict[str, None] = {}
        self._samples: dict[TopicPartition | None, deque[tuple[float, int, int]]] = {}

    def take(self, reports: Iterable[Report], now: float) -> Progress:
        """Return the figures at `now` (monotonic clock, in seconds)."""
        for report in reports:
            if report.note:
                self._notes.setdefault(report.note)
            elif report.topic:
                key = report.topic, report.source, report.start
                known = self._ranges.get(key)
                if report.stage > self._folded and (known is None or report.offset >= known.offset):
                    self._ranges[key] = report
            else:
                self._written[report.stage, report.partition] = report.rows
        if self._spans is None and len(self._ranges) > MANY_RANGES:
            self._fold()
        return self._figures(now)

    def _fold(self) -> None:
        newest = max(report.stage for report in self._ranges.values())
        for key, report in list(self._ranges.items()):
            if report.stage < newest:
                at = key[:2]
                done, rows, size = self._base.get(at, (0, 0, 0))
                self._base[at] = done + report.offset - report.start, rows + report.rows, size + report.bytes
                self._folded = max(self._folded, report.stage)
                del self._ranges[key]

    def _figures(self, now: float) -> Progress:
        from kcli.model import TopicPartition

        progress = Progress(written=sum(self._written.values()), notes=[*self._notes])
        for at, (start, end) in (self._spans or {}).items():
            progress.parts[at] = Figures(total=end - start)
        for (topic, partition), (done, rows, size) in self._base.items():
            progress.parts[TopicPartition(topic, partition)] = Figures(done=done, rows=rows, bytes=size)
        for (topic, source, _), report in self._ranges.items():
            part = progress.parts.setdefault(TopicPartition(topic, source), Figures())
            part.done += max((report.end if report.done else report.offset) - report.start, 0)
            part.rows += report.rows
            part.bytes += report.bytes
        whole = progress.whole
        whole.total = -1 if self._spans is None else 0
        for at, part in progress.parts.items():
            self._paced(at, part, now)
            whole.done += part.done
            whole.rows += part.rows
            whole.bytes += part.bytes
            if part.total >= 0:
                whole.total += part.total
        self._paced(None, whole, now)
        return progress

    def _paced(self, at: TopicPartition | None, figures: Figures, now: float) -> None:
        """Set rate and ETA from the figures of the last seconds."""
        samples = self._samples.setdefault(at, deque())
        samples.append((now, figures.done, figures.rows))
        while len(samples) > 2 and now - samples[1][0] >= WINDOW:
            samples.popleft()
        then, done, rows = samples[0]
        if now <= then:
            return
        figures.rate = (figures.rows - rows) / (now - then)
        left, speed = figures.total - figures.done, (figures.done - done) / (now - then)
        if figures.total >= 0:
            figures.eta = 0.0 if left <= 0 else left / speed if speed > 0 else -1.0


class Report(Value):
    """A report of a task attempt: `topic` is "" for one that writes; `offset` is the next to read, `end` where its
    range ends. Or a `note` for display, from the driver's part of a source."""

    stage: int = -1
    partition: int = -1
    attempt: int = 0
    topic: str = ""
    source: int = -1
    rows: int = 0
    bytes: int = 0
    start: int = -1
    offset: int = -1
    end: int = -1
    done: bool = False
    note: str = ""


class Reporter:
    """The task's side; without an address it does nothing. Never raises, because progress must not fail a task."""

    def __init__(self, address: str, topic: str = "", source: int = -1, start: int = -1, end: int = -1) -> None:
        self.report = Report(topic=topic, source=source, start=start, offset=start, end=end)
        self._socket: socket.socket | None = None
        self._next = 0.0
        if address:
            host, _, port = address.rpartition(":")
            self._place()
            try:
                self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                self._socket.connect((host, int(port)))
            except OSError:
                self._socket = None

    def _place(self) -> None:
        from pyspark import TaskContext

        context = TaskContext.get()
        if context is not None:
            report = self.report
            report.stage, report.partition = context.stageId(), context.partitionId()
            report.attempt = context.attemptNumber()

    def noted(self, rows: int, size: int, offset: int) -> None:
        """Add rows and bytes; `offset` is the next to read."""
        report = self.report
        report.rows += rows
        report.bytes += size
        report.offset = offset
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + EVERY
            self.send()

    def done(self) -> None:
        """The task's work is finished."""
        self.report.done = True
        self.send()

    def close(self) -> None:
        """Stop reporting; without `done` before, the task failed or was interrupted."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def send(self) -> None:
        """Send the current report, if there is an address."""
        if self._socket is None:
            return
        values = {f.name: getattr(self.report, f.name) for f in Report.__fields__}
        try:
            self._socket.send(json.dumps(values).encode())
        except OSError:
            return  # without a listener the work continues


def tell(address: str, note: str) -> None:
    """Send a note, if there is an address. It may be lost, but is also in Spark's log."""
    reporter = Reporter(address)
    reporter.report.note = note
    reporter.send()
    reporter.close()


class Listener:
    """The driver's side: `with Listener() as progress:` and `progress.poll()` from time to time. `host` is the name or
    address at which tasks reach it."""

    def __init__(self, host: str = "127.0.0.1") -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind((host if host == "127.0.0.1" else "", 0))  # the address may belong to a machine in front
        self._socket.setblocking(False)
        self.address = f"{host}:{self._socket.getsockname()[1]}"
        self.reports: dict[tuple[int, int, int], Report] = {}
        self._notes: dict[str, Report] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()

    def poll(self) -> list[Report]:
        """Return what arrived: the last report of each task, from its last attempt, in order."""
        while True:
            try:
                data = self._socket.recv(65536)
            except BlockingIOError:
                break
            report = _report(data)
            if report is None:
                continue  # a foreign datagram
            key = report.stage, report.partition, report.attempt
            if report.note:
                self._notes[report.note] = report
                continue
            known = self.reports.get(key)
            if known is None or report.rows >= known.rows:
                self.reports[key] = report
        if len(self.reports) > MANY:
            self._forget()
        last: dict[tuple[int, int], Report] = {}
        for (stage, partition, _), report in sorted(self.reports.items()):
            last[stage, partition] = report
        return [*last.values(), *self._notes.values()]

    def _forget(self) -> None:
        """Drop all but the newest half; they were returned many times."""
        for key in sorted(self.reports)[: len(self.reports) // 2]:
            del self.reports[key]


def _report(data: bytes) -> Report | None:
    """Parse a datagram; None for a foreign one, because any machine that reaches us can send some."""
    try:
        values = json.loads(data)
        report = Report(**values)
    except (ValueError, TypeError, RecursionError):
        return None
    usual = Report()
    return report if all(type(value) is type(getattr(usual, name)) for name, value in values.items()) else None
