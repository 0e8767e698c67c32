"""Queries of any SQL: which output mode they allow, and their rows as records of a topic."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from kcli.pipeline.jobs.records import as_records

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

MODES = ("append", "update", "complete")
KEPT = ("key", "value", "headers")
RECORDS = ("topic", "partition", "offset", "timestamp", "timestampType")
"""Columns of a source that say where a record was, which is nothing for another topic."""


def started(writer: Any, mode: str | None) -> StreamingQuery:
    """The query, in the first output mode that Spark allows for it. Raises AnalysisException of the last."""
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
    """Key, value and headers. Without a column `value` all columns but the key, and those that say where a record was,
    become a JSON object; for a value of `typed`, by a schema of a registry, a struct."""
    from pyspark.sql import functions as f

    if "value" not in frame.columns:
        fields = [name for name in frame.columns if name not in ("key", "headers", *RECORDS)] or frame.columns
        kept = [name for name in frame.columns if name in ("key", "headers")]
        whole = f.struct(*fields)
        frame = frame.select(*kept, (whole if "value" in typed else f.to_json(whole)).alias("value"))
    return as_records(frame, keep=KEPT, typed=typed)
