"""SQL over topics: each topic in a statement is a view, recreated before every statement.

Spark would otherwise keep the range and the conditions of a view's first query for all following ones. The options fix
the range, so every statement sees the same records.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kcli.errors import UsageError
from kcli.pipeline.jobs.bad import ERRORS, UNKNOWN, BadRows
from kcli.pipeline.jobs.frames import as_ours, load, tried
from kcli.pipeline.jobs.records import as_records
from kcli.values import Frozen, field

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

MODES = ("append", "update", "complete")
KEPT = ("key", "value", "headers")
RECORDS = ("topic", "partition", "offset", "timestamp", "timestampType")
"""Columns of a source with a record's position, which is meaningless for another topic."""
_TOKEN = re.compile(
    r"""(?P<skip>--[^\n]*|/\*.*?\*/|\s+)
    |(?P<text>[rR]?'(?:\\.|[^'\\])*'|[rR]?"(?:\\.|[^"\\])*")
    |(?P<quoted>`(?:``|[^`])*`)
    |(?P<name>[^\W\d]\w*|\d\w*)
    |(?P<other>.)""",
    re.DOTALL | re.VERBOSE,
)
_COUNT = re.compile(r"\bcount\s*\(\s*\*\s*\)", re.IGNORECASE)
_WHOLE = {"describe", "desc", "show", "table", "natural", "create", "cache", "summarize"}


class View(Frozen):
    """A topic as a table: its source (`kcli` or `kafka`) and options; `columns` and `formats` are for Spark's own
    source, which does not support them."""

    topic: str = ""
    form: str = "kcli"
    options: Mapping[str, str] = field(factory=dict)
    columns: tuple[str, ...] = ()
    formats: Mapping[str, tuple[str, str]] = field(factory=dict)
    times: str = ""
    """A condition on the timestamps of records; "" for none."""
    null_bad: bool = False
    """Whether values that do not fit their format are null, and counted."""
    counts: bool = False
    """Whether there are columns for misfits and unknown fields."""
    leave_out: bool = False
    """Whether such records are omitted."""
    record: bool = False
    """Whether there is a column with a row's record position, for a merge."""
    events: bool = False
    """Whether values are Debezium change events."""


class Statement(Frozen):
    """A statement; with a `name` its rows are a table for later ones. `where` is its place, for errors."""

    sql: str = ""
    name: str = ""
    where: str = ""


class Script:
    """The statements of a pipeline. `topics` are all topics of the cluster: a name that needs quotes is reported."""

    def __init__(
        self,
        spark: SparkSession,
        views: Sequence[View],
        steps: Sequence[Statement],
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

    def frames(self) -> Iterator[tuple[Statement, DataFrame]]:
        """Yield each statement's rows; those of a definition have no columns. Raises UsageError for invalid SQL."""
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
        frame = load(self._spark, view.form, options, streaming=self._streaming, times=view.times)
        if view.form != "kcli":
            frame = as_ours(frame, view.columns, view.formats, text=True, null_bad=view.null_bad)
        if view.counts and any(name in frame.columns for name in (*ERRORS, *UNKNOWN)):
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
        """Return the rows with RECORD; for change events the value is the row, and there is a column op."""
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

    @property
    def unknown(self) -> int:
        """Records with unknown fields, in all statements."""
        return sum(rows.unknown for rows in self._bad)

    @property
    def fields(self) -> list[str]:
        """Some of these fields."""
        return list(dict.fromkeys(one for rows in self._bad for one in rows.fields))

    def _sql(self, step: Statement) -> DataFrame:
        try:
            return tried(step.where or "SQL", lambda: self._spark.sql(step.sql), option=False)
        except UsageError as problem:
            name = bare(step.sql, self._topics)
            if name is None:
                # so that Spark lists all existing columns in errors, not only the requested ones
                for view in self._views:
                    self._make(view, whole=True)
                return tried(step.where or "SQL", lambda: self._spark.sql(step.sql), option=False)
            where = step.where or "SQL"
            raise UsageError(f"{where}: put the topic {name} in backticks: `{name}`") from problem


def quoted(name: str) -> str:
    """Quote a name for SQL."""
    return f"`{name.replace('`', '``')}`"


def started(writer: Any, mode: str | None) -> StreamingQuery:
    """Start the query in the first output mode that Spark allows for it. Raises AnalysisException of the last."""
    from pyspark.errors import AnalysisException

    wanted = (mode,) if mode is not None else MODES
    for one in wanted:
        try:
            query: StreamingQuery = writer.outputMode(one).start()
            return query
        except AnalysisException as problem:
            if one == wanted[-1] or "output mode" not in str(problem).lower():
                raise
    raise AssertionError(wanted)


def records_of(frame: DataFrame, typed: Collection[str] = ()) -> DataFrame:
    """Return key, value and headers. Without a column `value`, all columns except the key and the record's position
    become a JSON object; for a value of `typed`, with a registry's schema, a struct."""
    from pyspark.sql import functions as f

    if "value" not in frame.columns:
        fields = [name for name in frame.columns if name not in ("key", "headers", *RECORDS)] or frame.columns
        kept = [name for name in frame.columns if name in ("key", "headers")]
        whole = f.struct(*fields)
        frame = frame.select(*kept, (whole if "value" in typed else f.to_json(whole)).alias("value"))
    return as_records(frame, keep=KEPT, typed=typed)


def tokens(sql: str) -> list[tuple[str, str, int]]:
    """Return (kind, text, end) of all tokens except spaces and comments. Kinds: name, quoted (without its marks), text,
    other."""
    rows = []
    for match in _TOKEN.finditer(sql):
        kind = match.lastgroup or "other"
        if kind != "skip":
            text = match.group()
            rows.append((kind, text[1:-1].replace("``", "`") if kind == "quoted" else text, match.end()))
    return rows


def split(sql: str) -> list[str]:
    """Split a text into statements, without the semicolons."""
    statements, start = [], 0
    for kind, text, end in tokens(sql):
        if kind == "other" and text == ";":
            statements.append(sql[start : end - 1])
            start = end
    statements.append(sql[start:])
    return [statement.strip() for statement in statements if any(kind != "skip" for kind, _, _ in tokens(statement))]


def mentioned(sql: str, names: Iterable[str]) -> Counter[str]:
    """Return how often each name occurs: unquoted if it is a valid SQL name, else in back-quotes. Case matters for
    topics, so it matters here."""
    known = set(names)
    return Counter(text for kind, text, _ in tokens(sql) if kind in ("name", "quoted") and text in known)


def bare(sql: str, names: Iterable[str]) -> str | None:
    """Return a name that lacks the back-quotes it needs: `orders.eu`, `my-topic`."""
    odd = [name for name in names if not re.fullmatch(r"[^\W\d]\w*", name)]
    for kind, text, end in tokens(sql):
        if text.lower() in ("from", "join", ",") and kind in ("name", "other"):
            rest = sql[end:].lstrip()
            for name in odd:
                if rest.startswith(name) and not re.match(r"[\w.-]", rest[len(name) :]):
                    return name
    return None


def words(statements: Sequence[str]) -> list[str]:
    """Return the texts with `*` only where it means every column, for `frames.columns_for`."""
    shapes = []
    for sql in statements:
        lower = {text.lower() for kind, text, _ in tokens(sql) if kind == "name"}
        shapes.append("*" if lower & _WHOLE else _COUNT.sub("count()", sql))
    return shapes


def once_each(statements: Sequence[str], names: Iterable[str]) -> bool:
    """Whether each name is read at most once by all statements together: only then may Spark push the conditions of one
    query down into the source, which keeps them for all others."""
    counted: Counter[str] = Counter()
    known = list(names)
    for sql in statements:
        if any(kind == "name" and text.lower() in ("with", "view", "cache") for kind, text, _ in tokens(sql)):
            return False
        counted += mentioned(sql, known)
    return all(number <= 1 for number in counted.values())
