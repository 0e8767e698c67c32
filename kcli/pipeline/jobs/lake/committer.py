"""The way of rows into a table: the tasks write files in their final places, the driver commits them once.

A commit says which batch of which query it is. So a batch that Spark runs again after a crash is committed once: one
that is in the table is skipped, and the files that an earlier attempt left are deleted before it is written again.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self
from uuid import uuid4

from kcli.errors import KcliError
from kcli.pipeline.sink.files import FilesSource, entries_of, options_of
from kcli.pipeline.sink.layout import FileEntry, Layout
from kcli.pipeline.sink.storage import Storage
from kcli.system.processes import born, machine
from kcli.values import Frozen

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FOLDER = "_kcli"
SETTLED = 600.0
"""Seconds after which a commit that was sent is in the table, or never will be."""


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


# A mark for the files of a batch that is in no table yet: the next run finds by it what a killed run left.
#
# A stream needs none: its batch runs again under the same name, and clears its folder first. A mark lies in the folder
# `_kcli` beside the attempts' folders, which readers of tables pass over. It is written before the files, and removed
# when the commit is done or its files are deleted.
class Mark(Frozen):
    """Whose attempt it is; `committing` is when its commit was sent, in seconds since 1970, 0 before."""

    machine: str = ""
    pid: int = 0
    born: str = ""
    committing: float = 0.0

    @property
    def ours(self) -> bool:
        """Whether this machine knows if its process runs."""
        return self.machine == machine()

    @property
    def running(self) -> bool:
        return bool(self.born) and born(self.pid) == self.born


class Attempt:
    """`with Attempt(layout, marks=True) as attempt:` while its files are written and committed; `sent` before the
    commit, `refused` where it is certainly not in the table. The mark stays after a commit without an answer. Without
    `marks` it does nothing."""

    def __init__(self, layout: Layout, *, marks: bool) -> None:
        self._storage: Storage = layout.storage
        self._mark = mark_of(layout.folder)
        self._marks = marks
        self._unknown = False

    def __enter__(self) -> Self:
        self._write(0.0)
        return self

    def sent(self) -> None:
        """Before the commit is sent."""
        self._write(time.time())
        self._unknown = True

    def refused(self) -> None:
        """The files are of no table."""
        self._unknown = False

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._marks and (kind is None or not self._unknown):
            self._storage.delete(self._mark)

    def _write(self, committing: float) -> None:
        if not self._marks:
            return
        mark = Mark(machine=machine(), pid=os.getpid(), born=born(os.getpid()), committing=committing)
        text = json.dumps({field.name: getattr(mark, field.name) for field in Mark.__fields__})
        self._storage.write(self._mark, text.encode())


def mark_of(folder: str) -> str:
    """The mark of an attempt's folder."""
    above, _, name = folder.rpartition("/")
    return f"{above}/{FOLDER}/{name}.json"


def sweep(layout: Layout, holds: Callable[[str], bool]) -> list[str]:
    """Delete the files of killed attempts of this machine, unless `holds` says that the table has files of the folder.
    Returns a sentence for each, and for what this machine cannot know about. Raises KcliError."""
    above = layout.folder.rpartition("/")[0]
    said = []
    for name in layout.storage.names(f"{above}/{FOLDER}"):
        folder = f"{above}/{name.removesuffix('.json')}"
        if name.endswith(".json") and "/" not in name:
            said += _swept(layout.storage, folder, holds)
    return said


def _swept(storage: Storage, folder: str, holds: Callable[[str], bool]) -> list[str]:
    place = mark_of(folder)
    mark = _read(storage, place)
    if mark is not None and mark.ours and mark.running:
        return []
    if holds(folder):
        storage.delete(place)
        return []
    if mark is None or not mark.ours:
        return [f"{folder} is of a run on another machine: if that was killed, delete it, and {place}"]
    if time.time() - mark.committing < SETTLED:
        return [f"{folder} is of a run that was killed in its commit: a run ten minutes after it deletes the files"]
    files = storage.clear(folder)
    storage.delete(place)
    return [f"deleted {folder}: {files} files of a run that was killed"] if files else []


def _read(storage: Storage, uri: str) -> Mark | None:
    """A mark; None for one that is none of ours."""
    try:
        values = json.loads(storage.read(uri))
        return Mark(
            machine=str(values["machine"]),
            pid=int(values["pid"]),
            born=str(values["born"]),
            committing=float(values["committing"]),
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
