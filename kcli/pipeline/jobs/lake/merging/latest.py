"""Reduces a batch to the last record of each key, and whether that deletes the row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.errors import OPTION, UsageError
from kcli.values import Frozen

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

SEEN = "_kcli_record"
"""Column of records before --select: whether one is a deletion, and its position."""
MARK = "_kcli_merge"
"""The same in addition to the columns of --select."""
RECORD = "_record"
"""The same as a column of a topic's SQL view, so that rows can carry their record's position."""
DELETED = "_kcli_deleted"
"""Column of `latest`: whether the row is deleted."""
KEYS = ("boolean", "tinyint", "smallint", "int", "bigint", "string", "binary", "date", "timestamp", "decimal")
ERROR = "\nkcli.errors.KcliError: "
"""Prefix of a sentence that passes through Spark (kcli/pipeline/errors.py)."""


class Merge(Frozen):
    """How rows are merged into a table: `keys` are the columns that identify a row, `order_by` is the column that
    orders records of a key, "" for the offset. `delete_when` is SQL over the rows of SQL."""

    keys: tuple[str, ...] = ()
    order_by: str = ""
    delete_when: str = ""


def bare(frame: DataFrame) -> DataFrame:
    """Return only the table's columns."""
    return frame.drop(MARK, RECORD)


def marked(frame: DataFrame, merge: Merge) -> DataFrame:
    """Return the rows of a batch with MARK, the position of their records. An SQL row without a position gets a unique
    number instead of the partition, so two such rows of a key need `order_by`."""
    if MARK in frame.columns:
        return frame
    from pyspark.sql import functions as f

    gone = f.coalesce(f.expr(merge.delete_when), f.lit(False)) if merge.delete_when else f.lit(False)
    if RECORD in frame.columns:
        seen = f.col(RECORD)
        mark = f.struct((seen.deleted | gone).alias("deleted"), seen.topic, seen.partition, seen.offset)
    else:
        number = f.monotonically_increasing_id()
        place = {"topic": f.lit(None).cast("string"), "partition": number, "offset": f.lit(0).cast("bigint")}
        mark = f.struct(gone.alias("deleted"), *[value.alias(name) for name, value in place.items()])
    return frame.withColumn(MARK, mark).drop(RECORD)


def check_columns(frame: DataFrame, merge: Merge) -> None:
    """Raise UsageError if the rows lack the columns, or a key's type has no reliable equality."""
    types = {one.name: one.dataType.simpleString() for one in bare(frame).schema.fields}
    for option, name in [*[("merge", key) for key in merge.keys], ("order_by", merge.order_by)]:
        if name and name not in types:
            raise UsageError(f"{option} {name}: unknown column; the columns are {', '.join(types)}").hinted(OPTION)
    for key in merge.keys:
        if types[key].split("(")[0] not in KEYS:
            wrong = UsageError(
                f"merge {key}: a key must be a number, a text, a date or a time, but {key} is {types[key]}"
            )
            raise wrong.hinted(OPTION)


def latest(frame: DataFrame, merge: Merge) -> DataFrame:
    """Return the last row of each key, with DELETED. The job fails if a key is null, or if a key is in several
    partitions without a column that orders its records."""
    from pyspark.sql import functions as f

    mark = f.col(MARK)
    columns = [name for name in frame.columns if name != MARK]
    keys = [f.col(f"`{name}`") for name in merge.keys]
    null = keys[0].isNull()
    for key in keys[1:]:
        null = null | key.isNull()
    place = f.coalesce(
        f.concat(mark.topic, f.format_string("[%d] offset %d", mark.partition, mark.offset)), f.lit("SQL")
    )
    named = ", ".join(merge.keys)
    why = f.concat(f.lit(ERROR), place, f.lit(f": the key {named} is null there, so it identifies no row"))
    checked = frame.withColumn(MARK, f.when(null, f.raise_error(why)).otherwise(mark))
    ordered = [f.col(f"`{merge.order_by}`")] if merge.order_by else []
    order = f.struct(*ordered, mark.offset, mark.partition)
    rows = checked.groupBy(*keys).agg(
        f.max_by(f.struct(*[f.col(f"`{name}`") for name in columns], mark.deleted.alias(DELETED)), order).alias("row"),
        f.min(mark.topic).alias("topic"),
        f.max(mark.topic).alias("other"),
        f.min(mark.partition).alias("least"),
        f.max(mark.partition).alias("most"),
    )
    if not merge.order_by:
        rows = rows.withColumn("row", _of_one_partition(merge))
    return rows.select("row.*")


def _of_one_partition(merge: Merge) -> Column:
    """Return the row, or an error if offsets of several partitions would have to be compared."""
    from pyspark.sql import functions as f

    said = f.concat_ws(", ", *[f.col(f"`{name}`").cast("string") for name in merge.keys])
    places = f.format_string(
        " is in %s[%d] and %s[%d], whose offsets cannot be compared",
        f.col("topic"),
        f.col("least"),
        f.col("other"),
        f.col("most"),
    )
    rows = f.lit(
        f" has several rows in a batch, and kcli cannot tell which is the latest: also SELECT {RECORD}, or "
        "set order_by to a column that shows it"
    )
    why = f.concat(
        f.lit(f"{ERROR}merge by {', '.join(merge.keys)}: the key "),
        said,
        f.when(f.col("topic").isNull(), rows).otherwise(
            f.concat(places, f.lit(": set order_by to a column that shows which is the latest"))
        ),
    )
    unclear = (f.col("least") != f.col("most")) | (f.col("topic") != f.col("other"))
    return f.when(unclear, f.raise_error(why)).otherwise(f.col("row"))
