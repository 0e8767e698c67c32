"""A batch merged into a Delta table by deltalake: MERGE INTO, as one version that names the batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.pipeline.jobs.lake.merging.latest import DELETED, Merge

if TYPE_CHECKING:
    import pyarrow as pa
    from deltalake import CommitProperties, DeltaTable


def merge_rows(known: DeltaTable, rows: pa.Table, merge: Merge, about: CommitProperties) -> None:
    """Rows whose key is in the table replace it or delete it, others are added. One that `order_by` says is older than
    the table's changes nothing. A batch that changes nothing is no version. Raises what deltalake does."""
    columns = {quoted(name): f"s.{quoted(name)}" for name in rows.column_names if name != DELETED}
    same = " AND ".join(f"t.{quoted(key)} = s.{quoted(key)}" for key in merge.keys)
    gone, later = f"s.{DELETED}", ""
    if merge.order_by:
        name = quoted(merge.order_by)
        later = f" AND (t.{name} IS NULL OR s.{name} >= t.{name})"
    merger = known.merge(rows, same, source_alias="s", target_alias="t", commit_properties=about)
    merger.when_matched_delete(gone + later)
    merger.when_matched_update(columns, predicate=f"NOT {gone}{later}")
    merger.when_not_matched_insert(columns, predicate=f"NOT {gone}")
    merger.execute()


def quoted(name: str) -> str:
    """A column, as DataFusion's SQL has it."""
    return f"`{name.replace('`', '``')}`"
