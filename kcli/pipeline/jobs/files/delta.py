"""Reads Delta tables by the files in their log, without Delta's jars."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from kcli.errors import UsageError
from kcli.pipeline.jobs.files.folder import uri_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

UNREAD = {"deletionVectors", "columnMapping"}
"""Features of tables whose rows are not just those of their files."""


def check() -> None:
    """Raise UsageError unless the package is installed."""
    try:
        import deltalake  # noqa: F401
    except ImportError:
        raise UsageError('Delta tables need an extra package: pip install "kcli-kafka[delta]"') from None


def load(spark: Any, path: Path, table: Any = None) -> DataFrame:
    """Return the rows of a table, in its current version or the loaded one. Raises UsageError for a table that needs
    more than its files."""
    from functools import reduce

    from deltalake import DeltaTable
    from pyspark.sql import functions as f
    from pyspark.sql.types import StructType

    table = table or DeltaTable(path)
    more = UNREAD & set(table.protocol().reader_features or ())
    if more:
        raise UsageError(f"{path} uses {', '.join(sorted(more))}, which only Delta's own jars can read").hinted(
            "delta-jars"
        )
    schema = StructType.fromJson(json.loads(table.schema().to_json()))
    by = table.metadata().partition_columns
    inside = StructType([field for field in schema.fields if field.name not in by])
    groups: dict[tuple[Any, ...], list[str]] = {}
    for row in _rows(table.get_add_actions(flatten=False)):
        values = row.get("partition") or {}
        groups.setdefault(tuple(values.get(name) for name in by), []).append(uri_of(path / unquote(row["path"])))
    if not groups:
        empty: DataFrame = spark.createDataFrame([], schema)
        return empty
    frames: list[DataFrame] = []
    for values, files in groups.items():
        frame = spark.read.schema(inside).parquet(*files)
        for name, value in zip(by, values, strict=True):
            frame = frame.withColumn(name, f.lit(value).cast(schema[name].dataType))
        frames.append(frame.select(*schema.fieldNames()))
    return reduce(lambda one, two: one.union(two), frames)


def _rows(actions: Any) -> list[dict[str, Any]]:
    import pyarrow as pa

    found: list[dict[str, Any]] = pa.table(actions).to_pylist()
    return found
