"""Whether the rows of an export fit to an Iceberg table that is there, and which columns the table has to get."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.errors import KcliError, UsageError
from kcli.pipeline.jobs.lake.iceberg_types import iceberg_of, spark_of
from kcli.pipeline.jobs.lake.partitions import known_parts

if TYPE_CHECKING:
    from pyiceberg.table import Table
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType


def without_hidden(frame: DataFrame, table: Table, label: str) -> DataFrame:
    """The rows without the columns that are hidden in the table's partition."""
    parts = known_parts(table.spec(), table.schema(), label)
    names = table.schema().column_names
    return frame.drop(*[part.name for part in parts if part.unit and part.name not in names])


def evolved_columns(now: StructType, table: Table, label: str) -> StructType | None:
    """The columns of the table with those of the rows, None where they are the same: columns are added, int widens
    to bigint. Raises KcliError for another change."""
    from kcli.pipeline.jobs.schemas import difference, evolved

    before, ours = spark_of(table.schema()), spark_of(iceberg_of(now))
    found = difference(before, ours)
    narrow = {path: types for path, types in found.widened.items() if types[1] != "bigint"}
    for path, (old, new) in {**found.changed, **narrow}.items():
        raise KcliError(
            f"{label}: the column {path} is {old}, here {new}; a column of Iceberg gets wider from int to "
            "bigint only; nothing was written"
        )
    return evolved(before, ours) if found.added or found.widened else None


def check_same_columns(now: StructType, table: Table, label: str) -> None:
    """Raise UsageError for other columns than the table's."""
    ours = {one.name: one.dataType.simpleString() for one in spark_of(iceberg_of(now)).fields}
    theirs = {one.name: one.dataType.simpleString() for one in spark_of(table.schema()).fields}
    wrong = [name for name in {**ours, **theirs} if ours.get(name) != theirs.get(name)]
    if wrong:
        raise UsageError(
            f"{label} is another table: its column {wrong[0]} is {theirs.get(wrong[0], 'not there')}, here "
            f"{ours.get(wrong[0], 'not there')}"
        )
