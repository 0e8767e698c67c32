"""The metrics of a run: a JSON line per batch, and the current Prometheus page."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, TypeVar

from kcli.metrics.server import Rows, page
from kcli.pipeline.jobs.bad import bad_of, unknown_of
from kcli.pipeline.jobs.lake.table import Written
from kcli.pipeline.jobs.work import StreamState, lag_of, rows_of
from kcli.pipeline.progress import Progress
from kcli.values import Value

Number = TypeVar("Number", int, float)
HELP = {
    "kcli_pipeline_rows_total": "Records read by this run, in batches that ended.",
    "kcli_pipeline_bad_rows_total": "Records of this run with a key or value that does not fit its format.",
    "kcli_pipeline_unknown_rows_total": "Records of this run with fields that no column has, which were left out.",
    "kcli_pipeline_batches_total": "Batches of this run that ended.",
    "kcli_pipeline_files_total": "Files that this run wrote into its table.",
    "kcli_pipeline_written_bytes_total": "Bytes of these files.",
    "kcli_pipeline_lag": "Records between where the last batch ended and the ends of the logs.",
    "kcli_pipeline_rate": "Records read per second, by running tasks.",
    "kcli_pipeline_batch_seconds": "Duration of the last batch.",
    "kcli_pipeline_commit_seconds": "Duration of the last batch's commit: the table's, else the checkpoint's.",
    "kcli_pipeline_batch_timestamp_seconds": "When the last batch ended.",
    "kcli_pipeline_start_timestamp_seconds": "When this run began.",
}
COUNTERS = frozenset(name for name in HELP if name.endswith("_total"))
CHECKPOINT = ("walCommit", "commitOffsets", "commitBatch")
"""Durations in Spark's progress for writing the checkpoint."""


class Batch(Value):
    """A finished batch: a line of --metrics. `time` is its end in seconds since 1970; `batch` is null if the run is a
    single batch; `lag`, `commit_seconds`, `files` and `bytes` are null if unknown."""

    time: float = 0.0
    batch: int | None = None
    rows: int = 0
    bad: int = 0
    unknown: int = 0
    lag: int | None = None
    rate: float = 0.0
    seconds: float = 0.0
    commit_seconds: float | None = 0.0
    files: int | None = None
    bytes: int | None = None

    def line(self, pipeline: str) -> dict[str, Any]:
        """Return it as JSON, with the time in UTC."""
        values = {field.name: getattr(self, field.name) for field in type(self).__fields__}
        values["time"] = datetime.fromtimestamp(self.time).astimezone().isoformat(timespec="milliseconds")
        return {"pipeline": pipeline, **values}


def batch_of(progress: Any, written: Written | None, now: float) -> Batch:
    """Combine Spark's progress of a micro-batch with the effect on a table."""
    durations = progress["durationMs"] or {}
    seconds, rows = durations.get("triggerExecution", 0) / 1000, rows_of(progress)
    lag = lag_of(progress)
    return Batch(
        time=now,
        batch=progress["batchId"],
        rows=rows,
        bad=bad_of(progress),
        unknown=unknown_of(progress),
        lag=lag if lag >= 0 else None,
        rate=round(rows / seconds, 1) if seconds else 0.0,
        seconds=seconds,
        commit_seconds=sum(durations.get(name, 0) for name in CHECKPOINT) / 1000
        if written is None
        else _known(written.commit),
        files=None if written is None else _known(written.files),
        bytes=None if written is None else _known(written.bytes),
    )


def _known(value: Number) -> Number | None:
    """Return a figure of a table's library, which is -1 if not reported."""
    return value if value >= 0 else None


class Totals:
    """The totals of a run's batches."""

    def __init__(self, pipeline: str, begun: float) -> None:
        self.pipeline = pipeline
        self._begun = begun
        self._sums = dict.fromkeys(COUNTERS, 0)
        self._last: Batch | None = None

    def add(self, batch: Batch) -> None:
        """Add a finished batch."""
        sums = self._sums
        sums["kcli_pipeline_rows_total"] += batch.rows
        sums["kcli_pipeline_bad_rows_total"] += batch.bad
        sums["kcli_pipeline_unknown_rows_total"] += batch.unknown
        sums["kcli_pipeline_batches_total"] += 1
        sums["kcli_pipeline_files_total"] += batch.files or 0
        sums["kcli_pipeline_written_bytes_total"] += batch.bytes or 0
        self._last = batch

    def page(self, seen: Progress, look: StreamState | None) -> str:
        """Return the current Prometheus page."""
        return page_of({self.pipeline: self.figures(seen.whole.rate, -1 if look is None else look.lag)})

    def figures(self, rate: float, lag: int) -> dict[str, float]:
        """Return the current figures by the names in HELP. An unknown figure is missing; a `lag` of -1 is unknown."""
        values: dict[str, float | None] = {**dict.fromkeys(HELP, None), **self._sums}
        if self._last is None or self._last.files is None:
            del values["kcli_pipeline_files_total"], values["kcli_pipeline_written_bytes_total"]
        if lag >= 0:
            values["kcli_pipeline_lag"] = lag
        values["kcli_pipeline_rate"] = rate
        values["kcli_pipeline_start_timestamp_seconds"] = self._begun
        if self._last is not None:
            values["kcli_pipeline_batch_seconds"] = self._last.seconds
            values["kcli_pipeline_commit_seconds"] = self._last.commit_seconds
            values["kcli_pipeline_batch_timestamp_seconds"] = self._last.time
        return {name: value for name, value in values.items() if value is not None}


def page_of(pipelines: Mapping[str, Mapping[str, float]]) -> str:
    """For Prometheus: the figures of each pipeline, by its name."""
    rows: dict[str, Rows] = {}
    for name in HELP:
        found = [((("pipeline", label),), known[name]) for label, known in pipelines.items() if name in known]
        if found:
            rows[name] = [*found]
    return page(rows, HELP, COUNTERS)
