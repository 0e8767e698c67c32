"""A table of Iceberg, by pyiceberg: no jars, whatever Spark's version is.

A commit is one change of the table's metadata in its catalog: the snapshot with the files, and a property that says
which batch of which query it is. So one cannot be there without the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kcli.errors import KcliError, UsageError
from kcli.pipeline.jobs.lake.catalogs import CatalogPlace, told
from kcli.pipeline.jobs.lake.committer import NotCommitted
from kcli.pipeline.jobs.lake.iceberg_columns import check_same_columns, evolved_columns, without_hidden
from kcli.pipeline.jobs.lake.iceberg_commit import BATCH, commit_files, commit_merged, has_files_of
from kcli.pipeline.jobs.lake.iceberg_types import iceberg_of
from kcli.pipeline.jobs.lake.partitions import Part, known_parts, parts_of, spec_of
from kcli.pipeline.sink.layout import FileEntry, Layout
from kcli.pipeline.sink.storage import Storage, storage_here

if TYPE_CHECKING:
    import pyarrow as pa
    from pyiceberg.catalog import Catalog
    from pyiceberg.table import Table, Transaction
    from pyspark.sql import DataFrame

    from kcli.pipeline.jobs.lake.merging.latest import Merge


class IcebergTable:
    """A table, by its name NAMESPACE.TABLE in a catalog; it need not be there yet. `by` are the names of its partition
    fields, `units` those of a time: (name, unit, SQL of the time)."""

    def __init__(
        self,
        name: str,
        place: CatalogPlace,
        *,
        by: Sequence[str] = (),
        units: Sequence[tuple[str, str, str]] = (),
        compression: str = "zstd",
        size: int = 128 << 20,
    ) -> None:
        self.name = tuple(name.split("."))
        if len(self.name) < 2 or not all(self.name):
            raise UsageError(f"{name}: an Iceberg table is named NAMESPACE.TABLE, such as lake.orders")
        self.label = name
        self.place = place
        root = place.root or place.catalog
        self.where = "/".join([root.removeprefix("file://").rstrip("/"), *self.name])
        self.storage: Storage = storage_here()
        self._by, self._units = list(by), list(units)
        self._compression, self._size = compression, size
        self._opened: Catalog | None = None
        self._staged: Any = None

    @property
    def catalog(self) -> Catalog:
        """The catalog, opened when it is first asked."""
        if self._opened is None:
            self._opened = self.place.opened()
        return self._opened

    def exists(self) -> bool:
        """Whether the table is there. Raises KcliError where its store cannot be read."""
        if self.place.root.startswith("s3://"):
            self.storage.check(self.place.root)
        return self.table() is not None

    def table(self) -> Table | None:
        """The table as it is now, None if it is missing. Raises KcliError."""
        if not self.place.known:
            return None
        from pyiceberg.exceptions import NoSuchNamespaceError, NoSuchTableError

        with told(self.label):
            try:
                return self.catalog.load_table(self.name)
            except (NoSuchTableError, NoSuchNamespaceError):
                return None

    def last(self, query: str) -> int:
        """The last batch of a query that is in the table, -1 for none."""
        table = self.table()
        return -1 if table is None else int(table.properties.get(BATCH + query, -1))

    def prepared(self, frame: DataFrame, attempt: str, *, evolve: bool) -> tuple[DataFrame, Layout]:
        """The rows with their partition values, and how they are written. A table that is not there yet is made by the
        commit. Raises UsageError where the rows do not fit."""
        table = self.table()
        if table is None:
            frame = self._staging(frame)
            table = self._staged
        else:
            frame = self._fitting(frame, table, evolve=evolve)
        from pyiceberg.io.pyarrow import schema_to_pyarrow
        from pyspark.sql import functions as f

        schema = table.schema()
        parts = known_parts(table.spec(), schema, self.label)
        marks = [f"_kcli_part_{number}" for number in range(len(parts))]
        for mark, part in zip(marks, parts, strict=True):
            frame = frame.withColumn(mark, f.expr(part.sql(schema)))
        if marks:
            frame = frame.sortWithinPartitions(*marks)
        return frame, Layout(
            folder=f"{table.location()}/data/{attempt}",
            schema=schema_to_pyarrow(schema).serialize().to_pybytes(),
            parts=tuple(marks),
            labels=tuple(part.name for part in parts),
            compression=self._compression,
            size=self._size,
            storage=storage_of(table.io.properties),
        )

    def _staging(self, frame: DataFrame) -> DataFrame:
        """A transaction that makes the table, kept until the commit; the rows without columns that are hidden in its
        partition."""
        schema = iceberg_of(frame.schema)
        parts = parts_of(self._by, self._units, schema)
        hidden = [part.name for part in parts if part.unit]
        if hidden:
            frame = frame.drop(*hidden)
            schema = iceberg_of(frame.schema)
        with told(self.label):
            self.catalog.create_namespace_if_not_exists(self.name[:-1])
            transaction = self.catalog.create_table_transaction(
                self.name, schema=schema, partition_spec=spec_of(parts, schema), properties={"format-version": "2"}
            )
        self._staged = transaction._table
        self._transaction = transaction
        return frame

    def _fitting(self, frame: DataFrame, table: Table, *, evolve: bool) -> DataFrame:
        """The rows for a table that is there."""
        parts = known_parts(table.spec(), table.schema(), self.label)
        wanted = parts_of(self._by, self._units, table.schema())
        if wanted and wanted != parts:
            raise UsageError(
                f"{self.label} is partitioned by {said(parts) or 'nothing'}: partition by the same columns, or "
                "name none"
            ).hinted("partition-by")
        frame = without_hidden(frame, table, self.label)
        if not evolve:
            check_same_columns(frame.schema, table, self.label)
            return frame
        merged = evolved_columns(frame.schema, table, self.label)
        if merged is not None:
            with told(self.label), table.update_schema() as update:
                update.union_by_name(iceberg_of(merged))
        return frame

    def check(self, frame: DataFrame, *, evolve: bool) -> None:
        """Before anything is written: raise where the rows do not fit to a table that is there."""
        table = self.table()
        if table is None:
            return
        frame = without_hidden(frame, table, self.label)
        if evolve:
            evolved_columns(frame.schema, table, self.label)
        else:
            check_same_columns(frame.schema, table, self.label)

    def commit(self, entries: Sequence[FileEntry], mode: str, query: str, batch: int) -> None:
        """One change of the table's metadata; that of `prepared` where the table is new. Raises NotCommitted,
        KcliError."""
        new, transaction = self._begun()
        replace = mode == "overwrite" and not new
        commit_files(transaction, entries, query, batch, label=self.label, replace=replace)

    def merge(self, rows: pa.Table, merge: Merge, query: str, batch: int) -> None:
        """One change of the table's metadata, in which rows are replaced, deleted and added by their key. Raises
        NotCommitted, KcliError."""
        _, transaction = self._begun()
        commit_merged(transaction, rows, merge, query, batch, label=self.label)

    def _begun(self) -> tuple[bool, Transaction]:
        """Whether the table is new, and the transaction that makes or changes it. Raises NotCommitted."""
        staged, self._staged = self._staged, None
        if staged is not None:
            return True, self._transaction
        table = self.table()
        if table is None:
            raise NotCommitted(f"{self.label} was dropped while its rows were written; nothing was committed")
        return False, table.transaction()

    def holds(self, folder: str) -> bool:
        """Whether a snapshot has files of this folder."""
        table = self.table()
        if table is None:
            return False
        with told(self.label):
            return has_files_of(table, folder)

    def compact(self, every: float) -> None:
        """Raises KcliError: pyiceberg has no compaction."""
        raise KcliError(f"{self.label}: pyiceberg has no compaction")


def storage_of(properties: dict[str, str]) -> Storage:
    """The store of a table, by the properties of its catalog; of those only what is no secret."""
    here = storage_here()
    return Storage(
        endpoint=properties.get("s3.endpoint", here.endpoint), region=properties.get("s3.region", here.region)
    )


def said(parts: Sequence[Part]) -> str:
    """Partition fields as --partition-by has them."""
    return ", ".join(f"{part.unit}({part.column})" if part.unit else part.column for part in parts)
