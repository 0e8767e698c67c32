"""Parquet files of a table, written by the tasks in their final places: a data source that only kcli's jobs use.

Each task answers with an entry for each file: its place, rows, bytes, partition values and parquet footer, which has
the statistics. The driver commits the entries to the table's log; a file without a commit is in no table.
"""

from __future__ import annotations

import base64
import pickle
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from pyspark.sql.datasource import DataSource, DataSourceArrowWriter, WriterCommitMessage

from kcli.pipeline.sink.layout import FileEntry, Layout

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType

NAME = "kcli-files"


class FilesSource(DataSource):
    """df.write.format("kcli-files"): takes the options layout and report, which `options_of` makes."""

    @classmethod
    def name(cls) -> str:
        return NAME

    def writer(self, schema: StructType, overwrite: bool) -> FilesWriter:
        return FilesWriter(pickle.loads(base64.b64decode(self.options["layout"])), self.options["report"])


class TaskFiles(WriterCommitMessage):
    """The files of a task."""

    def __init__(self, entries: Sequence[FileEntry]) -> None:
        self.entries = list(entries)


class FilesWriter(DataSourceArrowWriter):
    """`report` is a file of the driver's that gets the entries of all tasks."""

    def __init__(self, layout: Layout, report: str) -> None:
        self.layout = layout
        self.report = report

    def write(self, iterator: Iterator[pa.RecordBatch]) -> TaskFiles:
        """The rows of a task, as files. A task that fails leaves no file."""
        from pyspark import TaskContext

        from kcli.pipeline.sink.part_files import PartFiles

        context = TaskContext.get()
        task = 0 if context is None else context.partitionId()
        files = PartFiles(self.layout, f"{task:05d}-{uuid4().hex[:12]}")
        done = False
        try:
            for batch in iterator:
                files.add(batch)
            entries = files.close()
            done = True
        finally:
            if not done:
                files.undo()
        return TaskFiles(entries)

    def commit(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        """On the driver, in a process of Spark's: hand the entries to the one that commits."""
        entries = [entry for message in messages if isinstance(message, TaskFiles) for entry in message.entries]
        Path(self.report).write_bytes(pickle.dumps(entries))

    def abort(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        """Nothing: the driver clears the folder of the attempt."""


def options_of(layout: Layout, report: Path) -> dict[str, str]:
    """The options of a job that writes so."""
    return {"layout": base64.b64encode(pickle.dumps(layout)).decode(), "report": str(report)}


def entries_of(report: Path) -> list[FileEntry]:
    """What the tasks of a job wrote, after it."""
    entries: list[FileEntry] = pickle.loads(report.read_bytes())
    return entries
