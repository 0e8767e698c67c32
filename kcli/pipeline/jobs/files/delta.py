"""Delta tables without Delta's jars, whose releases are each for one Spark: Spark writes parquet, and the package
deltalake puts it into the table's log in one commit. So a reader sees all of an export or nothing of it, whatever ends
the run; and a stream's batch is in the log once, because the commit says which batch of which query it is.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote
from uuid import uuid4

from kcli.errors import KcliError, UsageError
from kcli.pipeline.jobs.files.folder import uri_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

NULL = "__HIVE_DEFAULT_PARTITION__"
"""What Spark names the folder of null."""
PLAIN = re.compile(r"[A-Za-z0-9._=-]+")
UNREAD = {"deletionVectors", "columnMapping"}
"""Features of tables whose files alone are not their rows."""


def check() -> None:
    """Raise UsageError unless the package is there."""
    try:
        import deltalake  # noqa: F401
    except ImportError:
        raise UsageError('Delta tables take a package more: pip install "kcli-kafka[delta]"') from None


class Table:
    """A table in a folder that Spark and this process both see."""

    def __init__(self, path: Path, partition_by: Sequence[str] = ()) -> None:
        self.path = path.absolute()
        self.partition_by = list(partition_by)

    def write(
        self,
        frame: DataFrame,
        mode: str,
        options: Mapping[str, str],
        *,
        query: str = "",
        batch: int = -1,
        evolve: bool = False,
    ) -> None:
        """The rows as one version more; `mode` is error, append or overwrite. A batch of a query is written once,
        however often it is tried. With `evolve` the table first gets the columns and wider types of the rows. Raises
        UsageError where the rows do not fit to the table, KcliError where it cannot be written."""
        from deltalake import DeltaTable
        from deltalake.exceptions import DeltaError

        there = DeltaTable.is_deltatable(str(self.path))
        known = DeltaTable(self.path) if there else None
        if known is not None and batch >= 0:
            last = known.transaction_version(query)
            if last is not None and last >= batch:
                return
        try:
            if known is not None and evolve:
                known = self._evolved(frame, known, options)
            if known is not None:
                self._fits(frame, known)
            self._put(frame, known, mode, options, query, batch)
        except DeltaError as problem:
            raise KcliError(f"{self.path}: {problem}") from problem

    def _put(
        self, frame: DataFrame, known: Any, mode: str, options: Mapping[str, str], query: str = "", batch: int = -1
    ) -> None:
        """Spark's files, moved to where the table keeps them and committed."""
        from deltalake import Schema

        staging = self.path / f".kcli-{query or os.getpid()}-{max(batch, 0)}"
        shutil.rmtree(staging, ignore_errors=True)
        try:
            writer = frame.write.mode("error").options(**options).partitionBy(*self.partition_by)
            writer.parquet(uri_of(staging))
            if not staging.is_dir():
                raise KcliError(
                    f"{self.path}: what Spark wrote is not seen from here; a Delta table has to be on a disk both see"
                )
            actions = [self._moved(file, staging) for file in sorted(staging.rglob("*.parquet"))]
            self._commit(known, Schema.from_json(frame.schema.json()), actions, mode, query, batch)
        finally:
            shutil.rmtree(staging, ignore_errors=True)

    def _evolved(self, frame: DataFrame, known: Any, options: Mapping[str, str]) -> Any:
        """The table, with the columns of the rows: new ones are added; where a number gets wider, its rows are
        written again, in one version, as Delta has no wider type for them."""
        from deltalake import DeltaTable, Schema
        from pyspark.sql.types import StructType

        from kcli.pipeline.jobs.schemas import difference, evolved, recast

        before = StructType.fromJson(json.loads(known.schema().to_json()))
        found = difference(before, frame.schema)
        if not (found.added or found.widened):
            return known
        merged = evolved(before, frame.schema)
        if found.widened:
            rows = load(frame.sparkSession, self.path, known)
            self._put(recast(rows, merged), known, "overwrite", options)
        else:
            news = [one for one in merged.fields if one.name not in before.names or before[one.name] != one]
            known.alter.add_columns(Schema.from_json(StructType(news).json()).fields)
        return DeltaTable(self.path)

    def _commit(self, known: Any, schema: Any, actions: list[Any], mode: str, query: str, batch: int) -> None:
        from deltalake import CommitProperties, Transaction
        from deltalake.transaction import create_table_with_add_actions

        about = CommitProperties(app_transactions=[Transaction(query, batch)] if batch >= 0 else None)
        if known is None:
            self.path.mkdir(parents=True, exist_ok=True)
            create_table_with_add_actions(
                str(self.path), schema, actions, mode="error", partition_by=self.partition_by, commit_properties=about
            )
        else:
            known.create_write_transaction(actions, mode, schema, self.partition_by or None, commit_properties=about)

    def _fits(self, frame: DataFrame, known: Any) -> None:
        """Raise UsageError for other columns, or folders by other columns, than the table's; a version that replaces
        another has them too."""
        ours = {field["name"]: field["type"] for field in json.loads(frame.schema.json())["fields"]}
        theirs = {field["name"]: field["type"] for field in json.loads(known.schema().to_json())["fields"]}
        wrong = [name for name in {**ours, **theirs} if ours.get(name) != theirs.get(name)]
        if wrong:
            raise UsageError(
                f"{self.path} is another table: its column {wrong[0]} is {_said(theirs.get(wrong[0]))}, here "
                f"{_said(ours.get(wrong[0]))}"
            )
        by = known.metadata().partition_columns
        if by != self.partition_by:
            raise UsageError(
                f"{self.path} has folders by {', '.join(by) or 'no column'}: --partition-by has to say so too"
            )

    def _moved(self, file: Path, staging: Path) -> Any:
        """Where the table keeps it, as an entry of its log."""
        from deltalake.transaction import AddAction

        folders = file.relative_to(staging).parts[:-1]
        values = dict(_value(folder) for folder in folders)
        # a path is in the log as a URI, and each writer escapes differently: what needs no escape is kept
        plain = [folder if PLAIN.fullmatch(folder) else "other" for folder in folders]
        place = "/".join([*plain, f"part-{uuid4().hex}{''.join(file.suffixes[-2:])}"])
        (self.path / place).parent.mkdir(parents=True, exist_ok=True)
        file.rename(self.path / place)
        seen = (self.path / place).stat()
        return AddAction(place, seen.st_size, values, int(seen.st_mtime * 1000), True, _stats(self.path / place))


def written(path: Path, query: str) -> int:
    """The last batch of a query that is in the table, -1 for none. Raises UsageError where the package is missing."""
    check()
    from deltalake import DeltaTable

    last: int | None = DeltaTable(path).transaction_version(query)
    return -1 if last is None else last


def load(spark: Any, path: Path, table: Any = None) -> DataFrame:
    """The rows of a table as it is now, or of the version that is loaded. Raises UsageError for a table that is more
    than its files."""
    from functools import reduce

    from deltalake import DeltaTable
    from pyspark.sql import functions as f
    from pyspark.sql.types import StructType

    table = table or DeltaTable(path)
    more = UNREAD & set(table.protocol().reader_features or ())
    if more:
        raise UsageError(
            f"{path} has {', '.join(sorted(more))}: Delta's own jars read it, --conf spark.jars.packages=io.delta:…"
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


def _value(folder: str) -> tuple[str, str | None]:
    """`day=2026-11-21`, as Spark escapes it."""
    name, _, value = folder.partition("=")
    return unquote(name), None if value == NULL else unquote(value)


def _stats(file: Path) -> str:
    """How many rows; and of whole numbers the least and the most, by which readers pass files over."""
    from pyarrow import parquet

    footer = parquet.read_metadata(file)
    least: dict[str, int] = {}
    most: dict[str, int] = {}
    unknown: set[str] = set()
    for group in range(footer.num_row_groups):
        for column in range(footer.num_columns):
            one = footer.row_group(group).column(column)
            name, seen = one.path_in_schema, one.statistics
            if "." in name or one.physical_type not in ("INT32", "INT64") or one.statistics is None:
                continue
            if not seen.has_min_max or not isinstance(seen.min, int):
                unknown.add(name)
                continue
            least[name] = min(least.get(name, seen.min), seen.min)
            most[name] = max(most.get(name, seen.max), seen.max)
    known = sorted({*least} - unknown)
    ranges = {"minValues": {name: least[name] for name in known}, "maxValues": {name: most[name] for name in known}}
    return json.dumps({"numRecords": footer.num_rows, **ranges})


def _said(kind: Any) -> str:
    return "not there" if kind is None else kind if isinstance(kind, str) else str(kind.get("type", kind))
