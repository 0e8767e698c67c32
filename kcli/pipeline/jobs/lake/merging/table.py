"""A table that rows are merged into by a key.

The tasks write the last row of each key into a folder of the attempt, as they do for a commit that adds files; the
commit reads that folder on the driver and lets the table's library merge it, in one change of the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from kcli.pipeline.jobs.lake.committer import Committer, NotCommitted
from kcli.pipeline.jobs.lake.merging.latest import Merge, bare, check_columns, latest, marked
from kcli.pipeline.jobs.lake.merging.limits import MOST_BYTES, MOST_ROWS
from kcli.pipeline.sink.layout import FileEntry, Layout
from kcli.pipeline.sink.storage import told

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame


class Mergeable(Committer, Protocol):
    """A table whose library merges."""

    def merge(self, rows: pa.Table, merge: Merge, query: str, batch: int) -> None:
        """One change of the table: rows whose key is there replace it, or delete it where DELETED says so, others are
        added. Raises NotCommitted, KcliError."""
        ...


class MergedTable:
    """A table, and how rows get into it. Everything but these is the table's own."""

    def __init__(self, table: Mergeable, merge: Merge) -> None:
        self._table = table
        self._merge = merge

    def __getattr__(self, name: str) -> Any:
        if name == "_table":  # while it is unpickled
            raise AttributeError(name)
        return getattr(self._table, name)

    def check(self, frame: DataFrame, *, evolve: bool) -> None:
        """As `Committer.check`; the columns of the merge too."""
        check_columns(frame, self._merge)
        self._table.check(bare(frame), evolve=evolve)

    def prepared(self, frame: DataFrame, attempt: str, *, evolve: bool) -> tuple[DataFrame, Layout]:
        """The last row of each key, and the folder that the commit reads."""
        from pyspark.sql.pandas.types import to_arrow_schema

        check_columns(frame, self._merge)
        _, layout = self._table.prepared(bare(frame), attempt, evolve=evolve)
        rows = latest(marked(frame, self._merge), self._merge)
        self._columns = to_arrow_schema(rows.schema, timezone="UTC")
        packed = self._columns.serialize().to_pybytes()
        return rows, layout.replace(schema=packed, parts=(), labels=(), staged=True)

    def commit(self, entries: Sequence[FileEntry], mode: str, query: str, batch: int) -> None:
        """One change of the table. Raises NotCommitted for more than the driver can hold, and as `merge` does."""
        rows = sum(entry.rows for entry in entries)
        size = sum(in_memory(entry) for entry in entries)
        if rows > MOST_ROWS or size > MOST_BYTES:
            raise NotCommitted(
                f"{self._table.label}: {rows:,} keys of {size >> 20:,} MiB in a batch are more than the driver merges, "
                f"{MOST_ROWS:,} of {MOST_BYTES >> 20} MiB; nothing was committed: start over with another name "
                "and fewer records per batch"
            ).hinted("max-per-batch")
        self._table.merge(self._staged(entries), self._merge, query, batch)

    def _staged(self, entries: Sequence[FileEntry]) -> pa.Table:
        """The rows of the files."""
        import pyarrow as pa
        from pyarrow import parquet

        parts = [self._columns.empty_table()]
        for entry in entries:
            system, path = self._table.storage.opened(entry.path)
            with told(entry.path):
                rows = parquet.read_table(path, filesystem=system, partitioning=None)
            parts.append(rows.cast(self._columns))
        return pa.concat_tables(parts)


def in_memory(entry: FileEntry) -> int:
    """Bytes of a file's columns before compression, by its footer."""
    from io import BytesIO

    from pyarrow import parquet

    known = parquet.read_metadata(BytesIO(entry.footer))
    return sum(known.row_group(number).total_byte_size for number in range(known.num_row_groups))
