"""Converts rows to records, writes them to a topic, and counts them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from kcli.errors import UsageError
from kcli.pipeline.jobs.bad import Counted
from kcli.pipeline.jobs.work import Action, Stream, Trigger

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

WRITTEN = ("key", "value", "topic", "partition", "timestamp", "headers")
HEADERS = "array<struct<key:string,value:binary>>"
OLDER = "spark.sql.sources.useV1SourceList"


def as_records(frame: DataFrame, *, keep: tuple[str, ...], typed: Collection[str] = ()) -> DataFrame:
    """Return the existing columns of `keep` in the sink's form: a struct, map or array becomes JSON, anything else
    except text and bytes its text; those of `typed` are unchanged, for a registry's schema. Raises UsageError without a
    value column, and if one of `typed` is missing."""
    from pyspark.sql import functions as f
    from pyspark.sql.types import ArrayType, BinaryType, MapType, StringType, StructType, VariantType

    types = {field.name: field.dataType for field in frame.schema.fields}
    if "value" not in types:
        raise UsageError(f"column value is missing; columns: {', '.join(types) or 'none'}")
    if "key" in typed and "key" not in types:
        raise UsageError(f"column key is missing, but the key is written with a schema; columns: {', '.join(types)}")
    columns = []
    for name in (one for one in keep if one in types):
        column = f.col(name)
        if name in typed:
            pass
        elif name in ("key", "value") and isinstance(types[name], StructType | MapType | ArrayType | VariantType):
            column = f.to_json(column)
        elif name in ("key", "value", "topic") and not isinstance(types[name], StringType | BinaryType):
            column = column.cast("string")
        elif name == "partition":
            column = column.cast("int")
        elif name == "timestamp":
            column = column.cast("timestamp")
        elif name == "headers" and types[name].simpleString() != HEADERS:
            column = column.cast(HEADERS)
        columns.append(column.alias(name))
    return frame.select(*columns)


class Sink:
    """A frame to write to a topic. `rows` is known after a batch succeeded."""

    def __init__(self, frame: DataFrame, form: str, options: Mapping[str, str]) -> None:
        self._counted = Counted(frame)
        self._form = form
        self._options = dict(options)

    def batch(self) -> Action:
        """Write all of it, once."""
        return Action(self._counted.frame.sparkSession, self.write)

    def write(self) -> None:
        """Write all of it now."""
        frame = self._counted.frame
        with _newer(frame.sparkSession, self._form):
            frame.write.format(self._form).mode("append").options(**self._options).save()

    def stream(self, checkpoint: Path | str, trigger: Trigger, stop_file: Path | None) -> Stream:
        """Write it as it arrives."""
        writer = self._counted.frame.writeStream.format(self._form).options(**self._options)
        writer = trigger.on(writer.option("checkpointLocation", str(checkpoint)))
        return Stream(writer.start, stop_file)

    @property
    def rows(self) -> int:
        """The number of records written; -1 if they were not counted."""
        return self._counted.rows


@contextmanager
def _newer(spark: SparkSession, form: str) -> Iterator[None]:
    """Use Spark's newer interface to write a batch to Kafka: the older default counts nothing."""
    before = spark.conf.get(OLDER)
    if form == "kafka" and before is not None:
        spark.conf.set(OLDER, ",".join(one for one in before.split(",") if one.strip() != form))
    try:
        yield
    finally:
        if form == "kafka" and before is not None:
            spark.conf.set(OLDER, before)
