"""An Iceberg table, written with pyiceberg: no jars, whatever Spark's version.

Tasks write Parquet files under unique names; pyiceberg adds them to the table, with their statistics and partition
values, in one change of the table's metadata in its catalog. A file that no change lists is in no table.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from kcli.errors import KcliError, UsageError
from kcli.pipeline.jobs.lake.catalogs import CatalogPlace, refused, sent, told
from kcli.pipeline.jobs.lake.iceberg_columns import (
    check_parts,
    check_same_columns,
    evolved_columns,
    iceberg_of,
    known_parts,
    parts_of,
    said,
    spec_of,
    without_hidden,
)
from kcli.pipeline.jobs.lake.snapshots import (
    MADE,
    Expiry,
    check_next,
    guarded,
    last_commit,
    light,
    named_files,
    other_tables,
    path_of,
    property_of,
)
from kcli.pipeline.jobs.lake.table import COMMIT, Commit, NotCommitted, Written
from kcli.pipeline.sink.files import FileEntry, Layout
from kcli.pipeline.sink.storage import Storage, storage_here

if TYPE_CHECKING:
    import pyarrow as pa
    from pyiceberg.catalog import Catalog
    from pyiceberg.table import Table, Transaction
    from pyspark.sql import DataFrame

    from kcli.pipeline.jobs.lake.merging.latest import Merge

    Change = Callable[[Transaction, dict[str, str]], None]
    """The work of a transaction; the snapshot gets the properties."""


class IcebergTable:
    """A table, by its name NAMESPACE.TABLE in a catalog; it need not exist yet. `by` are the names of its partition
    fields, `units` those of a time: (name, unit, SQL of the time). `tell` is called with a sentence if old snapshots
    could not be expired."""

    def __init__(
        self,
        name: str,
        place: CatalogPlace,
        *,
        by: Sequence[str] = (),
        units: Sequence[tuple[str, str, str]] = (),
        compression: str = "zstd",
        size: int = 128 << 20,
        tell: Callable[[str], None] = lambda sentence: None,
    ) -> None:
        self.name = tuple(name.split("."))
        if len(self.name) < 2 or not all(self.name):
            raise UsageError(f"{name}: the name of an Iceberg table must be NAMESPACE.TABLE, such as lake.orders")
        self.label = name
        self.place = place
        root = place.root or place.catalog
        self.where = "/".join([root.removeprefix("file://").rstrip("/"), *self.name])
        self._by, self._units = list(by), list(units)
        self._compression, self._size = compression, size
        self._opened: Catalog | None = None
        self._expiry = Expiry(name, tell)

    @property
    def catalog(self) -> Catalog:
        """The catalog, opened on first use."""
        if self._opened is None:
            self._opened = self.place.opened()
        return self._opened

    def exists(self) -> bool:
        """Whether the table exists. Raises KcliError if its store cannot be read."""
        if self.place.root.startswith("s3://"):
            storage_here().check(self.place.root)
        return self.table() is not None

    def table(self) -> Table | None:
        """Return the current table, None if it does not exist. Raises KcliError."""
        if not self.place.known:
            return None
        from pyiceberg.exceptions import NoSuchNamespaceError, NoSuchTableError

        with told(self.label):
            try:
                return self.catalog.load_table(self.name)
            except (NoSuchTableError, NoSuchNamespaceError):
                return None

    def check(self, frame: DataFrame, *, evolve: bool) -> None:
        """Raise UsageError before anything is written if the rows do not match an existing table."""
        table = self.table()
        if table is not None:
            frame = self._fitting(frame, table, evolve=evolve)
            if evolve:
                evolved_columns(frame.schema, table.schema(), self.label)

    def last(self, query: str) -> Commit | None:
        """Return a query's newest commit in the table, None without one. Raises KcliError."""
        table = self.table()
        return None if table is None else last_commit(table.metadata, query, self.label)

    def write(self, rows: DataFrame, mode: str, commit: Commit | None, *, evolve: bool) -> Written:
        """Write the rows as one commit, which replaces the table's rows with mode overwrite. Raises UsageError,
        NotCommitted, KcliError."""
        from kcli.pipeline.sink.files import written

        frame, begun = self._begun(rows, evolve=evolve)
        entries = written(*self._laid(frame, begun))
        began = time.monotonic()
        self.add(entries, mode, commit, self._again(begun, frame, commit, evolve=evolve))
        return Written(files=len(entries), bytes=sum(entry.size for entry in entries), commit=time.monotonic() - began)

    def merge(self, rows: DataFrame, merge: Merge, commit: Commit | None, *, evolve: bool) -> Written:
        """Write one commit in which each row replaces or deletes the row with its key, or is added. Raises like
        `write`."""
        from kcli.pipeline.jobs.lake.merging.latest import DELETED
        from kcli.pipeline.jobs.lake.staged import collected

        frame, begun = self._begun(rows.drop(DELETED), evolve=evolve)
        changes = collected(rows, self.label)
        began = time.monotonic()
        table = self.merge_rows(changes, merge, commit, self._again(begun, frame, commit, evolve=evolve))
        snapshot = table.current_snapshot()
        summary = {} if snapshot is None or snapshot.summary is None else snapshot.summary.additional_properties
        return Written(
            files=int(summary.get("added-data-files", 0)),
            bytes=int(summary.get("added-files-size", 0)),
            commit=time.monotonic() - began,
        )

    def add(
        self, entries: Sequence[FileEntry], mode: str, commit: Commit | None, begun: Transaction | None = None
    ) -> Table:
        """Add files as one commit. Raises NotCommitted, KcliError."""
        from pyiceberg.expressions import AlwaysTrue

        def change(transaction: Transaction, about: dict[str, str]) -> None:
            metadata = transaction.table_metadata
            check_parts(entries, metadata, self.label)
            if mode == "overwrite" and metadata.current_snapshot_id is not None:
                with warnings.catch_warnings():  # pyiceberg warns if there are no rows
                    warnings.simplefilter("ignore")
                    transaction.delete(AlwaysTrue())
            # the names are new, so pyiceberg need not search for them in each manifest
            transaction.add_files([one.path for one in entries], about, check_duplicate_files=False)

        return self._commit(change, commit, begun)

    def merge_rows(
        self, rows: pa.Table, merge: Merge, commit: Commit | None, begun: Transaction | None = None
    ) -> Table:
        """Merge rows with DELETED as one commit. Raises NotCommitted, KcliError."""
        from kcli.pipeline.jobs.lake.merging.iceberg import merge_rows

        return self._commit(lambda transaction, about: merge_rows(transaction, rows, merge, about), commit, begun)

    def _commit(self, change: Change, commit: Commit | None, begun: Transaction | None) -> Table:
        """Make one change of the table's metadata. For a stream it records the offsets, in the snapshot and in a
        property of the table. Raises NotCommitted, KcliError."""
        with refused(self.label):
            transaction = begun or self._guarded(commit)
            if commit is None:
                change(transaction, {})
            else:
                change(transaction, {COMMIT: commit.text()})
                number = transaction.table_metadata.current_snapshot_id
                transaction.set_properties({property_of(commit.query): f"{number} {commit.text()}"})
            table = sent(transaction, self.label)
        self._expiry.run(table, self.table)
        return table

    def _begun(self, frame: DataFrame, *, evolve: bool) -> tuple[DataFrame, Transaction]:
        """Return the rows without columns that are hidden in the partition, and a transaction that creates the table,
        or adds the columns of the rows. Raises UsageError if they do not match."""
        table = self.table()
        if table is None:
            return self._making(frame)
        frame = self._fitting(frame, table, evolve=evolve)
        transaction = table.transaction()
        self._evolve(transaction, frame, evolve=evolve)
        return frame, transaction

    def _again(self, begun: Transaction, frame: DataFrame, commit: Commit | None, *, evolve: bool) -> Transaction:
        """Return the same transaction on the current table, after the rows were read. Raises like `_guarded`."""
        from pyiceberg.table import CreateTableTransaction

        if isinstance(begun, CreateTableTransaction):
            if commit is not None:
                check_next(None, commit, self.label)
            return begun
        transaction = self._guarded(commit)
        self._evolve(transaction, frame, evolve=evolve)
        return transaction

    def _guarded(self, commit: Commit | None) -> Transaction:
        """Return a transaction on the table, checking that a commit of a stream is its query's next. Raises
        NotCommitted."""
        table = self.table()
        if table is None:
            raise NotCommitted(f"{self.label} was dropped while rows were being written; nothing was committed")
        return light(table) if commit is None else guarded(table, commit, self.label)

    def _making(self, frame: DataFrame) -> tuple[DataFrame, Transaction]:
        """Return a transaction that creates the table."""
        schema = iceberg_of(frame.schema)
        parts = parts_of(self._by, self._units, schema)
        hidden = [part.name for part in parts if part.unit]
        if hidden:
            frame = frame.drop(*hidden)
            schema = iceberg_of(frame.schema)
        with told(self.label):
            self.catalog.create_namespace_if_not_exists(self.name[:-1])
            return frame, self.catalog.create_table_transaction(
                self.name, schema=schema, partition_spec=spec_of(parts, schema), properties=MADE
            )

    def _fitting(self, frame: DataFrame, table: Table, *, evolve: bool) -> DataFrame:
        """Return the rows for an existing table. Raises UsageError if they do not match."""
        schema = table.schema()
        parts = known_parts(table.spec(), schema, self.label)
        wanted = parts_of(self._by, self._units, schema)
        if wanted and wanted != parts:
            raise UsageError(
                f"{self.label} is partitioned by {said(parts) or 'nothing'}: partition by the same columns, or omit "
                "the partitioning"
            ).hinted("partition-by")
        frame = without_hidden(frame, schema, parts)
        if not evolve:
            check_same_columns(frame.schema, schema, self.label)
        return frame

    def _evolve(self, transaction: Transaction, frame: DataFrame, *, evolve: bool) -> None:
        """Add the columns of the rows to the table, in the same change. Raises KcliError for a type that cannot be
        widened."""
        schema = transaction.table_metadata.schema()
        merged = evolved_columns(frame.schema, schema, self.label) if evolve else None
        if merged is not None:
            with told(self.label), transaction.update_schema() as update:
                update.union_by_name(iceberg_of(merged))

    def _laid(self, frame: DataFrame, begun: Transaction) -> tuple[DataFrame, Layout]:
        """Return the rows with their partition values, and how they are written: without Iceberg's column ids, because
        pyiceberg does not add files that have them."""
        from pyiceberg.io.pyarrow import schema_to_pyarrow
        from pyspark.sql import functions as f

        metadata, table = begun.table_metadata, begun._table
        schema = metadata.schema()
        parts = known_parts(metadata.spec(), schema, self.label)
        marks = [f"_kcli_part_{number}" for number in range(len(parts))]
        for mark, part in zip(marks, parts, strict=True):
            frame = frame.withColumn(mark, f.expr(part.sql(schema)))
        if marks:
            frame = frame.sortWithinPartitions(*marks)
        return frame, Layout(
            folder=table.location_provider().data_path,
            schema=schema_to_pyarrow(schema, include_field_ids=False).serialize().to_pybytes(),
            parts=tuple(marks),
            labels=tuple(part.name for part in parts),
            compression=self._compression,
            size=self._size,
            storage=storage_of(table.io.properties),
        )

    def compact(self, every: float) -> None:
        """Raises KcliError: pyiceberg has no compaction."""
        raise KcliError(f"{self.label}: pyiceberg has no compaction")

    def clean(self, older: float, *, delete: bool) -> Sequence[str]:
        """Return files in the table's folders that its metadata does not list and that are older than `older` seconds,
        by URI; `delete` removes those still unlisted then. Raises KcliError."""
        with told(self.label):
            table = self._there()
            if table.properties.get("write.data.path") or table.properties.get("write.metadata.path"):
                raise KcliError(f"{self.label}: its files are in folders of their own, which other tables may share")
            storage, place = storage_of(table.io.properties), table.location_provider()
            found = storage.files(place.data_path)
            found += [one for one in storage.files(place.metadata_path) if one[0].endswith((".avro", ".metadata.json"))]
            before = time.time() - older
            others = other_tables(uri for uri, _ in found) - {table.location().rstrip("/")}
            old = [
                uri
                for uri, changed in found
                if changed < before and not any(uri.startswith(f"{other}/") for other in others)
            ]
            for _ in range(2 if delete else 1):
                named = named_files(self._there())
                old = [uri for uri in old if path_of(uri) not in named]
            for uri in old if delete else ():
                storage.delete(uri)
            return old

    def _there(self) -> Table:
        table = self.table()
        if table is None:
            raise KcliError(f"{self.label}: this table does not exist")
        return table


def storage_of(properties: dict[str, str]) -> Storage:
    """Return the store of a table from the properties of its catalog, without secrets."""
    here = storage_here()
    return Storage(
        endpoint=properties.get("s3.endpoint", here.endpoint), region=properties.get("s3.region", here.region)
    )
