"""Converts Debezium change events to rows: `after`, or the row before a delete, and whether the row is deleted.

An event is the value itself, or its `payload` if the converter writes schemas into each record (JSON with
`schemas.enable`). A delete is followed by a record without a value (a tombstone), which deletes by the record's key.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.errors import OPTION, UsageError
from kcli.pipeline.jobs.lake.merging.latest import ERROR

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType

UNCHANGED = "__debezium_unavailable_value"
"""Written by PostgreSQL's connector for a large column that an update did not change."""


def event_schema(shape: StructType, topic: str) -> StructType:
    """Reduce the schema inferred from samples: only what is read, with the row's columns both before and after, because
    samples may contain no delete. Raises UsageError if they are not change events."""
    from pyspark.sql.types import LongType, StringType, StructField, StructType

    from kcli.pipeline.jobs.schemas import evolved

    wrapped = "payload" in shape.names and "op" not in shape.names
    event = shape["payload"].dataType if wrapped else shape
    rows = [
        event[name].dataType
        for name in ("after", "before")
        if isinstance(event, StructType) and name in event.names and isinstance(event[name].dataType, StructType)
    ]
    if not rows:
        raise UsageError(
            f"unwrap debezium: the newest records of {topic} are not Debezium change events, which have op, "
            "before and after"
        ).hinted(OPTION)
    row = rows[0] if len(rows) == 1 else evolved(rows[0], rows[1])  # type: ignore[arg-type]
    found = StructType(
        [
            StructField("before", row),
            StructField("after", row),
            StructField("op", StringType()),
            StructField("ts_ms", LongType()),
        ]
    )
    return StructType([StructField("payload", found)]) if wrapped else found


def unwrapped(frame: DataFrame) -> DataFrame:
    """Return the records with the row as value, and a column `op`: c, u, r or d, and d for a tombstone. The job fails
    at an event that is not a row change. Raises UsageError for values without the required columns."""
    from pyspark.sql import functions as f

    value, names, row = _event(frame)
    before = value.before if "before" in names else f.lit(None).cast(row)
    gone = f.col("value").isNull() | (value.op == "d")
    by_key = _by_key(frame, row)
    parts = [
        f.coalesce(
            before.getField(one.name), *[key.getField(one.name) for key in by_key if _has(frame, key, one.name)]
        ).alias(one.name)
        for one in row.fields
    ]
    rows = f.when(gone, f.struct(*parts)).otherwise(value.after)
    checked = f.when(_odd(value, row), f.raise_error(_why(value))).otherwise(rows)
    return frame.withColumns({"value": checked, "op": f.when(gone, f.lit("d")).otherwise(value.op)})


def _event(frame: DataFrame) -> tuple[Column, list[str], StructType]:
    """Return the event, the names of its fields, and the columns of its row. Raises UsageError."""
    from pyspark.sql import functions as f
    from pyspark.sql.types import StructType

    value, shape = f.col("value"), frame.schema["value"].dataType
    if isinstance(shape, StructType) and "payload" in shape.names and "op" not in shape.names:
        value, shape = value.payload, shape["payload"].dataType
    if isinstance(shape, StructType) and {"op", "after"} <= {*shape.names}:
        row = shape["after"].dataType
        if isinstance(row, StructType):
            return value, shape.names, row
    wrong = UsageError(
        "unwrap debezium: the values have no columns op and after, so they are not Debezium change events"
    )
    raise wrong.hinted(OPTION)


def _by_key(frame: DataFrame, row: StructType) -> list[Column]:
    """Return the row's columns that the record's key has: in a struct, or in JSON with or without a schema."""
    from pyspark.sql import functions as f
    from pyspark.sql.types import StructField, StructType

    if "key" not in frame.columns:
        return []
    if isinstance(frame.schema["key"].dataType, StructType):
        return [f.col("key")]
    both = StructType([*[one for one in row.fields if one.name != "payload"], StructField("payload", row)])
    read = f.from_json(f.col("key").cast("string"), both)
    return [read.getField("payload"), read]


def _has(frame: DataFrame, key: Column, name: str) -> bool:
    """Whether the key has a column with this name."""
    from pyspark.sql.types import StructType

    shape = frame.select(key.alias("key")).schema["key"].dataType
    return isinstance(shape, StructType) and name in shape.names


def _odd(value: Column, row: StructType) -> Column:
    """Whether a record is an event that cannot be merged: another operation, no row, or a row without its values."""
    from pyspark.sql import functions as f

    odd = ~value.op.isin("c", "u", "r", "d") | value.op.isNull() | ((value.op != "d") & value.after.isNull())
    for one in row.fields:
        if one.dataType.typeName() in ("string", "binary"):
            text = value.after.getField(one.name).cast("string")
            odd = odd | f.coalesce(text == UNCHANGED, f.lit(False))
    return f.col("value").isNotNull() & odd


def _why(value: Column) -> Column:
    from pyspark.sql import functions as f

    place = f.format_string("%s[%d] offset %d", f.col("topic"), f.col("partition"), f.col("offset"))
    reason = (
        f.when(value.op == "t", f.lit("op t truncates the table, which a merge cannot do"))
        .when(value.op.isNull() | ~value.op.isin("c", "u", "r"), f.lit("not a change event: op must be c, u, r or d"))
        .when(value.after.isNull(), f.lit("the change event has no `after`"))
        .otherwise(
            f.lit(f"a column is {UNCHANGED}: its value is not in the event; set REPLICA IDENTITY FULL in PostgreSQL")
        )
    )
    return f.concat(f.lit(ERROR), place, f.lit(": "), reason)
