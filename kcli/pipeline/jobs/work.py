"""A running Spark job, from outside: whether it is running, how to end it, and its result.

`Action` is a batch: it cannot be drained, so the first request to end it cancels it. `Stream` is a query: it finishes
the current batch, and its checkpoint then shows exactly what is done.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from math import inf
from pathlib import Path
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from kcli.model import TopicPartition
from kcli.pipeline.jobs.bad import bad_of, fields_of, unknown_of
from kcli.values import Frozen, Value, field

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter

IDLE = 1.0
"""Seconds without a trigger after which a draining query counts as waiting for one."""


Again = Callable[[Exception], Callable[[], Any] | None]
"""Returns the work to start instead of failed work; None if the failure is final."""


class StreamState(Value):
    """The state of a stream: rows of finished batches, how many of them were bad, how many had `unknown` fields, the
    names of some of these, and the lag (-1: unknown)."""

    batch: int = -1
    rows: int = 0
    bad: int = 0
    unknown: int = 0
    fields: dict[str, None] = field(factory=dict)
    lag: int = -1


class Action:
    """Runs `work` in a thread. `result` raises its exception, unless `again` returns other work."""

    again: Again | None = None

    def __init__(self, spark: SparkSession, work: Callable[[], Any]) -> None:
        self._spark = spark
        self.begin = work
        self._group = f"kcli-{uuid4().hex[:12]}"
        self._error: BaseException | None = None
        self._outcome: Any = None
        self.cancelled = False
        if remote(spark):
            self._thread = Thread(target=self._run, daemon=True)
        else:
            from pyspark import InheritableThread

            self._thread = InheritableThread(target=self._run, daemon=True)

    def start(self) -> None:
        """Start the work."""
        self._thread.start()

    def _run(self) -> None:
        try:
            if remote(self._spark):
                self._spark.addTag(self._group)
            else:
                # Java's thread is new, too: without a session it knows none of Python's sources
                jvm: Any = self._spark._jvm
                classic = jvm.org.apache.spark.sql.classic.SparkSession
                classic.setActiveSession(self._spark._jsparkSession)
                self._spark.sparkContext.setJobGroup(self._group, "kcli")
            self._outcome = self._worked()
        except BaseException as problem:  # noqa: BLE001  # raised again by `result`, in the thread that asks
            self._error = problem

    def _worked(self) -> Any:
        while True:
            try:
                return self.begin()
            except Exception as problem:
                begin = None if self.cancelled or self.again is None else self.again(problem)
                if begin is None:
                    raise
                self.begin = begin

    @property
    def running(self) -> bool:
        """Whether it is still running."""
        return self._thread.is_alive()

    def state(self) -> StreamState | None:
        """Return None: only its tasks report."""
        return None

    def ended(self) -> list[Any]:
        """Return nothing: an action has no batches."""
        return []

    def tasks(self) -> tuple[int, int]:
        """Return (done, all) of the known tasks: the only progress if no task reports itself."""
        if remote(self._spark):
            return 0, 0
        tracker = self._spark.sparkContext.statusTracker()
        done = total = 0
        for job in tracker.getJobIdsForGroup(self._group):
            info = tracker.getJobInfo(job)
            for stage in info.stageIds if info is not None else ():
                found = tracker.getStageInfo(stage)
                if found is not None:
                    done, total = done + found.numCompletedTasks, total + found.numTasks
        return done, total

    def drain(self) -> None:
        """Cancel it: a partial result is useless."""
        self.stop()

    def stop(self) -> None:
        """Cancel its tasks."""
        self.cancelled = True
        if remote(self._spark):
            self._spark.interruptTag(self._group)
        else:
            self._spark.sparkContext.cancelJobGroup(self._group)

    def result(self) -> Any:
        """Return what `work` returned, after its end. Raises its exception, unless it was cancelled. Work that finished
        in spite of a cancellation counts as finished."""
        self._thread.join()
        if self._error is not None and not self.cancelled:
            raise self._error
        if self._error is None:
            self.cancelled = False
        return self._outcome


class Stream:
    """A query, created by `begin`. `stop_file` is the source's: while it exists, no batch is started. A failed query is
    restarted if `again` says how."""

    again: Again | None = None

    def __init__(self, begin: Callable[[], StreamingQuery], stop_file: Path | None = None) -> None:
        self.begin = begin
        self._stop_file = stop_file
        self._query: StreamingQuery | None = None
        self._look = StreamState()
        self._draining = False
        self._idle_since = inf
        self._seen = -1
        self._ended: list[Any] = []
        self.cancelled = False

    def start(self) -> None:
        """Start, or resume from the checkpoint."""
        if self._stop_file is not None:
            self._stop_file.unlink(missing_ok=True)
        self._query = self.begin()

    @property
    def query(self) -> StreamingQuery:
        """The query, after it was started."""
        assert self._query is not None
        return self._query

    @property
    def running(self) -> bool:
        """Whether it is still running. A draining query is ended here when no batch is in progress."""
        if not self.query.isActive:
            return self._begun_again()
        if self._draining and self._idle():
            self.query.stop()
            return False
        return True

    def _begun_again(self) -> bool:
        error = None if self.cancelled or self._draining else self.query.exception()
        begin = None if error is None or self.again is None else self.again(error)
        if begin is None:
            return False
        self.state()
        self.begin = begin
        self._query = begin()
        return True

    def _idle(self) -> bool:
        """Whether no batch is in progress or will start, because the source starts none requested after the stop file
        existed. A query that waits for its trigger reports available data from its last batch: it is idle after a
        second."""
        status = self.query.status
        if status["isTriggerActive"]:
            self._idle_since = inf
            return False
        if self._stop_file is None or not status["isDataAvailable"]:
            return True
        self._idle_since = min(self._idle_since, monotonic())
        return monotonic() - self._idle_since >= IDLE

    def state(self) -> StreamState | None:
        """Return the rows so far, and the lag."""
        last = self.query.lastProgress
        if last is None:
            return self._look
        for progress in [last] if last["batchId"] <= self._seen + 1 else self.query.recentProgress:
            if progress["batchId"] > self._seen and rows_of(progress):
                self._seen = self._look.batch = progress["batchId"]
                self._look.rows += rows_of(progress)
                self._look.bad += bad_of(progress)
                self._look.unknown += unknown_of(progress)
                self._look.fields |= dict.fromkeys(fields_of(progress))
                self._ended.append(progress)
        self._look.lag = lag_of(last)
        return self._look

    def ended(self) -> list[Any]:
        """Return Spark's progress of the batches that ended since the last call, as far as `look` saw them."""
        ended, self._ended = self._ended, []
        return ended

    def tasks(self) -> tuple[int, int]:
        """Return an unknown total, because batches come one after another."""
        return 0, 0

    def drain(self) -> None:
        """Let the current batch finish, start no other, then end."""
        self._draining = True
        if self._stop_file is not None:
            self._stop_file.parent.mkdir(parents=True, exist_ok=True)
            self._stop_file.touch()

    def stop(self) -> None:
        """End at once; the next run repeats the current batch."""
        self.cancelled = True
        self.query.stop()

    def result(self) -> dict[TopicPartition, int]:
        """Return where the next run resumes, from the last progress. Raises the error that ended the query."""
        error = None if self.cancelled else self.query.exception()
        if self._stop_file is not None:
            self._stop_file.unlink(missing_ok=True)
        if error is not None:
            raise error
        self.state()
        last = self.query.lastProgress
        return {} if last is None else ends_of(last)


def remote(spark: SparkSession) -> bool:
    """Whether it is a Spark Connect session, which has no context of its own."""
    return not hasattr(spark, "_jsc")


def rows_of(progress: Any) -> int:
    """Return the rows that a batch read. Connect reports them only per source."""
    rows = progress["numInputRows"]
    return int(rows if rows is not None else sum(one["numInputRows"] or 0 for one in progress["sources"]))


def ends_of(progress: Any) -> dict[TopicPartition, int]:
    """Return the offsets up to which the sources were read."""
    offsets: dict[TopicPartition, int] = {}
    for source in progress["sources"]:
        offsets |= _offsets(source["endOffset"])
    return offsets


def lag_of(progress: Any) -> int:
    """Return the number of records between the sources' offsets and the ends of their logs; -1 if unknown."""
    behind, known = 0, False
    for source in progress["sources"]:
        ends, latest = _offsets(source["endOffset"]), _offsets(source["latestOffset"])
        known = known or bool(latest)
        behind += sum(max(end - ends.get(at, 0), 0) for at, end in latest.items())
    return behind if known else -1


def _offsets(text: Any) -> dict[TopicPartition, int]:
    """Return the offsets in a progress, given as text or dict; empty for other sources (files, None)."""
    from kcli.pipeline.offset_options import from_offsets

    with suppress(ValueError, TypeError, AttributeError):
        return from_offsets(json.loads(text) if isinstance(text, str) else text)
    return {}


class Trigger(Frozen):
    """Process what is there now and then end (`every` is None), or a batch every `every` seconds."""

    every: float | None = None

    def on(self, writer: DataStreamWriter) -> DataStreamWriter:
        if self.every is None:
            return writer.trigger(availableNow=True)
        return writer.trigger(processingTime=f"{round(self.every * 1000)} milliseconds")
