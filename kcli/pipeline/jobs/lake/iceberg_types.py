"""Columns of Spark as Iceberg's, and back."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

from kcli.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyiceberg.schema import Schema
    from pyspark.sql.types import DataType, StructType

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


def iceberg_of(shape: StructType) -> Schema:
    """The columns, numbered from 1. Raises UsageError for a type that Iceberg has not."""
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
            f"the column {path} is {kind.simpleString()}, which Iceberg has not: select CAST({path} AS STRING)"
        )
    return getattr(types, name)()


def spark_of(schema: Schema) -> StructType:
    """Columns of a table, as Spark's. Raises UsageError for a type that Spark has not."""
    from pyiceberg.io.pyarrow import schema_to_pyarrow
    from pyspark.errors import PySparkTypeError
    from pyspark.sql.pandas.types import from_arrow_schema

    try:
        return from_arrow_schema(schema_to_pyarrow(schema, include_field_ids=False))
    except PySparkTypeError as problem:
        raise UsageError(f"the table has a column that Spark cannot write: {problem}") from problem
