"""Merges a batch into an Iceberg table with pyiceberg: files with rows of its keys are rewritten in one snapshot.

pyiceberg's own upsert compares row by row, and its filters have an object per key, 800 MB for a million keys. So a
file's keys are joined with those of the batch as columns, and the filter is the range of keys.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

from kcli.pipeline.jobs.lake.merging.latest import DELETED, Merge

if TYPE_CHECKING:
    import pyarrow as pa
    from pyiceberg.expressions import BooleanExpression
    from pyiceberg.manifest import DataFile
    from pyiceberg.table import FileScanTask, Transaction


def merge_rows(transaction: Transaction, rows: pa.Table, merge: Merge, about: dict[str, str]) -> None:
    """Replace or delete rows with existing keys, and add others. A row that is older than the table's by `order_by`
    changes nothing. `about` are the properties of the snapshot. Raises pyiceberg's errors."""
    import pyarrow.compute as pc
    from pyiceberg.io.pyarrow import schema_to_pyarrow
    from pyiceberg.table.snapshots import Operation

    schema = schema_to_pyarrow(transaction.table_metadata.schema(), include_field_ids=False)
    range_of_keys = within(rows, merge, schema)
    found, fresh = _found(transaction, rows, merge, range_of_keys)
    written = _Written(transaction)
    replaced = list(_replaced(transaction, found, fresh, written))
    added = written.files(_as(schema, rows.filter(pc.and_(fresh, pc.invert(rows[DELETED])))))
    if not replaced and not added:
        if about:
            transaction.add_files([], about, check_duplicate_files=False)
        return
    with transaction.update_snapshot(snapshot_properties=about).overwrite(commit_uuid=written.uuid) as snapshot:
        # Another writer may meanwhile add rows with these keys in the range: pyiceberg rejects the commit then, which
        # it does not for its own appends.
        snapshot.delete_by_predicate(range_of_keys)
        if not replaced:
            snapshot._operation = Operation.APPEND
        for old, kept in replaced:
            snapshot.delete_data_file(old)
            added += kept
        for file in added:
            snapshot.append_data_file(file)
    if _scattered(transaction):
        # pyiceberg merges manifests, and drops those with only deleted files, only when it appends
        transaction.add_files([], about, check_duplicate_files=False)


def _scattered(transaction: Transaction) -> bool:
    """Whether there are more small manifests than the table's properties allow."""
    metadata = transaction.table_metadata
    snapshot, properties = metadata.current_snapshot(), metadata.properties
    if snapshot is None or properties.get("commit.manifest-merge.enabled", "").lower() != "true":
        return False
    most = int(properties.get("commit.manifest.min-count-to-merge", 100))
    full = int(properties.get("commit.manifest.target-size-bytes", 8 << 20))
    return sum(one.manifest_length < full // 2 for one in snapshot.manifests(transaction._table.io)) > most


def _as(schema: pa.Schema, rows: pa.Table) -> pa.Table:
    """Return the rows with the table's columns; missing ones are null."""
    import pyarrow as pa

    for one in schema:
        if one.name not in rows.column_names:
            rows = rows.append_column(one, pa.nulls(rows.num_rows, one.type))
    return rows.select(schema.names).cast(schema)


def within(rows: pa.Table, merge: Merge, schema: pa.Schema) -> BooleanExpression:
    """Return a filter that excludes files whose statistics show that they have no key of these rows: the range of each
    key column. A column with only nulls matches nothing."""
    from functools import reduce

    import pyarrow.compute as pc
    from pyiceberg.expressions import AlwaysFalse, AlwaysTrue, And, GreaterThanOrEqual, LessThanOrEqual, Reference

    ranges: list[BooleanExpression] = [AlwaysTrue()]
    for key in merge.keys:
        kind = schema.field(key).type
        ends = pc.min_max(rows[key].cast(kind))
        least, most = ends["min"].as_py(), ends["max"].as_py()
        if least is None:
            return AlwaysFalse()
        if not isinstance(least, bool):  # two values are not a range
            ranges.append(GreaterThanOrEqual(term=Reference(key), value=least))
            ranges.append(LessThanOrEqual(term=Reference(key), value=most))
    return reduce(And, ranges)


class _Found(NamedTuple):
    """A file with keys of the batch: row numbers in the batch, and those of the file's rows with the same keys.
    pyiceberg reads a file's rows in order, whichever columns are selected."""

    task: FileScanTask
    ours: Any
    theirs: Any


class _Written:
    """Writes the rows of this change to files of the table."""

    def __init__(self, transaction: Transaction) -> None:
        self.uuid = uuid4()
        self._transaction = transaction
        self._count = count()

    def files(self, rows: pa.Table) -> list[DataFile]:
        """Write files with these rows and return them."""
        from pyiceberg.io.pyarrow import _dataframe_to_data_files

        if not rows.num_rows:
            return []
        metadata, io = self._transaction.table_metadata, self._transaction._table.io
        return list(_dataframe_to_data_files(metadata, rows, io, self.uuid, counter=self._count))


def _found(
    transaction: Transaction, rows: pa.Table, merge: Merge, range_of_keys: BooleanExpression
) -> tuple[list[_Found], Any]:
    """Return the files with a key of the batch, and which rows of the batch are not older than the table's."""
    import numpy as np
    import pyarrow as pa

    compared = (*merge.keys, *([merge.order_by] if merge.order_by else []))
    found, fresh = [], np.ones(rows.num_rows, bool)
    empty = transaction.table_metadata.current_snapshot_id is None
    for task in () if empty else transaction._table.scan(row_filter=range_of_keys).plan_files():
        there = _read(transaction, task, compared)
        ours, theirs = _same(rows, there, merge)
        if len(ours):
            found.append(_Found(task, ours, theirs))
        if merge.order_by:
            fresh[ours.filter(_older(rows, ours, there, theirs, merge.order_by)).to_numpy()] = False
    return found, pa.array(fresh)


def _replaced(
    transaction: Transaction, found: Sequence[_Found], fresh: Any, written: _Written
) -> Iterator[tuple[DataFile, list[DataFile]]]:
    """Yield each file with rows that are replaced or deleted, and the new files with its other rows."""
    import numpy as np
    import pyarrow as pa

    for one in found:
        gone = one.theirs.filter(fresh.take(one.ours))
        if len(gone):
            there = _read(transaction, one.task, ())
            others = np.ones(there.num_rows, bool)
            others[gone.to_numpy()] = False
            yield one.task.file, written.files(there.filter(pa.array(others)))


def _read(transaction: Transaction, task: FileScanTask, columns: Sequence[str]) -> pa.Table:
    """Return the rows of a file that are not deleted, with these columns, () for all."""
    from pyiceberg.expressions import AlwaysTrue
    from pyiceberg.io.pyarrow import ArrowScan

    schema = transaction.table_metadata.schema()
    wanted = schema.select(*columns) if columns else schema
    return ArrowScan(transaction.table_metadata, transaction._table.io, wanted, AlwaysTrue()).to_table([task])


def _same(rows: pa.Table, there: pa.Table, merge: Merge) -> tuple[Any, Any]:
    """Return row numbers of the batch and of the table with equal keys, as two arrays of the same length."""
    keys = list(merge.keys)
    ours = _numbered(rows.select(keys).cast(there.select(keys).schema), "_here")
    both = ours.join(_numbered(there.select(keys), "_there"), keys, join_type="inner")
    return both["_here"].combine_chunks(), both["_there"].combine_chunks()


def _numbered(keys: pa.Table, name: str) -> pa.Table:
    """Return the keys with their row numbers."""
    import numpy as np
    import pyarrow as pa

    return keys.append_column(name, pa.array(np.arange(keys.num_rows)))


def _older(rows: pa.Table, ours: Any, there: pa.Table, theirs: Any, order_by: str) -> Any:
    """Return which pairs are older in the batch than in the table. A null in the table is older than everything."""
    import pyarrow.compute as pc

    before = there[order_by].take(theirs)
    now = rows[order_by].cast(before.type).take(ours)
    return pc.and_(pc.is_valid(before), pc.fill_null(pc.less(now, before), True))
