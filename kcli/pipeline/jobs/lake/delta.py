"""A table of Delta, by the package deltalake: no jars, whose releases are each for one Spark.

The commit says which batch of which query it is, as Delta's own sink does (`txn`): a batch is in the log once.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime, timedelta
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kcli.errors import KcliError, UsageError
from kcli.pipeline.jobs.lake.catalogs import first_of
from kcli.pipeline.jobs.lake.committer import NotCommitted, written
from kcli.pipeline.jobs.lake.delta_history import FOLDER, has_files_of, merge
from kcli.pipeline.sink.layout import FileEntry, Layout
from kcli.pipeline.sink.storage import Storage, as_s3, delta_options, storage_here

if TYPE_CHECKING:
    import pyarrow as pa
    from deltalake import CommitProperties
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from kcli.pipeline.jobs.lake.merging.latest import Merge


class DeltaTable:
    """A table in a folder of this machine, or in s3://BUCKET/PATH; it need not be there yet. `size` is in bytes."""

    def __init__(self, place: str, *, by: Sequence[str] = (), compression: str = "zstd", size: int = 128 << 20) -> None:
        self.where = self.label = as_s3(place)
        self.root = self.label if "://" in self.label else f"file://{Path(self.label).absolute()}"
        self.storage: Storage = storage_here()
        self._by, self._compression, self._size = list(by), compression, size
        self._options = delta_options() if "://" in self.label else None
        self._known: Any = None
        self._folder = ""

    def exists(self) -> bool:
        """Whether the table is there. Raises KcliError where its store cannot be read."""
        if self._options is not None:
            self.storage.check(self.root)
        return self._opened() is not None

    def _opened(self) -> Any:
        """The table as it is now, None if it is missing."""
        import deltalake

        with self._told():
            if not deltalake.DeltaTable.is_deltatable(self._uri, storage_options=self._options):
                return None
            return deltalake.DeltaTable(self._uri, storage_options=self._options)

    @property
    def _uri(self) -> str:
        return self.root if self._options is not None else str(Path(self.label).absolute())

    def last(self, query: str) -> int:
        """The last batch of a query that is in the table, -1 for none."""
        known = self._opened()
        last = None if known is None else known.transaction_version(query)
        return -1 if last is None else int(last)

    def check(self, frame: DataFrame, *, evolve: bool) -> None:
        """Before anything is written: raise UsageError where the rows do not fit to a table that is there."""
        known = self._opened()
        if known is not None and not evolve:
            self._fits(frame.schema, known)

    def prepared(self, frame: DataFrame, attempt: str, *, evolve: bool) -> tuple[DataFrame, Layout]:
        """The rows with their partition values, and how they are written. Raises UsageError where they do not fit."""
        known = self._opened()
        if known is not None and evolve:
            known = self._evolved(frame, known, attempt)
        if known is not None:
            self._fits(frame.schema, known)
        self._known, self._schema = known, frame.schema.json()
        return self._laid(frame, attempt)

    def _laid(self, frame: DataFrame, attempt: str) -> tuple[DataFrame, Layout]:
        from pyspark.sql import functions as f
        from pyspark.sql.pandas.types import to_arrow_schema

        schema = to_arrow_schema(frame.drop(*self._by).schema, timezone="UTC")
        self._folder = attempt
        marks = [f"_kcli_part_{number}" for number in range(len(self._by))]
        for mark, name in zip(marks, self._by, strict=True):
            frame = frame.withColumn(mark, f.col(f"`{name}`").cast("string"))
        frame = frame.drop(*self._by)
        return frame.sortWithinPartitions(*marks) if marks else frame, Layout(
            folder=f"{self.root}/{attempt}",
            schema=schema.serialize().to_pybytes(),
            parts=tuple(marks),
            labels=tuple(self._by),
            compression=self._compression,
            size=self._size,
            storage=self.storage,
        )

    def _evolved(self, frame: DataFrame, known: Any, attempt: str) -> Any:
        """The table, with the columns of the rows: new ones are added; where a number gets wider, its rows are
        written again, in one version, as Delta has no wider type for them."""
        import deltalake
        from pyspark.sql.types import StructType

        from kcli.pipeline.jobs.files.delta import load
        from kcli.pipeline.jobs.schemas import difference, evolved, recast

        before = StructType.fromJson(json.loads(known.schema().to_json()))
        found = difference(before, frame.schema)
        if not (found.added or found.widened):
            return known
        merged = evolved(before, frame.schema)
        if found.widened:
            if self._options is not None:
                raise KcliError(
                    f"{self.label}: the column {next(iter(found.widened))} gets wider, so the table has to be written "
                    "again, which kcli does on a disk of this machine only; nothing was written"
                )
            rows = recast(load(frame.sparkSession, Path(self._uri), known), merged)
            wider, layout = self._laid(rows, f"{attempt}-wider")
            self.storage.clear(layout.folder)
            entries = written(wider, layout)
            self._known, self._schema = known, merged.json()
            self.commit(entries, "overwrite", "", -1)
        else:
            news = [one for one in merged.fields if one.name not in before.names or before[one.name] != one]
            with self._told():
                known.alter.add_columns(deltalake.Schema.from_json(StructType(news).json()).fields)
        return self._opened()

    def commit(self, entries: Sequence[FileEntry], mode: str, query: str, batch: int) -> None:
        """One version of the table. deltalake tries again where another writer was first. Raises NotCommitted,
        KcliError."""
        from deltalake import Schema
        from deltalake.exceptions import CommitFailedError
        from deltalake.transaction import create_table_with_add_actions

        actions = [self._action(entry) for entry in entries]
        schema = Schema.from_json(self._schema)
        about = self._about(query, batch)
        try:
            with self._told():
                if self._known is not None:
                    self._known.create_write_transaction(
                        actions, mode, schema, self._by or None, commit_properties=about
                    )
                    return
                if self._options is None:
                    Path(self._uri).mkdir(parents=True, exist_ok=True)
                create_table_with_add_actions(
                    self._uri,
                    schema,
                    actions,
                    mode="error",
                    partition_by=self._by,
                    storage_options=self._options,
                    commit_properties=about,
                )
        except CommitFailedError as problem:
            raise self._refused(problem) from problem

    def merge(self, rows: pa.Table, merge: Merge, query: str, batch: int) -> None:
        """One version of the table, in which rows are replaced, deleted and added by their key. A table that is not
        there yet is made by a version before it. Raises NotCommitted, KcliError."""
        import deltalake
        from deltalake.exceptions import CommitFailedError

        from kcli.pipeline.jobs.lake.delta_history import merge_rows

        try:
            with self._told():
                if self._known is None:
                    schema = deltalake.Schema.from_json(self._schema)
                    self._known = deltalake.DeltaTable.create(
                        self._uri, schema, partition_by=self._by, storage_options=self._options
                    )
                if rows.num_rows:
                    merge_rows(self._known, rows, merge, self._about(query, batch))
        except CommitFailedError as problem:
            raise self._refused(problem) from problem

    def _about(self, query: str, batch: int) -> CommitProperties:
        """What a version says of itself: the batch of a stream, or the folder of its files."""
        from deltalake import CommitProperties, Transaction

        return CommitProperties(
            app_transactions=[Transaction(query, batch)] if batch >= 0 else None,
            custom_metadata={FOLDER: self._folder} if batch < 0 else None,
        )

    def _refused(self, problem: Exception) -> NotCommitted:
        return NotCommitted(
            f"{self.label}: another writer changed the table at the same time ({first_of(problem)}); nothing was "
            "committed: run it again"
        )

    def holds(self, folder: str) -> bool:
        """Whether a version that the log still has is of this folder's files."""
        known = self._opened()
        with self._told():
            return known is not None and has_files_of(known, folder.removeprefix(f"{self.root}/"))

    def compact(self, every: float) -> None:
        """Merge small files where the last time is `every` seconds ago. Raises KcliError."""
        known = self._opened()
        if known is None:
            return
        from deltalake.exceptions import CommitFailedError

        try:
            with self._told():
                merge(known, every, self._size)
        except CommitFailedError as problem:
            raise KcliError(
                f"{self.label}: its files were not merged, as another writer changed them ({first_of(problem)}); the "
                "rows are in the table"
            ) from problem

    def _action(self, entry: FileEntry) -> Any:
        """A file, as an entry of the log."""
        from deltalake.transaction import AddAction

        values = dict(zip(self._by, entry.values, strict=True))
        place = entry.path.removeprefix(f"{self.root}/")
        return AddAction(place, entry.size, values, int(time.time() * 1000), True, stats_of(entry.footer))

    def _fits(self, now: StructType, known: Any) -> None:
        """Raise UsageError for other columns, or folders by other columns, than the table's; a version that replaces
        another has them too."""
        ours = {field["name"]: field["type"] for field in json.loads(now.json())["fields"]}
        theirs = {field["name"]: field["type"] for field in json.loads(known.schema().to_json())["fields"]}
        wrong = [name for name in {**ours, **theirs} if ours.get(name) != theirs.get(name)]
        if wrong:
            raise UsageError(
                f"{self.label} is another table: its column {wrong[0]} is {_said(theirs.get(wrong[0]))}, here "
                f"{_said(ours.get(wrong[0]))}"
            )
        by = known.metadata().partition_columns
        if by != self._by:
            raise UsageError(
                f"{self.label} has folders by {', '.join(by) or 'no column'}: partition by the same columns"
            ).hinted("partition-by")

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Errors of deltalake, as one sentence about the table."""
        from deltalake.exceptions import CommitFailedError, DeltaError

        try:
            yield
        except CommitFailedError:
            raise  # `commit` says what became of it
        except (DeltaError, OSError) as problem:
            raise KcliError(f"{self.label}: {first_of(problem)}") from problem


def _said(kind: Any) -> str:
    return "not there" if kind is None else kind if isinstance(kind, str) else str(kind.get("type", kind))


def stats_of(footer: bytes) -> str:
    """The statistics of a parquet footer, as JSON. Columns within others, and texts, have none."""
    from pyarrow import parquet

    known = parquet.read_metadata(BytesIO(footer))
    least: dict[str, Any] = {}
    most: dict[str, Any] = {}
    unknown: set[str] = set()
    for group in range(known.num_row_groups):
        for column in range(known.num_columns):
            one = known.row_group(group).column(column)
            name, seen = one.path_in_schema, one.statistics
            if "." in name or one.physical_type not in ("INT32", "INT64"):
                continue
            if seen is None or not seen.has_min_max or not isinstance(seen.min, (int, date)):
                unknown.add(name)
                continue
            least[name] = min(least.get(name, seen.min), seen.min)
            most[name] = max(most.get(name, seen.max), seen.max)
    names = sorted({*least} - unknown)
    ranges = {
        "minValues": {name: _text(least[name]) for name in names},
        "maxValues": {name: _text(most[name], up=True) for name in names},
    }
    return json.dumps({"numRecords": known.num_rows, **ranges})


def _text(value: Any, *, up: bool = False) -> Any:
    """A value as the log has it: times in milliseconds, so that a most is rounded up."""
    if not isinstance(value, date):
        return value
    if not isinstance(value, datetime):
        return value.isoformat()
    if up and value.microsecond % 1000 and value.replace(tzinfo=None) < datetime(9999, 12, 31):
        value += timedelta(milliseconds=1)
    zone = "" if value.tzinfo is None else "Z"
    return value.replace(tzinfo=None).isoformat(timespec="milliseconds") + zone
