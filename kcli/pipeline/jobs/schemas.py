"""JSON schemas as DDL: inferred from samples, compared with the first run's, and evolved: columns added, numbers
widened."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kcli.errors import UsageError
from kcli.values import Value, field

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import DataType, StructType

WIDER = ("tinyint", "smallint", "int", "bigint", "double")
"""Each type can hold the values of those before it."""
INFERRED = ("long", "double", "boolean", "string", "struct", "array")
"""Types that samples show. Other types of a schema were given explicitly; samples of a date are strings."""


class Difference(Value):
    """What another schema has in addition, by paths such as value.user.id and items[].sku. `changed` has (before, now)
    of types without a common column type."""

    added: dict[str, str] = field(factory=dict)
    widened: dict[str, tuple[str, str]] = field(factory=dict)
    changed: dict[str, tuple[str, str]] = field(factory=dict)


def json_schema(spark: SparkSession, samples: Sequence[bytes], *, nulls: bool = True) -> str:
    """Return the schema of JSON objects as DDL of its fields. A field that is always null is a string, and without
    `nulls` omitted. Raises UsageError if none is an object."""
    found = [text for value in samples if (text := _object(value, nulls=nulls)) is not None]
    if not found:
        raise UsageError("the newest records contain no JSON object, so no schema can be inferred").hinted(
            "json-schema"
        )
    from pyspark.sql import functions as f
    from pyspark.sql.types import ArrayType, StructType

    ddl = spark.range(1).select(f.schema_of_json(f.lit(f"[{','.join(found)}]"))).collect()[0][0]
    shape = spark.range(0).select(f.from_json(f.lit("[]"), ddl).alias("one")).schema["one"].dataType
    assert isinstance(shape, ArrayType)
    assert isinstance(shape.elementType, StructType)
    return ddl_of(shape.elementType)


def _object(value: bytes, *, nulls: bool) -> str | None:
    try:
        text = value.decode()
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(document, dict):
        return None
    return text if nulls else json.dumps(_without_nulls(document))


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(one) for name, one in value.items() if one is not None}
    return [_without_nulls(one) for one in value if one is not None] if isinstance(value, list) else value


def struct_of(spark: SparkSession, ddl: str) -> StructType:
    """Parse a schema's DDL."""
    from pyspark.sql import functions as f
    from pyspark.sql.types import StructType

    if not ddl:
        return StructType([])
    shape = spark.range(0).select(f.from_json(f.lit("{}"), ddl).alias("one")).schema["one"].dataType
    assert isinstance(shape, StructType)
    return shape


def ddl_of(shape: StructType) -> str:
    """Return the DDL of a schema's fields."""
    return ", ".join(f"`{one.name.replace('`', '``')}` {one.dataType.simpleString()}" for one in shape.fields)


def difference(before: StructType, now: StructType, *, taken: bool = False) -> Difference:
    """Return what `now` has that `before` does not. With `taken` it was inferred from samples, which show few types: a
    value may fit a given type that they do not show, and numbers of a wider column may be whole."""
    found = Difference()
    _compare(before, now, "", found, taken)
    return found


def _compare(before: DataType, now: DataType, path: str, found: Difference, taken: bool) -> None:
    from pyspark.sql.types import ArrayType, StructType

    if isinstance(before, StructType) and isinstance(now, StructType):
        known = {one.name: one.dataType for one in before.fields}
        for one in now.fields:
            place = f"{path}.{one.name}" if path else one.name
            if one.name in known:
                _compare(known[one.name], one.dataType, place, found, taken)
            else:
                found.added[place] = one.dataType.simpleString()
        return
    if isinstance(before, ArrayType) and isinstance(now, ArrayType):
        _compare(before.elementType, now.elementType, f"{path}[]", found, taken)
        return
    old, new = before.simpleString(), now.simpleString()
    if old == new or (taken and _holds(before, now)):
        return
    kind = found.widened if old in WIDER and new in WIDER and WIDER.index(old) < WIDER.index(new) else found.changed
    kind[path] = (old, new)


def _holds(before: DataType, now: DataType) -> bool:
    """Whether samples of type `now` may be values of a column of type `before`."""
    old, new = before.simpleString(), now.simpleString()
    if old in WIDER and new in WIDER:
        return WIDER.index(old) >= WIDER.index(new)
    if old == "double" and now.typeName() == "decimal":  # a whole number of more than 18 digits
        return True
    return before.typeName() not in INFERRED and old not in WIDER


def evolved(before: StructType, now: StructType) -> StructType:
    """Return `before` with the additional columns of `now` appended, and with the wider type of numbers. Other types
    are unchanged."""
    merged = _merged(before, now)
    assert merged.typeName() == "struct"
    return merged  # type: ignore[return-value]


def _merged(before: DataType, now: DataType) -> DataType:
    from pyspark.sql.types import ArrayType, StructField, StructType

    if isinstance(before, StructType) and isinstance(now, StructType):
        news = {one.name: one.dataType for one in now.fields}
        fields = [
            StructField(one.name, _merged(one.dataType, news.pop(one.name, one.dataType)), one.nullable)
            for one in before.fields
        ]
        return StructType([*fields, *[StructField(name, kind) for name, kind in news.items()]])
    if isinstance(before, ArrayType) and isinstance(now, ArrayType):
        return ArrayType(_merged(before.elementType, now.elementType), before.containsNull)
    old, new = before.simpleString(), now.simpleString()
    wider = old in WIDER and new in WIDER and WIDER.index(new) > WIDER.index(old)
    return now if wider else before


def recast(rows: DataFrame, shape: StructType) -> DataFrame:
    """Return the rows with these columns, which include theirs and may be wider; missing ones are null."""
    from pyspark.sql import functions as f

    columns = [
        _cell(f.col(f"`{one.name}`"), rows.schema[one.name].dataType, one.dataType)
        if one.name in rows.columns
        else f.lit(None).cast(one.dataType)
        for one in shape.fields
    ]
    return rows.select(*[column.alias(one.name) for column, one in zip(columns, shape.fields, strict=True)])


def _cell(column: Column, before: DataType, now: DataType) -> Column:
    """Return a cell in another type; new fields of a struct are null."""
    from pyspark.sql import functions as f
    from pyspark.sql.types import ArrayType, StructType

    if isinstance(before, StructType) and isinstance(now, StructType):
        inner = [
            _cell(column.getField(one.name), before[one.name].dataType, one.dataType)
            if one.name in before.names
            else f.lit(None).cast(one.dataType)
            for one in now.fields
        ]
        named = [cell.alias(one.name) for cell, one in zip(inner, now.fields, strict=True)]
        return f.when(column.isNotNull(), f.struct(*named))
    if isinstance(before, ArrayType) and isinstance(now, ArrayType):
        kind, other = before.elementType, now.elementType
        return f.transform(column, lambda one: _cell(one, kind, other))
    return column.cast(now)
