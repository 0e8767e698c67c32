"""A commit of an Iceberg table: its files as a snapshot, and the answer of the catalog."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from typing import TYPE_CHECKING, Any

from kcli.errors import KcliError
from kcli.pipeline.jobs.lake.catalogs import first_of, told
from kcli.pipeline.jobs.lake.committer import NotCommitted
from kcli.pipeline.sink.layout import FileEntry

if TYPE_CHECKING:
    import pyarrow as pa
    from pyiceberg.table import Table, Transaction

    from kcli.pipeline.jobs.lake.merging.latest import Merge

BATCH = "kcli.batch."
"""The property of a table that has the last batch of a query."""


def append(transaction: Transaction, entries: Sequence[FileEntry], query: str, batch: int) -> None:
    """The files, as a snapshot of the transaction, with the property that names the batch."""
    with transaction.update_snapshot(snapshot_properties=about_of(query, batch)).fast_append() as snapshot:
        for entry in entries:
            snapshot.append_data_file(data_file(entry, transaction.table_metadata))
    if batch >= 0:
        transaction.set_properties({BATCH + query: str(batch)})


def about_of(query: str, batch: int) -> dict[str, str]:
    """What a snapshot says of itself: the batch of a stream."""
    return {"kcli.query": query, "kcli.batch": str(batch)} if batch >= 0 else {}


def commit_files(
    transaction: Transaction, entries: Sequence[FileEntry], query: str, batch: int, *, label: str, replace: bool
) -> None:
    """One change of the table's metadata, with `replace` in the place of all its rows. pyiceberg tries again, on the
    refreshed table, where another writer was first (`commit.retry.num-retries` of the table, 4). Raises NotCommitted,
    KcliError."""
    with refused(label):
        if replace:
            from pyiceberg.expressions import AlwaysTrue

            transaction.delete(AlwaysTrue())
        append(transaction, entries, query, batch)
        _commit(transaction, label)


def commit_merged(
    transaction: Transaction, rows: pa.Table, merge: Merge, query: str, batch: int, *, label: str
) -> None:
    """The same for rows that are merged. Raises NotCommitted, KcliError."""
    from kcli.pipeline.jobs.lake.merging.iceberg_merge import merge_rows

    with refused(label):
        merge_rows(transaction, rows, merge, about_of(query, batch))
        if batch >= 0:
            transaction.set_properties({BATCH + query: str(batch)})
        _commit(transaction, label)


@contextmanager
def refused(label: str) -> Iterator[None]:
    """Errors of a commit: NotCommitted where it is certainly not in the table, else KcliError."""
    from pyiceberg.exceptions import CommitFailedException, TableAlreadyExistsError, ValidationException

    try:
        with told(label):
            yield
    except (CommitFailedException, ValidationException, TableAlreadyExistsError) as problem:
        raise NotCommitted(
            f"{label}: another writer changed the table at the same time, each time it was tried "
            f"({first_of(problem)}); nothing was committed: run it again"
        ) from problem


def _commit(transaction: Transaction, label: str) -> None:
    """Send the change. Raises KcliError where the catalog does not answer, as it may have done it."""
    from pyiceberg.exceptions import CommitStateUnknownException
    from requests import RequestException

    try:
        transaction.commit_transaction()
    except (CommitStateUnknownException, RequestException) as problem:
        raise KcliError(
            f"{label}: the catalog did not answer whether the rows are in the table ({first_of(problem)}); run a "
            "stream again, it reads which batch the table has; after a batch check the table before you run it again"
        ) from problem


def has_files_of(table: Table, folder: str) -> bool:
    """Whether a snapshot that the table still knows has files of a folder."""
    seen = set()
    for snapshot in table.snapshots():
        for manifest in snapshot.manifests(table.io):
            if manifest.manifest_path in seen:
                continue
            seen.add(manifest.manifest_path)
            entries = manifest.fetch_manifest_entry(table.io, discard_deleted=True)
            if any(entry.data_file.file_path.startswith(f"{folder}/") for entry in entries):
                return True
    return False


def data_file(entry: FileEntry, metadata: Any) -> Any:
    """A file as a manifest has it, with the statistics of its footer."""
    from pyarrow import parquet
    from pyiceberg.io.pyarrow import (
        compute_statistics_plan,
        data_file_statistics_from_parquet_metadata,
        parquet_path_to_id_mapping,
    )
    from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
    from pyiceberg.typedef import Record

    schema = metadata.schema()
    statistics = data_file_statistics_from_parquet_metadata(
        parquet_metadata=parquet.read_metadata(BytesIO(entry.footer)),
        stats_columns=compute_statistics_plan(schema, metadata.properties),
        parquet_column_mapping=parquet_path_to_id_mapping(schema),
    )
    return DataFile.from_args(
        content=DataFileContent.DATA,
        file_path=entry.path,
        file_format=FileFormat.PARQUET,
        partition=Record(*entry.values),
        file_size_in_bytes=entry.size,
        sort_order_id=None,
        spec_id=metadata.default_spec_id,
        equality_ids=None,
        key_metadata=None,
        **statistics.to_serialized_dict(),
    )
