"""A Delta table, written in the driver by the package deltalake: one machine, and no jars.

Each commit of a stream has the query's transaction (`txn`), as in Delta's own sink. deltalake rejects a commit if the
same query has committed since the version on which it is based. That version is checked before the commit, so of two
drivers with one checkpoint exactly one commits a batch.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kcli.errors import KcliError, UsageError
from kcli.pipeline.jobs.lake.catalogs import first_of
from kcli.pipeline.jobs.lake.delta_history import (
    TEXT,
    Last,
    Version,
    check_next,
    compaction_due,
    has,
    last_of,
    merge_rows,
    newest_first,
)
from kcli.pipeline.jobs.lake.merging.latest import DELETED
from kcli.pipeline.jobs.lake.staged import collected, staged
from kcli.pipeline.jobs.lake.table import NotCommitted, Written
from kcli.pipeline.sink.storage import as_s3, delta_options, storage_here
from kcli.system.files import DOCUMENT, read_text

if TYPE_CHECKING:
    import deltalake
    import pyarrow as pa
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from kcli.pipeline.jobs.lake.merging.latest import Merge
    from kcli.pipeline.jobs.lake.table import Commit

GENERATED = "delta.generationExpression"
"""In a column's metadata: Delta generates its values."""
REFUSED = ("violate", "invariant", "append-only", "appendonly", "not null", "non-nullable", "generated")
"""Words in deltalake's errors for rejected rows, before anything is committed."""


class DeltaTable:
    """A table in a local folder, or in s3://BUCKET/PATH; it need not exist yet. `size` is in bytes."""

    def __init__(self, place: str, *, by: Sequence[str] = (), compression: str = "zstd", size: int = 128 << 20) -> None:
        self.where = self.label = as_s3(place)
        self._stored = "://" in self.label
        self._uri = self.label if self._stored else str(Path(self.label).absolute())
        self._by, self._compression, self._size = list(by), compression, size
        self._options = delta_options() if self._stored else None

    def exists(self) -> bool:
        """Whether the table exists. Raises KcliError if its store cannot be read."""
        if self._stored:
            storage_here().check(self._uri)
        return self._opened() is not None

    def check(self, frame: DataFrame, *, evolve: bool) -> None:
        """Raise UsageError if the rows do not match an existing table."""
        known = self._opened()
        if known is not None:
            self._check(known, frame.schema, evolve=evolve)

    def _check(self, known: deltalake.DeltaTable, now: StructType, *, evolve: bool) -> None:
        there, by = _columns(known), known.metadata().partition_columns
        made = [one.name for one in there.fields if GENERATED in (one.metadata or {})]
        fits(self.label, now, there, by, self._by, made=made, evolve=evolve)

    def last(self, query: str) -> Commit | None:
        """Return a query's newest commit in the table. Raises KcliError."""
        known = self._opened()
        return None if known is None else self._last(known, query).commit

    def write(self, rows: DataFrame, mode: str, commit: Commit | None, *, evolve: bool) -> Written:
        """Write the rows as one version."""
        known = self._opened()
        if known is not None and mode == "error":
            raise UsageError(f"the table {self.label} exists").hinted("append-overwrite")
        if known is not None:
            self._check(known, rows.schema, evolve=evolve)
            known = self._wider(rows, known) if evolve else known
        about = self._about(known, commit)
        with staged(rows) as made:
            return self._written(known, made.reader(), "append" if mode == "error" else mode, commit, about, evolve)

    def merge(self, rows: DataFrame, merge: Merge, commit: Commit | None, *, evolve: bool) -> Written:
        """Write the rows as one version in which each replaces or deletes the row with its key, or is added. A new
        table gets the rows that are not deletions."""
        known = self._opened()
        plain = rows.drop(DELETED)
        if known is not None:
            self._check(known, plain.schema, evolve=evolve)
            known = self._added(plain, self._wider(plain, known)) if evolve else known
        about = self._about(known, commit)
        changes = collected(rows, self.label)
        if known is None:
            import pyarrow.compute as pc

            stay = changes.filter(pc.invert(changes[DELETED])).drop_columns([DELETED])
            return self._written(None, stay.to_reader(), "append", commit, about, evolve)
        begun, before = time.monotonic(), known.version()
        with self._told(commit):
            merge_rows(known, changes, merge, about)
        if commit is not None and known.version() == before:  # nothing changed, but the offsets have to be committed
            nothing = changes.drop_columns([DELETED]).slice(0, 0)
            return self._written(known, nothing.to_reader(), "append", commit, about, evolve)
        return self._figures(known, time.monotonic() - begun)

    def compact(self, every: float) -> None:
        """Merge small files to at most one and a half times the size of a file, if the last time, or the table's first
        version, is `every` seconds ago: the small last file of a task has to fit after a full one."""
        from deltalake.exceptions import CommitFailedError

        known = self._opened()
        if known is None or not compaction_due(self._versions(known), every, time.time()):
            return
        try:
            with self._told(None):
                known.optimize.compact(target_size=self._size * 3 // 2, writer_properties=self._properties())
        except NotCommitted as problem:
            if not isinstance(problem.__cause__, CommitFailedError):
                raise
            raise KcliError(
                f"{self.label}: its files were not merged, because another writer changed them "
                f"({first_of(problem.__cause__)}); the rows are in the table"
            ) from problem

    def clean(self, older: float, *, delete: bool) -> Sequence[str]:
        """Run Delta's VACUUM, which keeps the files of every version in the log."""
        known = self._opened()
        if known is None:
            raise UsageError(f"{self.label} is not a Delta table")
        with self._told(None):
            return known.vacuum(
                retention_hours=max(0, round(older / 3600)),
                dry_run=not delete,
                enforce_retention_duration=False,
                full=True,
                keep_versions=[one.number for one in self._versions(known)],
            )

    # -- reading ----------------------------------------------------------------------------------------------------

    def _opened(self) -> deltalake.DeltaTable | None:
        """Return the current table, None if it does not exist."""
        import deltalake

        with self._told(None):
            if not deltalake.DeltaTable.is_deltatable(self._uri, storage_options=self._options):
                return None
            return deltalake.DeltaTable(self._uri, storage_options=self._options)

    def _current(self, known: deltalake.DeltaTable) -> deltalake.DeltaTable:
        known.update_incremental()
        return known

    def _versions(self, known: deltalake.DeltaTable) -> Iterator[Version]:
        """Newest first."""

        def read(limit: int) -> list[Version]:
            with self._told(None):
                return [_version(one) for one in known.history(limit)]

        return newest_first(read)

    def _last(self, known: deltalake.DeltaTable, query: str) -> Last:
        """Return the last commit of a query. A query without a transaction has none, however long the log is."""
        if known.transaction_version(query) is None:
            return Last()
        found = last_of(self._versions(known), query)
        if found.version < 0:
            raise KcliError(
                f"{self.label} has batches of this pipeline, but its log no longer shows which records: restore the "
                "table and the checkpoint to the same time"
            ).hinted("start-over")
        return found

    # -- writing ----------------------------------------------------------------------------------------------------

    def _about(self, known: deltalake.DeltaTable | None, commit: Commit | None) -> deltalake.CommitProperties | None:
        """Return the properties of a version. Raises NotCommitted for a commit that is not the query's next. The
        version that creates a table is not retried, because deltalake would add it to a table created meanwhile by
        another writer."""
        from deltalake import CommitProperties, Transaction

        retries = 0 if known is None else None
        if commit is None:
            return CommitProperties(max_commit_retries=retries)
        last = Last() if known is None else self._last(known, commit.query)
        check_next(self.label, last, commit)
        return CommitProperties(
            custom_metadata={TEXT: commit.text()},
            app_transactions=[Transaction(commit.query, last.version + 1)],
            max_commit_retries=retries,
        )

    def _written(
        self,
        known: deltalake.DeltaTable | None,
        rows: pa.RecordBatchReader,
        mode: Any,
        commit: Commit | None,
        about: deltalake.CommitProperties | None,
        evolve: bool,
    ) -> Written:
        """Write one version with deltalake."""
        import deltalake

        begun = time.monotonic()
        with self._told(commit):
            deltalake.write_deltalake(
                self._uri if known is None else known,
                rows,
                mode="error" if known is None else mode,
                partition_by=self._by or None,
                schema_mode="merge" if evolve and known is not None else None,
                target_file_size=self._size,
                writer_properties=self._properties(),
                commit_properties=about,
                storage_options=self._options,
            )
        return self._figures(known or self._opened(), time.monotonic() - begun)

    def _properties(self) -> deltalake.WriterProperties:
        from deltalake import WriterProperties

        codec = self._compression.upper()
        return WriterProperties(compression="UNCOMPRESSED" if codec == "NONE" else codec)  # type: ignore[arg-type]

    def _figures(self, known: deltalake.DeltaTable | None, seconds: float) -> Written:
        """Return the figures of the version that was just written."""
        log = "" if known is None else self._log(known.version())
        added = [json.loads(line)["add"]["size"] for line in log.splitlines() if line.startswith('{"add"')]
        return Written(files=len(added), bytes=sum(added), commit=seconds)

    def _log(self, version: int) -> str:
        """Return the log entry of a version."""
        file = f"{self._uri}/_delta_log/{version:020}.json"
        if self._stored:
            return storage_here().read(file, DOCUMENT).decode()
        return read_text(Path(file), DOCUMENT)

    def _added(self, rows: DataFrame, known: deltalake.DeltaTable) -> deltalake.DeltaTable:
        """Return the table with missing columns added, before a merge."""
        import deltalake
        from pyspark.sql.types import StructType

        from kcli.pipeline.jobs.schemas import difference, evolved

        before = _columns(known)
        if not difference(before, rows.schema).added:
            return known
        merged = evolved(before, rows.schema)
        news = [one for one in merged.fields if one.name not in before.names or before[one.name] != one]
        with self._told(None):
            known.alter.add_columns(deltalake.Schema.from_json(StructType(news).json()).fields)
        return self._current(known)

    def _wider(self, rows: DataFrame, known: deltalake.DeltaTable) -> deltalake.DeltaTable:
        """Return the table with wider types if the rows have them: its rows are rewritten in one version, because Delta
        has no type widening for them. Rejected if another writer changes the table meanwhile."""
        import deltalake

        from kcli.pipeline.jobs.files.delta import load
        from kcli.pipeline.jobs.schemas import difference, evolved, recast

        before = _columns(known)
        found = difference(before, rows.schema)
        if not found.widened:
            return known
        if self._stored:
            raise UsageError(
                f"{self.label}: the column {next(iter(found.widened))} needs a wider type, so the table must be "
                "rewritten, which kcli can only do on a local disk; nothing was written"
            )
        again = recast(load(rows.sparkSession, Path(self._uri), known), evolved(before, rows.schema))
        with staged(again) as made, self._told(None):
            deltalake.write_deltalake(
                known,
                made.reader(),
                mode="overwrite",
                schema_mode="overwrite",
                partition_by=self._by or None,
                target_file_size=self._size,
                writer_properties=self._properties(),
                commit_properties=deltalake.CommitProperties(max_commit_retries=0),
            )
        return self._current(known)

    @contextmanager
    def _told(self, commit: Commit | None) -> Iterator[None]:
        """Convert errors of deltalake to a sentence about the table. A commit whose response was lost is looked up: a
        store that responds with 500 may have written it, and deltalake's second attempt then conflicts with the first.
        """
        from deltalake.exceptions import CommitFailedError, DeltaError, SchemaMismatchError

        try:
            yield
        except (DeltaError, OSError, ValueError) as problem:
            if commit is not None and self._has(commit):
                return
            text = sentence(self._said(problem))
            if isinstance(problem, CommitFailedError) or "already exists" in text:
                raise NotCommitted(
                    f"{self.label}: another writer changed the table at the same time ({text}); nothing was "
                    "committed: run it again"
                ) from problem
            if isinstance(problem, SchemaMismatchError) or any(word in text.lower() for word in REFUSED):
                raise NotCommitted(f"{self.label}: {text}; nothing was committed") from problem
            raise KcliError(f"{self.label}: {text}") from problem

    def _said(self, problem: Exception) -> str:
        """Return deltalake's message. For rows that fail a check it only has their number and the check."""
        rows = re.findall(r"^\| (.*) \|$", str(problem), re.MULTILINE)
        known = self._opened() if "failed validation check" in str(problem) else None
        if known is None or len(rows) < 2:
            return first_of(problem)
        names, first = ([one.strip() for one in row.split(" | ")] for row in rows[:2])
        of = ", ".join(f"{name} {value or 'NULL'}" for name, value in zip(names, first, strict=False))
        rules = [f"{one.name} NOT NULL" for one in _columns(known).fields if not one.nullable]
        settings = known.metadata().configuration
        rules += [str(value) for name, value in settings.items() if name.startswith("delta.constraints.")]
        return f"a row violates a constraint of the table ({'; '.join(rules)}), such as {of}"

    def _has(self, commit: Commit) -> bool:
        """Whether a commit is in the table, as far as can be determined now."""
        try:
            known = self._opened()
            return known is not None and has(self._versions(known), commit)
        except KcliError:
            return False


def _columns(known: deltalake.DeltaTable) -> StructType:
    """Return the columns of a table as Spark types."""
    from pyspark.sql.types import StructType

    return StructType.fromJson(json.loads(known.schema().to_json()))


def _version(one: dict[str, Any]) -> Version:
    """Convert an entry of deltalake's history."""
    return Version(
        number=one["version"],
        operation=str(one.get("operation") or ""),
        parameters=one.get("operationParameters") or {},
        text=str(one.get(TEXT) or ""),
        time=int(one.get("timestamp") or 0),
    )


def sentence(text: str) -> str:
    """Return a Delta writer's message, reworded where it is unclear."""
    if re.search(r"append.?only", text, re.IGNORECASE):
        return "the table is append-only (delta.appendOnly): rows in it cannot be replaced or deleted"
    return text


def fits(
    label: str,
    now: StructType,
    there: StructType,
    by: Sequence[str],
    ours_by: Sequence[str],
    *,
    made: Collection[str] = (),
    evolve: bool,
) -> None:
    """Raise UsageError for rows with columns other than the table's, or other partitioning. Generated columns (`made`)
    may be missing. With `evolve`, rows may lack columns, have additional ones, and have wider types."""
    from kcli.pipeline.jobs.schemas import difference

    ours = {one.name: one.dataType.simpleString() for one in now.fields}
    theirs = {one.name: one.dataType.simpleString() for one in there.fields}
    wrong = {
        name: (theirs.get(name, "missing"), ours.get(name, "missing"))
        for name in {**ours, **theirs}
        if ours.get(name) != theirs.get(name) and (name in ours or name not in made)
    }
    if evolve:
        wrong = difference(there, now).changed
    for name, (old, new) in wrong.items():
        raise UsageError(f"{label} has other columns: {name} is {old} there and {new} here")
    if list(by) != list(ours_by):
        other = UsageError(f"{label} is partitioned by {', '.join(by) or 'no column'}: partition by the same columns")
        raise other.hinted("partition-by")
