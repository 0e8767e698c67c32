"""What a batch says of each key: its last record, and whether that deletes the row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.errors import UsageError
from kcli.values import Frozen

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

SEEN = "_kcli_record"
"""A column of records before --select: whether one deletes, and where it is."""
MARK = "_kcli_merge"
"""The same beside the columns of --select."""
DELETED = "_kcli_deleted"
"""The column of `latest` that says that the row goes."""
KEYS = ("boolean", "tinyint", "smallint", "int", "bigint", "string", "binary", "date", "timestamp", "decimal")
ERROR = "\nkcli.errors.KcliError: "
"""How a sentence crosses Spark (kcli/pipeline/errors.py)."""


class Merge(Frozen):
    """How rows get into a table: `keys` are the columns that name a row, `order_by` is the column by which a record
    of a key is later than another, "" for its offset."""

    keys: tuple[str, ...] = ()
    order_by: str = ""


def check_columns(frame: DataFrame, merge: Merge) -> None:
    """Raise UsageError where the rows have no such columns, or a key's type has no equality to rely on."""
    types = {one.name: one.dataType.simpleString() for one in frame.schema.fields if one.name != MARK}
    for flag, name in [*[("--merge", key) for key in merge.keys], ("--order-by", merge.order_by)]:
        if name and name not in types:
            raise UsageError(f"{flag} {name}: unknown column; the columns are {', '.join(types)}")
    for key in merge.keys:
        if types[key].split("(")[0] not in KEYS:
            raise UsageError(f"--merge {key}: a key is a number, a text, a date or a time, and {key} is {types[key]}")


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
    place = f.format_string("%s[%d] offset %d", mark.topic, mark.partition, mark.offset)
    named = ", ".join(merge.keys)
    why = f.concat(f.lit(ERROR), place, f.lit(f": --merge {named} is null there, and names no row"))
    checked = frame.withColumn(MARK, f.when(null, f.raise_error(why)).otherwise(mark))
    ordered = [f.col(f"`{merge.order_by}`")] if merge.order_by else []
    order = f.struct(*ordered, mark.offset, mark.partition)
    rows = checked.groupBy(*keys).agg(
        f.max_by(f.struct(*[f.col(f"`{name}`") for name in columns], mark.deleted.alias(DELETED)), order).alias("row"),
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
    why = f.concat(
        f.lit(f"{ERROR}--merge {', '.join(merge.keys)}: the key "),
        said,
        f.format_string(
            " is in partitions %d and %d, whose offsets say nothing about which is later: --order-by names a column "
            "that does",
            f.col("least"),
            f.col("most"),
        ),
    )
    return f.when(f.col("least") != f.col("most"), f.raise_error(why)).otherwise(f.col("row"))
