"""Writes topics to files, counting the rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kcli.errors import OPTION, KcliError, UsageError
from kcli.pipeline.jobs.bad import BadRows, Counted
from kcli.pipeline.jobs.checkpoints import ELSEWHERE, Beside, stored
from kcli.pipeline.jobs.files import csv
from kcli.pipeline.jobs.frames import with_column
from kcli.pipeline.jobs.work import Action, Stream, Trigger
from kcli.values import Frozen

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.types import StructType

    from kcli.pipeline.jobs.lake.merging.latest import Merge
    from kcli.pipeline.jobs.lake.table import Commit, Table, Written

CODECS = {
    "parquet": ("none", "uncompressed", "snappy", "gzip", "lz4", "lz4_raw", "brotli", "zstd"),
    "delta": ("none", "uncompressed", "snappy", "gzip", "lz4", "lz4_raw", "brotli", "zstd"),
    "iceberg": ("none", "uncompressed", "snappy", "gzip", "lz4", "lz4_raw", "brotli", "zstd"),
    "orc": ("none", "snappy", "zlib", "lzo", "lz4", "zstd", "brotli"),
    "json": ("none", "bzip2", "gzip", "lz4", "snappy", "deflate", "zstd"),
    "csv": ("none", "bzip2", "gzip", "lz4", "snappy", "deflate", "zstd"),
}
USUAL = {"parquet": "zstd", "delta": "zstd", "iceberg": "zstd", "orc": "zstd"}
TEXT = ("json", "csv")
"""Formats in which keys and values are strings by default."""
UNITS = {
    "year": "date_format({}, 'yyyy')",
    "month": "date_format({}, 'yyyy-MM')",
    "day": "to_date({})",
    "hour": "date_format({}, 'yyyy-MM-dd-HH')",
}
"""The values of Iceberg's transforms as Iceberg shows them, which sort like the time. In Spark's session zone, which is
UTC."""
_UNIT = re.compile(r"(\w+)\s*\((.*)\)", re.DOTALL)


class FileForm(Frozen):
    """How files are written. `made` has (name, SQL) of `partition_by` columns derived from a time. `files` 0 leaves
    their number to Spark; `size` 0 means the default size; `compact` is the interval for merging small ones, in
    seconds. `jars`: write Delta tables with Delta's own jars. `evolve`: a stream adds and widens columns of its table.
    """

    form: str = "parquet"
    compression: str = ""
    partition_by: tuple[str, ...] = ()
    made: tuple[tuple[str, str], ...] = ()
    units: tuple[tuple[str, str, str], ...] = ()
    files: int = 0
    size: int = 0
    compact: float | None = None
    jars: bool = False
    evolve: bool = False

    @property
    def plain_delta(self) -> bool:
        """A Delta table, written without Delta's jars."""
        return self.form == "delta" and not self.jars

    @property
    def is_table(self) -> bool:
        """A table of a lake rather than a folder of files."""
        return self.form in ("delta", "iceberg")

    @property
    def codec(self) -> str:
        """The compression, "" for the format's own."""
        return self.compression or USUAL.get(self.form, "")


def check(form: FileForm) -> None:
    """Raise UsageError for a codec that the format does not support, or a missing package."""
    if form.plain_delta:
        from kcli.pipeline.jobs.files import delta

        delta.check()
    if form.form == "iceberg":
        from kcli.pipeline.jobs.lake import catalogs

        catalogs.check()
    if form.compression and form.compression not in CODECS[form.form]:
        wrong = UsageError(f"compression {form.compression}: {form.form} supports {', '.join(CODECS[form.form])}")
        raise wrong.hinted(OPTION)


class Export:
    """Writes a frame to files, or to a `table` of a lake, by `merge` if its rows have keys. `rows` is known after a
    batch succeeded. `written` has the batches that a stream wrote to a table by number, -1 for a batch outside a
    stream; `tell` is called with a sentence if a stream found its table ahead of its checkpoint."""

    def __init__(
        self,
        frame: DataFrame,
        form: FileForm,
        table: Table | None = None,
        merge: Merge | None = None,
        tell: Callable[[str], None] = lambda sentence: None,
        *,
        null_bad: bool = False,
    ) -> None:
        for name, sql in form.made:
            if name not in frame.columns:
                frame = with_column(frame, name, sql)
        missing = [name for name in form.partition_by if name not in frame.columns]
        if missing:
            there = ", ".join(frame.columns)
            unknown = UsageError(f"partition_by {missing[0]}: unknown column; the columns are {there}")
            raise unknown.hinted(OPTION)
        self.bad: BadRows | None = None
        if not form.is_table and _texts(frame, form.partition_by):
            frame = _folders(frame, _texts(frame, form.partition_by), null_bad=null_bad)
            if null_bad:
                self.bad = BadRows(frame)
                frame = self.bad.frame
        if form.files:
            frame = frame.repartition(form.files)
        if form.form == "csv":
            frame = _without_bytes(frame)
        self._form = form
        self._tell = tell
        self._table, self._merge = table, merge
        self.bytes = 0
        self.written: dict[int, Written] = {}
        self._counted = Counted(frame)
        self._frame = self._counted.frame

    def batch(self, target: str, mode: str) -> Action:
        """Write all of it, once."""
        return Action(self._frame.sparkSession, lambda: self.write(target, mode))

    def write(self, target: str, mode: str) -> None:
        """Write all of it now. Raises UsageError if the rows do not match the files to which they would be added."""
        if self._table is not None:
            self._put(self._table, self._frame, mode, None, -1)
            return
        if mode == "append":
            from kcli.pipeline.jobs.files.adding import check_columns

            check_columns(self._frame, target, self._form.form, self._form.partition_by)
        self._set(self._frame.write.format(self._form.form).mode(mode)).save(target)

    def stream(
        self,
        target: str,
        checkpoint: Path | str,
        trigger: Trigger,
        stop_file: Path | None,
        start: Callable[[Any], StreamingQuery] = lambda writer: writer.start(),
    ) -> Stream:
        """Write it as it arrives; `start` starts the query of a table."""
        if self._table is not None:
            return self._table_stream(self._table, checkpoint, trigger, stop_file, start)
        check_and_keep(self._frame, checkpoint, self._form.form)
        writer = self._set(self._frame.writeStream.format(self._form.form).outputMode("append"))
        writer = trigger.on(writer.option("checkpointLocation", str(checkpoint)).option("path", target))
        return Stream(writer.start, stop_file)

    def _put(self, table: Table, rows: DataFrame, mode: str, commit: Commit | None, batch: int) -> None:
        """Write rows as one commit."""
        evolve = self._form.evolve
        if self._merge is None:
            written = table.write(rows, mode, commit, evolve=evolve)
        else:
            from kcli.pipeline.jobs.lake.merging.latest import latest, marked

            written = table.merge(latest(marked(rows, self._merge), self._merge), self._merge, commit, evolve=evolve)
        self.bytes += max(written.bytes, 0)
        self.written[batch] = written
        if self._form.compact is not None:
            table.compact(self._form.compact)

    def _table_stream(
        self,
        table: Table,
        checkpoint: Path | str,
        trigger: Trigger,
        stop_file: Path | None,
        start: Callable[[Any], StreamingQuery],
    ) -> Stream:
        """Write a stream; each batch is committed to the table once."""
        from kcli.pipeline.jobs.lake.merging.latest import bare, check_columns
        from kcli.pipeline.jobs.lake.table import Batches

        if isinstance(checkpoint, str) and not stored(checkpoint):
            raise UsageError(ELSEWHERE)
        if self._merge is not None:
            check_columns(self._frame, self._merge)
        table.check(bare(self._frame), evolve=self._form.evolve)
        batches = Batches(table, checkpoint)
        moved = batches.begin()
        if moved:
            self._tell(moved)

        def put(rows: DataFrame, number: int) -> None:
            commit = batches.commit(number)
            if commit is not None:
                self._put(table, rows, "append", commit, number)
                batches.done(commit)

        writer = self._frame.writeStream.foreachBatch(put).option("checkpointLocation", str(checkpoint))
        writer = trigger.on(writer)
        return Stream(lambda: start(writer), stop_file)

    def _compressed(self) -> dict[str, str]:
        return {"compression": self._form.codec} if self._form.codec else {}

    def _set(self, writer: Any) -> Any:
        writer = writer.options(**self._compressed())
        if self._form.form == "csv":
            writer = writer.options(**csv.WRITE)
        return writer.partitionBy(*self._form.partition_by) if self._form.partition_by else writer

    @property
    def rows(self) -> int:
        """The number of records written; -1 if they were not counted."""
        return self._counted.rows


NULL = "__HIVE_DEFAULT_PARTITION__"
"""The name of the folder for rows with null; a text equal to it cannot be distinguished."""


def _texts(frame: DataFrame, names: Sequence[str]) -> list[str]:
    """Return which of these columns are texts."""
    return [name for name in names if frame.schema[name].dataType.typeName() == "string"]


def _folders(frame: DataFrame, names: Sequence[str], *, null_bad: bool) -> DataFrame:
    """Return the frame with no value of these columns equal to the name that means null: such a value is an error, or
    with `null_bad` null, reported in a column valueError."""
    from pyspark.sql import functions as f

    for name in names:
        said = (
            f"\nkcli.errors.KcliError: partition_by {name}: a record has the text {NULL}, which is the name of "
            f"the folder for nulls; onBad=null makes it null, and the condition \"{name} <> '{NULL}'\" excludes it"
        )
        wrong = f.col(f"`{name}`") == NULL
        instead = f.lit(None) if null_bad else f.raise_error(f.lit(said))
        before = [f.col("valueError")] if "valueError" in frame.columns else []
        if null_bad:
            why = f.when(wrong, f.lit(f"{name} is {NULL}"))
            frame = frame.withColumn("valueError", f.coalesce(*before, why))
        frame = frame.withColumn(name, f.when(wrong, instead).otherwise(f.col(f"`{name}`")))
    return frame


def _without_bytes(frame: DataFrame) -> DataFrame:
    """Return the frame with bytes as base64, as in JSON, because CSV is text."""
    from pyspark.sql import functions as f
    from pyspark.sql.types import BinaryType

    found = [field.name for field in frame.schema.fields if isinstance(field.dataType, BinaryType)]
    return frame.withColumns({name: f.base64(f.col(f"`{name}`")) for name in found}) if found else frame


class ColumnsChanged(KcliError):
    """Files with these columns cannot be read together with the existing ones."""


def check_and_keep(frame: DataFrame, checkpoint: Path | str, form: str) -> None:
    """Compare the columns with those of earlier runs, then store them. Raises ColumnsChanged."""
    from kcli.pipeline.jobs.schemas import ddl_of, struct_of

    if isinstance(checkpoint, str):
        return
    kept, now = Beside(checkpoint, "columns", "the columns of a pipeline"), frame.schema
    before = kept.known.get("columns")
    if before is not None:
        known = struct_of(frame.sparkSession, before)
        if form == "csv" and known.names != now.names:
            raise ColumnsChanged(
                f"the columns are {', '.join(now.names)}, but earlier runs wrote {', '.join(known.names)}: CSV "
                "files with different columns cannot be read together; nothing was written"
            )
        if form in ("parquet", "orc"):
            _check_types(known, now, form)
    kept.keep({"columns": ddl_of(now)})


def _check_types(known: StructType, now: StructType, form: str) -> None:
    from kcli.pipeline.jobs.schemas import difference

    found = difference(known, now)
    types = {**found.changed, **found.widened}
    if types:
        path, (before, after) = next(iter(types.items()))
        raise ColumnsChanged(
            f"the column {path} is {after}, but earlier runs wrote {before}: Spark cannot read a folder whose "
            f"{form} files have both types; nothing was written"
        ).hinted("columns-changed")


class Partitioning(Frozen):
    """`names` are the columns of the folders, in order; `made` has (name, SQL) of those derived from a time, and
    `units` (name, unit, the time's SQL)."""

    names: tuple[str, ...] = ()
    made: tuple[tuple[str, str], ...] = ()
    units: tuple[tuple[str, str, str], ...] = ()


def partitioning_of(given: str | None) -> Partitioning:
    """Parse `region, day(value.created)`: the second becomes the column created_day. Raises UsageError for an unknown
    function."""
    names: list[str] = []
    made: dict[str, str] = {}
    units: list[tuple[str, str, str]] = []
    for text in (one.strip() for one in (given or "").split(",")):
        unit = _UNIT.fullmatch(text)
        if unit is None:
            names += [text] if text else []
            continue
        word, time = unit[1].lower(), unit[2].strip()
        words: list[str] = re.findall(r"\w+", time)
        if word not in UNITS or not words:
            raise UsageError(
                f"partition_by {text}: expected a column, or {', '.join(UNITS)} of one, such as day(timestamp)"
            ).hinted(OPTION)
        name = f"{words[-1]}_{word}"
        made[name] = UNITS[word].format(time)
        names.append(name)
        units.append((name, word, time))
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise UsageError(f"partition_by: {twice} is given twice").hinted(OPTION)
    return Partitioning(names=tuple(names), made=tuple(made.items()), units=tuple(units))
