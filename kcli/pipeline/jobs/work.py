"""A job of Spark's under way, from outside: is it still at it, how does one end it, what came of it.

`Action` is a batch: there is nothing to drain in it, so the first wish to end it cancels it. `Stream` is a query: it
finishes the batch it has begun, and its checkpoint then says exactly what is done.
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
"""Seconds without a trigger after which a query that drains waits for one."""


Again = Callable[[Exception], Callable[[], Any] | None]
"""What is begun instead of work that failed; None where the failure counts."""


class Look(Value):
    """The state of a stream: rows of the batches that are done, how many of them were bad, how many had `unknown`
    fields, the names of some of these, and how far it is behind (-1: unknown)."""

    batch: int = -1
    rows: int = 0
    bad: int = 0
    unknown: int = 0
    fields: dict[str, None] = field(factory=dict)
    lag: int = -1


class Action:
    """`work` in a thread of its own. An exception in it is raised by `result`, unless `again` has other work for it."""

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
        """Begin."""
        self._thread.start()

    def _run(self) -> None:
        try:
            if remote(self._spark):
                self._spark.addTag(self._group)
            else:
                # Java's half of a thread is new too: without a session it knows none of Python's sources
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
        """Whether it is still at work."""
        return self._thread.is_alive()

    def look(self) -> Look | None:
        """Nothing that its tasks do not tell."""
        return None

    def ended(self) -> list[Any]:
        """A batch has none in it."""
        return []

    def tasks(self) -> tuple[int, int]:
        """(done, all) of the known tasks: the only progress where no task reports by itself."""
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
        """End it: what a batch has half done is worth nothing."""
        self.stop()

    def stop(self) -> None:
        """Cancel its tasks."""
        self.cancelled = True
        if remote(self._spark):
            self._spark.interruptTag(self._group)
        else:
            self._spark.sparkContext.cancelJobGroup(self._group)

    def result(self) -> Any:
        """What `work` returned, after its end. Raises what it raised, unless it was cancelled. One that came to its end
        all the same was not cancelled."""
        self._thread.join()
        if self._error is not None and not self.cancelled:
            raise self._error
        if self._error is None:
            self.cancelled = False
        return self._outcome


class Stream:
    """A query, made by `begin`. `stop_file` is the source's: while it is there no batch is begun. A query that fails is
    begun again where `again` says how."""

    again: Again | None = None

    def __init__(self, begin: Callable[[], StreamingQuery], stop_file: Path | None = None) -> None:
        self.begin = begin
        self._stop_file = stop_file
        self._query: StreamingQuery | None = None
        self._look = Look()
        self._draining = False
        self._idle_since = inf
        self._seen = -1
        self._ended: list[Any] = []
        self.cancelled = False

    def start(self) -> None:
        """Begin, or resume where the checkpoint says."""
        if self._stop_file is not None:
            self._stop_file.unlink(missing_ok=True)
        self._query = self.begin()

    @property
    def query(self) -> StreamingQuery:
        """The query, once it was started."""
        assert self._query is not None
        return self._query

    @property
    def running(self) -> bool:
        """Whether it is still at work. A query that drains is ended here when there is nothing under way in it."""
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
        self.look()
        self.begin = begin
        self._query = begin()
        return True

    def _idle(self) -> bool:
        """Whether no batch is under way, and none will begin: the source begins none that it was not asked for before
        the stop file was there. A query that waits for its trigger says that data is available, as its last batch had
        some: it is idle after a second."""
        status = self.query.status
        if status["isTriggerActive"]:
            self._idle_since = inf
            return False
        if self._stop_file is None or not status["isDataAvailable"]:
            return True
        self._idle_since = min(self._idle_since, monotonic())
        return monotonic() - self._idle_since >= IDLE

    def look(self) -> Look | None:
        """The rows up to now, and the lag."""
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
        """Spark's progress of the batches that ended since the last call, as far as `look` saw them."""
        ended, self._ended = self._ended, []
        return ended

    def tasks(self) -> tuple[int, int]:
        """Its batches come one after the other: there is no total."""
        return 0, 0

    def drain(self) -> None:
        """Let the batch that is under way become whole, begin no other, then end."""
        self._draining = True
        if self._stop_file is not None:
            self._stop_file.parent.mkdir(parents=True, exist_ok=True)
            self._stop_file.touch()

    def stop(self) -> None:
        """End at once; what was under way is done again by the next run."""
        self.cancelled = True
        self.query.stop()

    def result(self) -> dict[TopicPartition, int]:
        """Where the next run resumes, by the last progress. Raises what ended the query."""
        error = None if self.cancelled else self.query.exception()
        if self._stop_file is not None:
            self._stop_file.unlink(missing_ok=True)
        if error is not None:
            raise error
        self.look()
        last = self.query.lastProgress
        return {} if last is None else ends_of(last)


def remote(spark: SparkSession) -> bool:
    """Whether it is a session of Spark Connect, which has no context of its own."""
    return not hasattr(spark, "_jsc")


def rows_of(progress: Any) -> int:
    """Rows that a batch read. Connect says it of each source only."""
    rows = progress["numInputRows"]
    return int(rows if rows is not None else sum(one["numInputRows"] or 0 for one in progress["sources"]))


def ends_of(progress: Any) -> dict[TopicPartition, int]:
    """Where the sources were read up to."""
    offsets: dict[TopicPartition, int] = {}
    for source in progress["sources"]:
        offsets |= _offsets(source["endOffset"])
    return offsets


def lag_of(progress: Any) -> int:
    """Records between where the sources are read up to and where their logs end; -1 where that is unknown."""
    behind, known = 0, False
    for source in progress["sources"]:
        ends, latest = _offsets(source["endOffset"]), _offsets(source["latestOffset"])
        known = known or bool(latest)
        behind += sum(max(end - ends.get(at, 0), 0) for at, end in latest.items())
    return behind if known else -1


def _offsets(text: Any) -> dict[TopicPartition, int]:
    """Offsets out of a progress, which has them as text or as a dict; {} for what are none (files, None)."""
    from kcli.pipeline.offset_options import from_offsets

    with suppress(ValueError, TypeError, AttributeError):
        return from_offsets(json.loads(text) if isinstance(text, str) else text)
    return {}


class Trigger(Frozen):
    """All that is there now and then the end (`every` is None), or a batch every `every` seconds."""

    every: float | None = None

    def on(self, writer: DataStreamWriter) -> DataStreamWriter:
        if self.every is None:
            return writer.trigger(availableNow=True)
        return writer.trigger(processingTime=f"{round(self.every * 1000)} milliseconds")
