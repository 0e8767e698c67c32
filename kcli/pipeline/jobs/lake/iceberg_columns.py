"""Converts columns and partitions of an Iceberg table between Spark and pyiceberg."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from itertools import count
from typing import TYPE_CHECKING, Any

from kcli.errors import KcliError, UsageError
from kcli.pipeline.jobs.lake.table import NotCommitted
from kcli.values import Frozen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyiceberg.partitioning import PartitionSpec
    from pyiceberg.schema import Schema
    from pyiceberg.table.metadata import TableMetadata
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType, StructType

    from kcli.pipeline.sink.files import FileEntry

PLAIN = {
    "boolean": "BooleanType",
    "tinyint": "IntegerType",
    "smallint": "IntegerType",
    "int": "IntegerType",
    "bigint": "LongType",
    "float": "FloatType",
    "double": "DoubleType",
    "string": "StringType",
    "binary": "BinaryType",
    "date": "DateType",
    "timestamp": "TimestamptzType",
    "timestamp_ntz": "TimestampType",
}
UNITS = {
    "year": "year({0}) - 1970",
    "month": "(year({0}) - 1970) * 12 + month({0}) - 1",
    "day": "unix_date(to_date({0}))",
    "hour": "CAST(floor(unix_seconds(CAST({0} AS TIMESTAMP)) / 3600) AS INT)",
}
"""Iceberg's representation of a time: whole units since 1970."""
STORED = {
    "date": "unix_date({0})",
    "timestamptz": "unix_micros({0})",
    "timestamp": "unix_micros(CAST({0} AS TIMESTAMP))",
}
"""A value in Iceberg's manifests, if that differs from Spark's."""
TIMES = ("date", "timestamptz", "timestamp")


def said(parts: Sequence[Part]) -> str:
    """Return partition fields in the form of --partition-by."""
    return ", ".join(f"{part.unit}({part.column})" if part.unit else part.column for part in parts)


def without_hidden(frame: DataFrame, schema: Schema, parts: Sequence[Part]) -> DataFrame:
    """Return the rows without the columns that are hidden in the table's partition."""
    return frame.drop(*[part.name for part in parts if part.unit and part.name not in schema.column_names])


def evolved_columns(now: StructType, schema: Schema, label: str) -> StructType | None:
    """Return the table's columns merged with those of the rows, None if unchanged: columns are added, int widens to
    bigint. Raises KcliError for any other change."""
    from kcli.pipeline.jobs.schemas import difference, evolved

    before, ours = spark_of(schema), spark_of(iceberg_of(now))
    found = difference(before, ours)
    narrow = {path: types for path, types in found.widened.items() if types[1] != "bigint"}
    for path, (old, new) in {**found.changed, **narrow}.items():
        raise KcliError(
            f"{label}: the column {path} is {old} in the table and {new} here; kcli can only widen Iceberg "
            "columns from int to bigint; nothing was written"
        )
    return evolved(before, ours) if found.added or found.widened else None


def check_same_columns(now: StructType, schema: Schema, label: str) -> None:
    """Raise UsageError if the columns differ from the table's."""
    ours = {one.name: one.dataType.simpleString() for one in spark_of(iceberg_of(now)).fields}
    theirs = {one.name: one.dataType.simpleString() for one in spark_of(schema).fields}
    wrong = [name for name in {**ours, **theirs} if ours.get(name) != theirs.get(name)]
    if wrong:
        raise UsageError(
            f"{label} has other columns: {wrong[0]} is {theirs.get(wrong[0], 'missing')} there and "
            f"{ours.get(wrong[0], 'missing')} here"
        )


def iceberg_of(shape: StructType) -> Schema:
    """Return the columns, numbered from 1. Raises UsageError for a type that Iceberg does not support."""
    from pyiceberg.schema import Schema

    numbers = count(1)
    return Schema(*_fields(shape, numbers, ""))


def _fields(shape: StructType, numbers: Iterator[int], path: str) -> list[Any]:
    from pyiceberg.types import NestedField

    fields = []
    for one in shape.fields:
        place = f"{path}.{one.name}" if path else one.name
        number = next(numbers)
        fields.append(NestedField(number, one.name, _type(one.dataType, numbers, place), required=False))
    return fields


def _type(kind: DataType, numbers: Iterator[int], path: str) -> Any:
    from pyiceberg import types
    from pyspark.sql.types import ArrayType, DecimalType, MapType, StructType

    if isinstance(kind, StructType):
        return types.StructType(*_fields(kind, numbers, path))
    if isinstance(kind, ArrayType):
        number = next(numbers)
        return types.ListType(number, _type(kind.elementType, numbers, f"{path}[]"), element_required=False)
    if isinstance(kind, MapType):
        key, value = next(numbers), next(numbers)
        keys = _type(kind.keyType, numbers, path)
        return types.MapType(key, keys, value, _type(kind.valueType, numbers, path), value_required=False)
    if isinstance(kind, DecimalType):
        return types.DecimalType(kind.precision, kind.scale)
    name = PLAIN.get(kind.simpleString())
    if name is None:
        raise UsageError(
            f"the column {path} is {kind.simpleString()}, which Iceberg does not support: select CAST({path} AS STRING)"
        )
    return getattr(types, name)()


def spark_of(schema: Schema) -> StructType:
    """Return a table's columns as Spark types. Raises UsageError for a type that Spark does not support."""
    from pyiceberg.io.pyarrow import schema_to_pyarrow
    from pyspark.errors import PySparkTypeError
    from pyspark.sql.pandas.types import from_arrow_schema

    try:
        return from_arrow_schema(schema_to_pyarrow(schema, include_field_ids=False))
    except PySparkTypeError as problem:
        raise UsageError(f"the table has a column that Spark cannot write: {problem}") from problem


class Part(Frozen):
    """One field of a partition: `unit` "" is the column itself."""

    name: str = ""
    column: str = ""
    unit: str = ""

    def sql(self, schema: Schema) -> str:
        """Return the SQL of a row's value in Iceberg's form."""
        quoted = ".".join(f"`{one}`" for one in self.column.split("."))
        if self.unit:
            return UNITS[self.unit].format(quoted)
        kind = str(schema.find_field(self.column).field_type)
        return STORED.get(kind, "{0}").format(quoted)


def parts_of(names: Sequence[str], units: Sequence[tuple[str, str, str]], schema: Schema) -> list[Part]:
    """Return the fields of --partition-by for a table with these columns.

    `units` have (name, unit, SQL of a time): one of a column in the table is hidden; any other becomes a separate
    column, and so does one of a struct field, whose values pyiceberg does not find in a file's statistics.
    """
    known = {name: Part(name=name, column=time, unit=unit) for name, unit, time in units if _is_time(schema, time)}
    return [known.get(name, Part(name=name, column=name)) for name in names]


def _is_time(schema: Schema, column: str) -> bool:
    return any(one.name == column and str(one.field_type) in TIMES for one in schema.fields)


def spec_of(parts: Sequence[Part], schema: Schema) -> PartitionSpec:
    """Return the partition of a new table."""
    from pyiceberg.partitioning import PartitionField, PartitionSpec
    from pyiceberg.transforms import DayTransform, HourTransform, IdentityTransform, MonthTransform, YearTransform

    kinds: dict[str, Any] = {
        "": IdentityTransform,
        "year": YearTransform,
        "month": MonthTransform,
        "day": DayTransform,
        "hour": HourTransform,
    }
    return PartitionSpec(
        *[
            PartitionField(
                source_id=schema.find_field(part.column).field_id,
                field_id=1000 + number,
                transform=kinds[part.unit](),
                name=part.name,
            )
            for number, part in enumerate(parts)
        ]
    )


def known_parts(spec: PartitionSpec, schema: Schema, label: str) -> list[Part]:
    """Return the partition of an existing table. Raises UsageError for one that kcli cannot write."""
    parts = []
    for field in spec.fields:
        word = str(field.transform)
        if word not in ("identity", *UNITS):
            raise UsageError(f"{label} is partitioned by {word} of a column, which kcli cannot write")
        column = schema.find_column_name(field.source_id) or ""
        if all(one.field_id != field.source_id for one in schema.fields):
            raise UsageError(f"{label} is partitioned by {column}, a field of a struct, which kcli cannot write")
        parts.append(Part(name=field.name, column=column, unit="" if word == "identity" else word))
    return parts


def check_parts(entries: Sequence[FileEntry], metadata: TableMetadata, label: str) -> None:
    """Raise NotCommitted for a file whose partition values pyiceberg does not find in its statistics. It assumes null
    if a column has none: only NaN, a text above 4 KB, or a column without bounds in the table."""
    from pyarrow import parquet
    from pyiceberg.io.pyarrow import (
        compute_statistics_plan,
        data_file_statistics_from_parquet_metadata,
        parquet_path_to_id_mapping,
    )

    schema, spec = metadata.schema(), metadata.spec()
    if spec.is_unpartitioned():
        return
    plan, paths = compute_statistics_plan(schema, metadata.properties), parquet_path_to_id_mapping(schema)
    for entry in entries:
        found = data_file_statistics_from_parquet_metadata(
            parquet.read_metadata(BytesIO(entry.footer)), stats_columns=plan, parquet_column_mapping=paths
        ).partition(spec, schema)
        for number, field in enumerate(spec.fields):
            value = entry.values[number]
            if found[number] != value:
                raise NotCommitted(
                    f"{label}: the statistics of a file do not contain its partition {field.name}, which is "
                    f"{shortened(value)}: partition by another column; nothing was committed"
                )


def shortened(value: Any) -> str:
    """Return a value shortened for a sentence."""
    text = str(value)
    return text if len(text) <= 40 else f"{text[:40]}… ({len(text)} characters)"
