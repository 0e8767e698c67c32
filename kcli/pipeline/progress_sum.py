"""What the tasks' datagrams come to: offsets and rows done, by partition and in all; rates, and the time that is left.

A range is counted once, whatever stage or attempt reads it: what counts is how far the furthest of them is.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping

from kcli.model import TopicPartition
from kcli.pipeline.progress import Report
from kcli.values import Value, field

Spans = Mapping[TopicPartition, tuple[int, int]]

WINDOW = 10.0
"""Seconds over which a rate is taken."""
MANY = 2000
"""Ranges after which those that are done are added up and forgotten: a stream makes new ones for ever."""


class Figures(Value):
    """One partition, or all of them. `total` -1: there is no end. `rate` is in rows a second, `eta` in seconds (-1:
    unknown)."""

    done: int = 0
    total: int = -1
    rows: int = 0
    bytes: int = 0
    rate: float = 0.0
    eta: float = -1.0


class Progress(Value):
    """All of it at one moment; `written` is what writers of topics had acknowledged."""

    whole: Figures = field(factory=Figures)
    parts: dict[TopicPartition, Figures] = field(factory=dict)
    written: int = 0


class Sum:
    """`take` the reports from time to time. `spans` are the ranges of a batch; a stream has none."""

    def __init__(self, spans: Spans | None = None) -> None:
        self._spans = spans
        self._ranges: dict[tuple[str, int, int], Report] = {}
        self._base: dict[tuple[str, int], tuple[int, int, int]] = {}
        self._written: dict[tuple[int, int], int] = {}
        self._folded = -1
        self._samples: dict[TopicPartition | None, deque[tuple[float, int, int]]] = {}

    def take(self, reports: Iterable[Report], now: float) -> Progress:
        """The figures at `now` (seconds of a monotonic clock)."""
        for report in reports:
            if report.topic:
                key = report.topic, report.source, report.start
                known = self._ranges.get(key)
                if report.stage > self._folded and (known is None or report.offset >= known.offset):
                    self._ranges[key] = report
            else:
                self._written[report.stage, report.partition] = report.rows
        if self._spans is None and len(self._ranges) > MANY:
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

        progress = Progress(written=sum(self._written.values()))
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
        """Rate and ETA, from the figures of the last seconds."""
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
