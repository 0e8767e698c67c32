"""Snapshots of an Iceberg table: the last commit of a stream, expiration, and the files that they list."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from kcli.errors import KcliError
from kcli.pipeline.jobs.lake.catalogs import told
from kcli.pipeline.jobs.lake.table import COMMIT, Commit, NotCommitted

if TYPE_CHECKING:
    from pyiceberg.io import FileIO
    from pyiceberg.manifest import ManifestFile
    from pyiceberg.table import Table, Transaction
    from pyiceberg.table.metadata import TableMetadata
    from pyiceberg.table.snapshots import Snapshot

MADE = {
    "format-version": "2",
    "commit.manifest-merge.enabled": "true",
    "commit.manifest.target-size-bytes": str(512 << 10),
    "write.metadata.delete-after-commit.enabled": "true",
    "write.metadata.previous-versions-max": "20",
    "history.expire.min-snapshots-to-keep": "100",
    "history.expire.max-snapshot-age-ms": "10000",
}
"""Properties of a table that kcli creates. A commit reads and writes the metadata of all snapshots, so a stream keeps a
limited number of them, however often it commits."""
EVERY = 20
"""Number of expirable snapshots at which they are expired."""
MANIFEST = re.compile(r"(.*-m)(\d+)\.avro")
"""UUID-mNUMBER.avro, numbered by the writer of a commit."""


def last_commit(metadata: TableMetadata, query: str, label: str) -> Commit | None:
    """Return the newest commit of a query, None without one.

    It is taken from the newest snapshot of the current branch that has one, so a table that was rolled back has its
    earlier commit. Snapshots expire, so the commit is also in a property of the table, with its snapshot, which counts
    if the branch has no commit of the query and that snapshot is gone. Raises KcliError if the table was rolled back to
    before it, and the earlier snapshots are expired.
    """
    oldest = None
    for snapshot in ancestors(metadata):
        oldest = snapshot
        summary = snapshot.summary
        found = None if summary is None else Commit.of(summary.additional_properties.get(COMMIT))
        if found is not None and found.query == query:
            return found
    number, _, text = metadata.properties.get(property_of(query), "").partition(" ")
    found = Commit.of(text)
    if found is None or oldest is None or (oldest.sequence_number or 0) == 1:
        return None
    if any(str(one.snapshot_id) == number for one in metadata.snapshots):
        raise KcliError(
            f"{label}: the table was rolled back past the last commit of this pipeline, and no snapshot shows "
            "which records it had then: roll the table back to a snapshot of this pipeline"
        ).hinted("start-over")
    return found


def property_of(query: str) -> str:
    """Return the table property with the newest commit of a query."""
    return f"{COMMIT}.{query}"


def ancestors(metadata: TableMetadata) -> Iterator[Snapshot]:
    """Iterate over the current snapshot and its known ancestors."""
    known = {one.snapshot_id: one for one in metadata.snapshots}
    snapshot = metadata.current_snapshot()
    while snapshot is not None:
        yield snapshot
        parent = snapshot.parent_snapshot_id
        snapshot = None if parent is None else known.get(parent)


def check_next(metadata: TableMetadata | None, commit: Commit, label: str) -> None:
    """Raise NotCommitted unless a commit is the next of its query."""
    last = None if metadata is None else last_commit(metadata, commit.query, label)
    if last is not None and last.id == commit.id:
        return  # a response was lost, and the commit is retried
    if commit.epoch != (0 if last is None else last.epoch + 1):
        raise NotCommitted(
            f"{label}: another process committed to the table with the same checkpoint, or the table was dropped or "
            "rolled back; nothing was committed"
        )


def guarded(table: Table, commit: Commit, label: str) -> Transaction:
    """Return a transaction that checks that its commit is the next of its query, whenever it succeeds: pyiceberg
    retries a commit on the refreshed table if another writer was first, and then it is checked again. Raises
    NotCommitted."""
    check_next(table.metadata, commit, label)
    refresh = table.refresh

    def checked() -> Table:
        from pyiceberg.exceptions import CommitFailedException

        refresh()
        try:
            check_next(table.metadata, commit, label)
        except KcliError as problem:
            raise CommitFailedException(str(problem)) from problem  # so that pyiceberg deletes its manifests
        return table

    table.refresh = checked  # type: ignore[method-assign]
    return light(table)


def light(table: Table, snapshots: Sequence[Snapshot] = ()) -> Transaction:
    """Return a transaction that knows only the current snapshot and these. pyiceberg copies all metadata at each step
    of a change, about twenty times; the catalog applies the change to all of it."""
    current = table.current_snapshot()
    known = [*snapshots, *([] if current is None else [current])]
    table.metadata = table.metadata.model_copy(update={"snapshots": known, "snapshot_log": []})
    return table.transaction()


class Expiry:
    """Expires snapshots, and deletes manifests and manifest lists that no snapshot lists any more, which pyiceberg does
    not do.

    Only ancestors of the current snapshot expire: those that were rolled back, staged, tagged or belong to another
    branch are kept. `tell` is called with a sentence on failure: the rows are in the table then, and the next commit
    tries again.
    """

    def __init__(self, label: str, tell: Callable[[str], None]) -> None:
        self._label, self._tell = label, tell
        self._named: dict[int, frozenset[str]] = {}
        self._failed = False

    def run(self, table: Table, load: Callable[[], Table | None]) -> None:
        """Run after a commit of the table."""
        try:
            with told(self._label):
                self._run(table, load)
        except KcliError as problem:
            if not self._failed:
                self._tell(f"snapshots were not expired: {problem}; the rows are in the table")
            self._failed = True

    def _run(self, table: Table, load: Callable[[], Table | None]) -> None:
        old = expired(table.metadata, time.time())
        if len(old) < EVERY or not _expire(table, old):
            return
        after = load()
        if after is None:
            return
        there = {one.snapshot_id for one in after.metadata.snapshots}
        named = {path for one in after.metadata.snapshots for path in self._files(one, table.io)}
        gone = {path for one in old if one.snapshot_id not in there for path in self._files(one, table.io)}
        self._named = {number: files for number, files in self._named.items() if number in there}
        for path in sorted(gone - named):
            with suppress(FileNotFoundError):  # another writer expired the same ones
                table.io.delete(path)

    def _files(self, snapshot: Snapshot, io: FileIO) -> frozenset[str]:
        """Return the manifest list of a snapshot and its manifests; each list is read once."""
        if snapshot.snapshot_id not in self._named:
            self._named[snapshot.snapshot_id] = files_of(snapshot, io)
        return self._named[snapshot.snapshot_id]


def expired(metadata: TableMetadata, now: float) -> list[Snapshot]:
    """Return the snapshots that may expire by the table's history.expire.min-snapshots-to-keep and max-snapshot-age-ms;
    none if the table does not set both, because then others maintain it."""
    properties = metadata.properties
    keep = properties.get("history.expire.min-snapshots-to-keep")
    age = properties.get("history.expire.max-snapshot-age-ms")
    if keep is None or age is None or properties.get("gc.enabled", "true").lower() == "false":
        return []
    known = {one.snapshot_id: one for one in metadata.snapshots}
    needed: set[int] = set()
    for name, ref in metadata.refs.items():
        one = known.get(ref.snapshot_id) if name != "main" else None
        while one is not None and one.snapshot_id not in needed:
            needed.add(one.snapshot_id)
            one = None if one.parent_snapshot_id is None else known.get(one.parent_snapshot_id)
    before = now * 1000 - int(age)
    chain = list(ancestors(metadata))[max(int(keep), 1) :]
    return [one for one in chain if one.timestamp_ms < before and one.snapshot_id not in needed]


def _expire(table: Table, old: Sequence[Snapshot]) -> bool:
    """Expire snapshots, unless the table has changed since it was read; return whether that was done."""
    from pyiceberg.exceptions import CommitFailedException
    from pyiceberg.table.update.snapshot import ExpireSnapshots, ManageSnapshots

    main, numbers = table.metadata.refs["main"], [one.snapshot_id for one in old]
    transaction = light(table, old)
    # Set main to its current value: the catalog then refuses if the table was rolled back to an expiring snapshot
    ManageSnapshots(transaction).create_branch(
        main.snapshot_id, "main", main.max_ref_age_ms, main.max_snapshot_age_ms, main.min_snapshots_to_keep
    ).commit()
    ExpireSnapshots(transaction).by_ids(numbers).commit()
    try:
        transaction.commit_transaction()
    except CommitFailedException:
        return False
    except ValueError:
        table.refresh()
        if any(table.snapshot_by_id(number) is None for number in numbers):
            return False  # another writer expired them
        raise
    return True


def files_of(snapshot: Snapshot, io: FileIO) -> frozenset[str]:
    """Return the manifest list of a snapshot and its manifests, including those that pyiceberg wrote for it and merged
    before the commit."""
    found = [snapshot.manifest_list]
    for one in snapshot.manifests(io):
        found.append(one.manifest_path)
        name = MANIFEST.fullmatch(one.manifest_path)
        if name is not None and one.added_snapshot_id == snapshot.snapshot_id:
            found += [f"{name[1]}{number}.avro" for number in range(int(name[2]))]
    return frozenset(found)


def named_files(table: Table) -> set[str]:
    """Return the paths of all files that the table's metadata lists, in any snapshot."""
    metadata, io = table.metadata, table.io
    named = {table.metadata_location, *(one.metadata_file for one in metadata.metadata_log)}
    named |= {one.statistics_path for one in [*metadata.statistics, *metadata.partition_statistics]}
    manifests: dict[str, ManifestFile] = {}
    for snapshot in metadata.snapshots:
        named.add(snapshot.manifest_list)
        manifests |= {one.manifest_path: one for one in snapshot.manifests(io)}
    for path, manifest in manifests.items():
        named.add(path)
        named |= {one.data_file.file_path for one in manifest.fetch_manifest_entry(io, discard_deleted=True)}
    return {path_of(one) for one in named}


def path_of(uri: str) -> str:
    """Return a URI without its scheme, which engines write in several ways (file:/x and file:///x, s3 and s3a)."""
    return "/" + re.sub(r"^[A-Za-z][A-Za-z0-9+.-]*:/*", "", uri).lstrip("/")


def other_tables(paths: Iterable[str]) -> set[str]:
    """Return the folders of tables among these files: a namespace may have a table's name."""
    return {path.rpartition("/metadata/")[0] for path in paths if path.endswith(".metadata.json")}
