"""What a batch says of each key: its last record, and whether that deletes the row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.errors import OPTION, UsageError
from kcli.values import Frozen

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

SEEN = "_kcli_record"
"""A column of records before --select: whether one deletes, and where it is."""
MARK = "_kcli_merge"
"""The same beside the columns of --select."""
RECORD = "_record"
"""The same as a column of a topic's view in SQL: rows that have it say which record they are of."""
DELETED = "_kcli_deleted"
"""The column of `latest` that says that the row goes."""
KEYS = ("boolean", "tinyint", "smallint", "int", "bigint", "string", "binary", "date", "timestamp", "decimal")
ERROR = "\nkcli.errors.KcliError: "
"""How a sentence crosses Spark (kcli/pipeline/errors.py)."""


class Merge(Frozen):
    """How rows get into a table: `keys` are the columns that name a row, `order_by` is the column by which a record
    of a key is later than another, "" for its offset. `delete_when` is SQL over the rows of SQL."""

    keys: tuple[str, ...] = ()
    order_by: str = ""
    delete_when: str = ""


def bare(frame: DataFrame) -> DataFrame:
    """The columns of the table alone."""
    return frame.drop(MARK, RECORD)


def marked(frame: DataFrame, merge: Merge) -> DataFrame:
    """The rows of a batch with MARK: of which record each is. A row of SQL that does not say it has a number of its own
    in place of the partition, so two rows of a key need `order_by`."""
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
    """Raise UsageError where the rows have no such columns, or a key's type has no equality to rely on."""
    types = {one.name: one.dataType.simpleString() for one in bare(frame).schema.fields}
    for option, name in [*[("merge", key) for key in merge.keys], ("order_by", merge.order_by)]:
        if name and name not in types:
            raise UsageError(f"{option} {name}: unknown column; the columns are {', '.join(types)}").hinted(OPTION)
    for key in merge.keys:
        if types[key].split("(")[0] not in KEYS:
            wrong = UsageError(f"merge {key}: a key is a number, a text, a date or a time, and {key} is {types[key]}")
            raise wrong.hinted(OPTION)


def latest(frame: DataFrame, merge: Merge) -> DataFrame:
    """The last row of each key, with DELETED. The job fails where a key is null, and where a key is in several
    partitions without a column that says which of its records is later."""
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
    why = f.concat(f.lit(ERROR), place, f.lit(f": the key {named} is null there, and names no row"))
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
    """The row, or an error where offsets of several partitions would have to be compared."""
    from pyspark.sql import functions as f

    said = f.concat_ws(", ", *[f.col(f"`{name}`").cast("string") for name in merge.keys])
    places = f.format_string(
        " is in %s[%d] and %s[%d], whose offsets say nothing about which is later",
        f.col("topic"),
        f.col("least"),
        f.col("other"),
        f.col("most"),
    )
    rows = f.lit(f" has several rows in a batch, which do not say which is later: SELECT {RECORD} too, or")
    why = f.concat(
        f.lit(f"{ERROR}merge by {', '.join(merge.keys)}: the key "),
        said,
        f.when(f.col("topic").isNull(), rows).otherwise(f.concat(places, f.lit(":"))),
        f.lit(" order_by names a column that does"),
    )
    unclear = (f.col("least") != f.col("most")) | (f.col("topic") != f.col("other"))
    return f.when(unclear, f.raise_error(why)).otherwise(f.col("row"))
