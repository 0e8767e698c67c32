"""The way of rows into a table: the tasks write files in their final places, the driver commits them once.

A commit says which batch of which query it is. So a batch that Spark runs again after a crash is committed once: one
that is in the table is skipped, and the files that an earlier attempt left are deleted before it is written again.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from uuid import uuid4

from kcli.errors import KcliError
from kcli.pipeline.jobs.lake.attempts import Attempt, sweep
from kcli.pipeline.sink.files import FilesSource, entries_of, options_of
from kcli.pipeline.sink.layout import FileEntry, Layout
from kcli.pipeline.sink.storage import Storage

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class NotCommitted(KcliError):
    """A commit that is certainly not in the table: its files may be deleted. After any other error it may be."""


class Committer(Protocol):
    """A table that files are committed to. `label` names it in sentences, `where` is its folder or
    URI."""

    label: str
    where: str
    storage: Storage

    def exists(self) -> bool:
        """Whether the table is there. Raises KcliError where its store cannot be read."""
        ...

    def check(self, frame: DataFrame, *, evolve: bool) -> None:
        """Before anything is written: raise where the rows do not fit to a table that is there."""
        ...

    def last(self, query: str) -> int:
        """The last batch of a query that is in the table, -1 for none."""
        ...

    def prepared(self, frame: DataFrame, attempt: str, *, evolve: bool) -> tuple[DataFrame, Layout]:
        """The rows as they are written, and how: into a folder of this attempt. With `evolve` the table gets the
        columns and wider types of the rows first. Raises UsageError where the rows do not fit to the table."""
        ...

    def commit(self, entries: Sequence[FileEntry], mode: str, query: str, batch: int) -> None:
        """One commit of all files; `mode` is error, append or overwrite. Raises NotCommitted where it is refused, and
        KcliError where it may be in the table or not."""
        ...

    def holds(self, folder: str) -> bool:
        """Whether a version of the table that is known has files of this folder (a URI). Raises KcliError."""
        ...

    def compact(self, every: float) -> None:
        """Merge small files, where the last time is that many seconds ago. Raises KcliError."""
        ...


def put(
    table: Committer,
    frame: DataFrame,
    mode: str,
    *,
    query: str = "",
    batch: int = -1,
    evolve: bool = False,
    tell: Callable[[str], None],
) -> list[FileEntry]:
    """The rows into the table, in one commit; the files. A batch of a query is committed once, however often it is
    tried; where it is no stream's, `tell` has a sentence for what killed runs left. Raises UsageError where the rows do
    not fit, KcliError where the table cannot be written."""
    if batch >= 0 and table.last(query) >= batch:
        return []
    name = f"kcli-{query or uuid4().hex}-{max(batch, 0)}"
    rows, layout = table.prepared(frame, name, evolve=evolve)
    storage = layout.storage
    if batch >= 0:
        storage.clear(layout.folder)  # of an attempt that was killed
    else:
        for sentence in sweep(layout, table.holds):
            tell(sentence)
    with Attempt(layout, marks=batch < 0) as attempt:
        entries = written(rows, layout)
        attempt.sent()
        try:
            table.commit(entries, mode, query, batch)
        except NotCommitted:
            storage.clear(layout.folder)
            attempt.refused()
            raise
    if layout.staged:
        storage.clear(layout.folder)
    else:
        storage.keep(layout.folder, {entry.path for entry in entries})
    return entries


def written(rows: DataFrame, layout: Layout) -> list[FileEntry]:
    """Run the job that writes the files; their entries."""
    spark = rows.sparkSession
    spark.dataSource.register(FilesSource)
    with tempfile.TemporaryDirectory(prefix="kcli-files-") as folder:
        report = Path(folder) / "entries"
        done = False
        try:
            rows.write.format(FilesSource.name()).mode("append").options(**options_of(layout, report)).save()
            entries = entries_of(report)
            done = True
        finally:
            if not done:
                layout.storage.clear(layout.folder)
        return entries
