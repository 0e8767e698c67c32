"""A batch merged into an Iceberg table by pyiceberg: the rows of its keys are deleted and written anew, in one change.

pyiceberg's own upsert compares row by row, and its filters of several columns take minutes for a few thousand keys. So
a filter here is a list of values for each column of the key; what it covers beyond the batch's keys is written back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kcli.errors import KcliError
from kcli.pipeline.jobs.lake.merging.latest import DELETED, Merge

if TYPE_CHECKING:
    import pyarrow as pa
    from pyiceberg.expressions import BooleanExpression
    from pyiceberg.table import Transaction

MOST_BESIDE = 1_000_000
"""Rows that a filter of several columns may cover."""


def merge_rows(transaction: Transaction, rows: pa.Table, merge: Merge, about: dict[str, str]) -> None:
    """Rows whose key is in the table replace it or delete it, others are added. One that `order_by` says is older than
    the table's changes nothing. Raises KcliError where several columns cover too much, and what pyiceberg does."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyiceberg.io.pyarrow import schema_to_pyarrow

    metadata = transaction.table_metadata
    schema = schema_to_pyarrow(metadata.schema(), include_field_ids=False)
    beside = schema.empty_table()
    if metadata.current_snapshot_id is not None and rows.num_rows:
        if merge.order_by or len(merge.keys) > 1:
            there = _there(transaction, rows, merge)
            rows = _later(rows, there, merge) if merge.order_by else rows
            if len(merge.keys) > 1:
                beside = _without(_covered(there, rows, merge), rows, merge).select(schema.names).cast(schema)
        if rows.num_rows:
            transaction.delete(covering(rows, merge), snapshot_properties=about)
    new = rows.filter(pc.invert(rows[DELETED])).select(schema.names).cast(schema)
    written = pa.concat_tables([new, beside])
    if written.num_rows:
        transaction.append(written, snapshot_properties=about)


def covering(rows: pa.Table, merge: Merge) -> BooleanExpression:
    """A filter that has every key of the rows; of several columns it has more."""
    from functools import reduce

    from pyiceberg.expressions import And, In, Reference

    lists: list[BooleanExpression] = [
        In(term=Reference(key), values=rows[key].unique().to_pylist()) for key in merge.keys
    ]
    return reduce(And, lists)


def _there(transaction: Transaction, rows: pa.Table, merge: Merge) -> pa.Table:
    """The rows of the table that the filter covers: whole ones, or of a key of one column no more than is compared."""
    fields = ("*",) if len(merge.keys) > 1 else (*merge.keys, merge.order_by)
    found = transaction._table.scan(row_filter=covering(rows, merge), selected_fields=fields).to_arrow()
    if len(merge.keys) > 1 and found.num_rows > MOST_BESIDE:
        raise KcliError(
            f"the columns {', '.join(merge.keys)} of --merge cover {found.num_rows:,} rows, more than the driver "
            f"writes anew, {MOST_BESIDE:,}: merge by one column, or into a Delta table; nothing was committed"
        )
    return found


def _covered(there: pa.Table, rows: pa.Table, merge: Merge) -> pa.Table:
    """What the filter of these rows has, of what that of more rows had."""
    import pyarrow.compute as pc

    mask: Any = None
    for key in merge.keys:
        values = rows[key].unique().cast(there[key].type)
        inside = pc.is_in(there[key], value_set=values)
        mask = inside if mask is None else pc.and_(mask, inside)
    return there.filter(mask)


def _numbered(table: pa.Table, merge: Merge, name: str, like: pa.Table | None = None) -> pa.Table:
    """The keys, and the number of their row."""
    import numpy as np
    import pyarrow as pa

    keys = table.select(list(merge.keys))
    if like is not None:
        keys = keys.cast(like.select(list(merge.keys)).schema)
    return keys.append_column(name, pa.array(np.arange(table.num_rows)))


def _without(there: pa.Table, rows: pa.Table, merge: Merge) -> pa.Table:
    """The rows of the table whose key is none of the batch's."""
    left = _numbered(there, merge, "_there").join(
        _numbered(rows, merge, "_here", there), list(merge.keys), join_type="left anti"
    )
    return there.take(left["_there"])


def _later(rows: pa.Table, there: pa.Table, merge: Merge) -> pa.Table:
    """The rows of the batch that are not older than the table's."""
    import pyarrow.compute as pc

    both = _numbered(rows, merge, "_here", there).join(
        _numbered(there, merge, "_there"), list(merge.keys), join_type="inner"
    )
    ours = rows[merge.order_by].cast(there[merge.order_by].type).take(both["_here"])
    theirs = there[merge.order_by].take(both["_there"])
    older = pc.and_(pc.is_valid(theirs), pc.fill_null(pc.less(ours, theirs), True))
    stale = both["_here"].filter(older)
    keep = pc.invert(pc.is_in(_numbered(rows, merge, "_here")["_here"], value_set=stale))
    return rows.filter(keep)
