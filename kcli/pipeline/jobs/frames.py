"""DataFrames of topics: from kcli's source or Spark's own, with the columns that SQL uses, and typed values."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from kcli.errors import OPTION, UsageError
from kcli.pipeline.options import COLUMNS
from kcli.pipeline.schemas.wanted import REGISTERED

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

VIEW = "records"
PLACE = ("topic", "partition", "offset", "timestamp", "timestampType")
"""Columns with the position of a record."""
MADE = {"date": "to_date(timestamp)", "hour": "hour(timestamp)"}
"""Columns derived from the timestamp on request."""


def columns_for(texts: Sequence[str], *, everything: bool, headers: bool) -> list[str]:
    """Return the columns that SQL texts may use; all if one contains `*`, or without any text. Reading an unused column
    only costs time."""
    whole = [*COLUMNS, "headers"] if headers else list(COLUMNS)
    if everything or any("*" in text for text in texts):
        return whole
    words = {word.lower() for text in texts for word in re.findall(r"\w+", text)}
    if words & set(MADE):
        words.add("timestamp")
    found = [name for name in (*COLUMNS, "headers") if name.lower() in words]
    return found or ["partition"]


def load(spark: SparkSession, form: str, options: Mapping[str, str], *, streaming: bool, times: str = "") -> DataFrame:
    """`format("kcli")` or `format("kafka")`. `times` is a condition on the timestamps of records: a range of offsets
    may contain others, if timestamps are out of order."""
    reader = spark.readStream if streaming else spark.read
    wanted = [name for name in options.get("columns", "").split(",") if name]
    added = [name for name in ("partition", "timestamp") if times and wanted and name not in wanted]
    if added:
        options = {**options, "columns": ",".join([*wanted, *added])}
    frame = _planned(lambda: reader.format(form).options(**options).load())
    return frame.where(times).drop(*added) if times else frame


def _planned(load: Callable[[], DataFrame]) -> DataFrame:
    """Plan with Spark's Python process, once more if a busy machine did not start it in time."""
    from kcli.pipeline.errors import busy

    for _ in range(2):
        try:
            return load()
        except Exception as problem:
            if not busy(problem):
                raise
    return load()


def as_ours(
    frame: DataFrame,
    columns: Sequence[str],
    formats: Mapping[str, tuple[str, str]],
    *,
    text: bool,
    null_bad: bool = False,
) -> DataFrame:
    """Convert a frame of Spark's own source to the form of kcli's: the columns, and keys and values in their
    formats."""
    for part, (form, schema) in formats.items():
        if form == "json":
            frame = from_json(frame, part, schema, null_bad=null_bad)
        elif (form == "string" or (not form and text)) and part in columns:
            frame = as_text(frame, part, null_bad=null_bad)
    return frame.select(*columns)


def as_text(frame: DataFrame, part: str, *, null_bad: bool) -> DataFrame:
    """Convert keys or values to text with Spark. Invalid UTF-8 is an error that names the record, or null, reported in
    a column keyError or valueError."""
    from pyspark.sql import functions as f

    read = frame[part].cast("string")
    bad = read.isNotNull() & ~f.is_valid_utf8(read)
    if null_bad:
        frame = frame.withColumn(f"{part}Error", f.when(bad, f.lit("not UTF-8")))
    return frame.withColumn(part, f.when(bad, _refused(part, "not UTF-8", null_bad=null_bad)).otherwise(read))


def _refused(part: str, why: str, *, null_bad: bool) -> Column:
    """Return null, or the error of a record."""
    from pyspark.sql import functions as f

    if null_bad:
        return f.lit(None)
    said = f" bad {part}: {why}; onBad=null makes it null".replace("%", "%%")
    place = "\nkcli.pipeline.formats.arrow.BadRecord: %s[%d] offset %d:"
    return f.raise_error(f.format_string(place + said, "topic", "partition", "offset"))


def from_json(frame: DataFrame, part: str, schema: str, *, null_bad: bool) -> DataFrame:
    """Decode keys or values with Spark. A misfit is an error that names the record, or null, reported in a column
    keyError or valueError."""
    from pyspark.sql import functions as f

    mark = "_kcli_bad"
    options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": mark}
    read = f.from_json(f.col(part).cast("string"), f"{schema}, {mark} STRING", options)
    frame = frame.withColumn(mark, read)
    bad, value = f.col(f"{mark}.{mark}").isNotNull(), f.col(mark).dropFields(mark)
    if null_bad:
        frame = frame.withColumn(f"{part}Error", f.when(bad, f.lit("not JSON of the schema")))
    else:
        value = f.when(bad, _refused(part, "not JSON of the schema", null_bad=False)).otherwise(value)
    return frame.withColumn(part, value).drop(mark)


def decoded(frame: DataFrame, formats: Mapping[str, tuple[str, str]], *, null_bad: bool = False) -> DataFrame:
    """Decode keys and values in their formats, for SQL; `raw` has them unchanged. Raises UsageError for a format for
    which Spark has no function."""
    from pyspark.sql import functions as f

    raw = [f.col(part) for part in ("key", "value") if part in frame.columns]
    frame = frame.withColumn("raw", f.struct(*raw))
    for part, (form, schema) in formats.items():
        if form in ("msgpack", *REGISTERED):
            raise UsageError(
                f"{part}_format {form}: the bytes are passed on unchanged, and Spark SQL cannot read {form}"
            ).hinted(OPTION)
        if form == "json":
            frame = from_json(frame, part, schema, null_bad=null_bad)
        elif form == "string":
            frame = frame.withColumn(part, frame[part].cast("string"))
    return frame


def chosen(
    frame: DataFrame,
    where: Sequence[str],
    select: str | None,
    extra: Sequence[str] = (),
    more: Sequence[tuple[str, str]] = (),
) -> DataFrame:
    """Return the rows and columns selected by SQL. `extra` are columns of MADE to add, if missing; `more` has names and
    SQL of others. Raises UsageError for invalid SQL, or unknown names."""
    spark = frame.sparkSession
    for condition in where:
        frame = tried(f"where {condition}", partial(frame.where, condition))
    known = MADE | dict(more)
    made = [name for name in extra if name in known and name not in frame.columns]
    if select is None:
        for name in made:
            frame = with_column(frame, name, known[name])
        return frame
    frame.createOrReplaceTempView(VIEW)
    found = tried(f"select {select}", lambda: spark.sql(f"SELECT {select} FROM {VIEW}"))
    missing = [name for name in made if name not in found.columns]
    if missing:
        beside = ", ".join(f"{known[name]} AS `{name}`" for name in missing)
        found = tried(f"select {select}", lambda: spark.sql(f"SELECT {select}, {beside} FROM {VIEW}"))
    return found


def with_column(frame: DataFrame, name: str, sql: str) -> DataFrame:
    """Return the frame with an additional column. Raises UsageError for invalid SQL, or unknown names."""
    return tried(f"column {name}", partial(frame.selectExpr, "*", f"{sql} AS `{name}`"), option=False)


def placed(frame: DataFrame, where: Sequence[str]) -> tuple[DataFrame, list[str]]:
    """Return the frame with the conditions that only concern a record's position applied, and the other conditions:
    positions can be looked up in the log, whatever is counted afterwards."""
    from pyspark.errors import AnalysisException, ParseException

    place = frame.select(*[name for name in PLACE if name in frame.columns])
    left = []
    for condition in where:
        try:
            place.where(condition).columns  # noqa: B018  # Connect looks names up only now
        except (AnalysisException, ParseException):
            left.append(condition)
        else:
            frame = frame.where(condition)
    return frame, left


def tried(what: str, make: Callable[[], DataFrame], *, option: bool = True) -> DataFrame:
    """Return the result of `make`, with its columns resolved. Raises UsageError that quotes the failing text; with
    `option`, it begins with the name of a setting."""
    from pyspark.errors import AnalysisException, ParseException

    from kcli.pipeline.errors import told

    try:
        frame = make()
        frame.columns  # noqa: B018  # Connect looks names up only now
    except (AnalysisException, ParseException) as problem:
        wrong = UsageError(f"{what}: {_first(str(told(problem)))}")
        raise (wrong.hinted(OPTION) if option else wrong) from problem
    return frame


def _first(sentence: str) -> str:
    """Return Spark's message without its name, and without the position in a plan."""
    return sentence.removeprefix("Spark: ").split("; line ")[0].split(" == SQL ==")[0].rstrip(" .;")
