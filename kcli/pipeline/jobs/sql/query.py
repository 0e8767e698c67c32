"""SQL over topics: each topic that a statement names is a view, created again before every statement.

Again, as Spark keeps the range and the conditions of a view's first query for all that follow; the range is fixed by
the options, so every statement sees the same records.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from kcli.errors import UsageError
from kcli.pipeline.jobs.bad import ERRORS, BadRows
from kcli.pipeline.jobs.frames import as_ours, load, tried
from kcli.pipeline.jobs.sql.statements import bare, mentioned, once_each
from kcli.values import Frozen, field

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class View(Frozen):
    """A topic as a table: whose source (`kcli` or `kafka`), its options; `columns` and `formats` are for Spark's own
    source, which knows none of them."""

    topic: str = ""
    form: str = "kcli"
    options: Mapping[str, str] = field(factory=dict)
    columns: tuple[str, ...] = ()
    formats: Mapping[str, tuple[str, str]] = field(factory=dict)
    null_bad: bool = False
    """Whether what does not fit its format is null, and counted."""
    leave_out: bool = False
    """Whether such records are no rows."""
    record: bool = False
    """Whether there is a column of which record a row is, for a merge."""
    events: bool = False
    """Whether values are change events of Debezium."""


class Step(Frozen):
    """A statement; with a `name` its rows are a table for those that follow. `where` is its place, for errors."""

    sql: str = ""
    name: str = ""
    where: str = ""


class Script:
    """The statements of a pipeline. `topics` are all that the cluster has: a name that needs quotes is reported."""

    def __init__(
        self,
        spark: SparkSession,
        views: Sequence[View],
        steps: Sequence[Step],
        *,
        streaming: bool = False,
        watermark: tuple[str, str] | None = None,
        topics: Iterable[str] = (),
    ) -> None:
        self._spark = spark
        self._views = views
        self._steps = steps
        self._streaming = streaming
        self._watermark = watermark
        self._topics = list(topics)
        self._bad: list[BadRows] = []
        names = [*(view.topic for view in views), *(step.name for step in steps if step.name)]
        self.pushdown = not streaming and once_each([step.sql for step in steps], names)

    def frames(self) -> Iterator[tuple[Step, DataFrame]]:
        """Each statement's rows; those of a definition have no columns. Raises UsageError for SQL that is none."""
        lasting: set[str] = set()
        for step in self._steps:
            names = {view.topic for view in self._views}
            lasting |= set(mentioned(step.sql, names))
            for view in self._views:
                if view.topic in lasting:
                    self._make(view)
            frame = self._sql(step)
            if step.name:
                frame.createOrReplaceTempView(quoted(step.name))
            yield step, frame

    def _make(self, view: View, *, whole: bool = False) -> None:
        options = dict(view.options)
        if whole:
            options["columns"] = ""
        if view.form == "kcli" and not self._streaming:
            options["pushdown"] = str(self.pushdown).lower()
        frame = load(self._spark, view.form, options, streaming=self._streaming)
        if view.form != "kcli":
            frame = as_ours(frame, view.columns, view.formats, text=True, null_bad=view.null_bad)
        if view.null_bad and any(name in frame.columns for name in ERRORS):
            self._bad.append(BadRows(frame, leave_out=view.leave_out))
            frame = self._bad[-1].frame
        if view.record:
            frame = self._recorded(frame, view)
        if self._watermark is not None:
            column, delay = self._watermark
            frame = tried(f"watermark {column} {delay}", lambda: frame.withWatermark(column, delay))
        frame.createOrReplaceTempView(quoted(view.topic))

    @staticmethod
    def _recorded(frame: DataFrame, view: View) -> DataFrame:
        """The rows with RECORD; of change events the value is the row, and there is a column op."""
        from pyspark.sql import functions as f

        from kcli.pipeline.jobs.lake.merging.latest import RECORD

        gone = f.lit(False)
        if view.events:
            from kcli.pipeline.jobs.lake.merging.debezium import unwrapped

            frame, gone = unwrapped(frame), f.col("op") == "d"
        place = [f.col(name) for name in ("topic", "partition", "offset")]
        return frame.withColumn(RECORD, f.struct(gone.alias("deleted"), *place))

    @property
    def bad(self) -> int:
        """Records that did not fit their format, and are null or in quarantine, in all statements."""
        return sum(rows.rows for rows in self._bad)

    def _sql(self, step: Step) -> DataFrame:
        try:
            return tried(step.where or "SQL", lambda: self._spark.sql(step.sql), option=False)
        except UsageError as problem:
            name = bare(step.sql, self._topics)
            if name is None:
                for view in self._views:  # so that Spark names every column there is, not those that were asked for
                    self._make(view, whole=True)
                return tried(step.where or "SQL", lambda: self._spark.sql(step.sql), option=False)
            where = step.where or "SQL"
            raise UsageError(f"{where}: the topic {name} is written in back-quotes: `{name}`") from problem


def quoted(name: str) -> str:
    """A name as SQL has it."""
    return f"`{name.replace('`', '``')}`"
