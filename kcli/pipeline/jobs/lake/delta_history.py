"""What the log of a Delta table says of its versions: whose files they are, when small ones were merged."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from kcli.pipeline.jobs.lake.merging.latest import DELETED, Merge

if TYPE_CHECKING:
    import pyarrow as pa
    from deltalake import CommitProperties, DeltaTable

FOLDER = "kcli.folder"
"""The entry of a version's history that has the folder of its files, in the table's."""
LOOKED_AT = 1000
"""Versions in which the last compaction is looked for."""


def has_files_of(table: DeltaTable, folder: str) -> bool:
    """Whether the table has files of a folder in it, or a version that the log still has is of them."""
    import pyarrow as pa

    paths: list[Any] = pa.table(table.get_add_actions(flatten=True))["path"].to_pylist()
    return any(path.startswith(f"{folder}/") for path in paths) or any(
        version.get(FOLDER) == folder for version in table.history()
    )


def merge(table: DeltaTable, every: float, size: int) -> None:
    """Merge small files into such of at most one and a half times `size` bytes, in one version, where the last time (or
    the table's first version) is `every` seconds ago. deltalake merges neighbours in the log: the small last file of a
    task has to fit behind a full one. The old files stay for readers of older versions."""
    merged = [one for one in table.history(LOOKED_AT) if one["operation"] == "OPTIMIZE" or one["version"] == 0]
    last = max((one["timestamp"] for one in merged), default=0) / 1000
    if time.time() - last >= every:
        table.optimize.compact(target_size=size * 3 // 2)


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
