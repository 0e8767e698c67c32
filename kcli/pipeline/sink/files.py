"""Parquet files of a table, written by tasks to their final places: a data source for kcli's own jobs.

File names are unique, so a repeated task, or another driver, replaces none. Each task returns an entry per file: its
place, rows, bytes, partition values and Parquet footer. The driver commits the entries; a file without a commit is in
no table.
"""

from __future__ import annotations

import base64
import pickle
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from pyspark.sql.datasource import DataSource, DataSourceArrowWriter, WriterCommitMessage

from kcli.errors import KcliError
from kcli.pipeline.pickling import Carried
from kcli.pipeline.sink.storage import Storage, told
from kcli.system.files import DOCUMENT, read

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

NAME = "kcli-files"
PLAIN = re.compile(r"[A-Za-z0-9._=-]+")
GROUP = 32 << 20
"""Arrow bytes of a row group."""
ROWS = 1 << 20
"""Rows of a row group, however small they are."""
LONG = 100
"""Characters of a folder's name."""
CODECS = {"uncompressed": "none", "lz4_raw": "lz4"}
"""Codecs that Arrow names differently from Spark."""


class FilesSource(DataSource):
    """df.write.format("kcli-files"): has the options layout and report, which `written` sets."""

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
    """`report` is a file of the driver for the entries of all tasks."""

    def __init__(self, layout: Layout, report: str) -> None:
        self.layout = layout
        self.report = report

    def write(self, iterator: Iterator[pa.RecordBatch]) -> TaskFiles:
        """Write the rows of a task to files. A failed task leaves no files."""
        from pyarrow import ArrowInvalid
        from pyspark import TaskContext

        context = TaskContext.get()
        task = 0 if context is None else context.partitionId()
        files = PartFiles(self.layout, f"{task:05d}-{uuid4().hex}")
        done = False
        try:
            with told(self.layout.folder):
                for batch in iterator:
                    files.add(batch)
                entries = files.close()
            done = True
        except ArrowInvalid as problem:  # a null in a column that does not allow it
            raise KcliError(f"{self.layout.folder}: {str(problem).splitlines()[0]}") from problem
        finally:
            if not done:
                files.undo()
        return TaskFiles(entries)

    def commit(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        """On the driver, in one of Spark's processes: pass the entries to the committing process."""
        entries = [entry for message in messages if isinstance(message, TaskFiles) for entry in message.entries]
        Path(self.report).write_bytes(pickle.dumps(entries))

    def abort(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        """On the driver, after a task failed: delete the files of the others, which nothing lists."""
        for message in messages:
            for entry in message.entries if isinstance(message, TaskFiles) else ():
                self.layout.storage.delete(entry.path)


def written(rows: DataFrame, layout: Layout) -> list[FileEntry]:
    """Run the job that writes the rows; return the entries of its files."""
    rows.sparkSession.dataSource.register(FilesSource)
    with TemporaryDirectory(prefix="kcli-files-") as folder:
        report = Path(folder) / "entries"
        options = {"layout": base64.b64encode(pickle.dumps(layout)).decode(), "report": str(report)}
        rows.write.format(FilesSource.name()).mode("append").options(**options).save()
        entries: list[FileEntry] = pickle.loads(read(report, DOCUMENT))
        return entries


class PartFiles:
    """Call `add` with batches, then `close`, or else `undo`. The rows are sorted by partition values, so only one file
    is open."""

    def __init__(self, layout: Layout, stem: str) -> None:
        import pyarrow as pa

        self._layout = layout
        self._stem = stem
        self._schema = pa.ipc.read_schema(pa.BufferReader(layout.schema))
        self._system, self._root = layout.storage.opened(layout.folder)
        self._held: list[pa.RecordBatch] = []
        self._bytes = 0
        self._rows = 0
        self._values: tuple[Any, ...] = ()
        self._writer: ParquetWriter | None = None
        self._stream: Any = None
        self._path = ""
        self._footers: list[Any] = []
        self._done: list[FileEntry] = []

    def add(self, batch: pa.RecordBatch) -> None:
        """Add rows."""
        for values, rows in self._runs(batch):
            if values != self._values:
                self._finish()
                self._values = values
            self._held.append(rows)
            self._bytes += rows.nbytes
            self._rows += rows.num_rows
            if self._bytes >= GROUP or self._rows >= ROWS:
                self._flush()

    def close(self) -> list[FileEntry]:
        """Finish the last file; return the entries of all."""
        self._finish()
        return self._done

    def undo(self) -> None:
        """Delete what was written. Anything that cannot be deleted is in no table."""
        paths = [self._layout.storage.opened(entry.path)[1] for entry in self._done]
        if self._stream is not None:
            self._writer = None
            with suppress(OSError):  # the disk is full: the rest was not written
                self._stream.close()
            paths.append(self._path)
        for path in paths:
            with suppress(OSError):
                self._system.delete_file(path)

    def _runs(self, batch: pa.RecordBatch) -> Iterator[tuple[tuple[Any, ...], pa.RecordBatch]]:
        """Yield the rows of each partition value, without its columns."""
        parts = self._layout.parts
        rows = batch.drop_columns(list(parts)) if parts else batch
        if not parts or not batch.num_rows:
            if batch.num_rows:
                yield (), rows
            return
        import numpy as np

        changes: Any = np.zeros(batch.num_rows - 1, dtype=bool)
        for name in parts:
            codes = batch.column(name).dictionary_encode(null_encoding="encode").indices.to_numpy()
            changes |= codes[1:] != codes[:-1]
        starts = [0, *(np.flatnonzero(changes) + 1).tolist(), batch.num_rows]
        for start, end in pairwise(starts):
            yield tuple(batch.column(name)[start].as_py() for name in parts), rows.slice(start, end - start)

    def _flush(self) -> None:
        """Write a row group of the buffered rows."""
        if not self._held:
            return
        import pyarrow as pa

        table = fitted(pa.Table.from_batches(self._held), self._schema)
        self._held, self._bytes, self._rows = [], 0, 0
        writer = self._opened()
        writer.write_table(table, row_group_size=max(table.num_rows, 1))
        if self._stream.tell() >= self._layout.size:
            self._complete()

    def _opened(self) -> ParquetWriter:
        """Return the writer of the open file."""
        if self._writer is None:
            from pyarrow.parquet import ParquetWriter

            folders = [_folder(name, value) for name, value in zip(self._layout.labels, self._values, strict=True)]
            folder = "/".join([self._root, *folders])
            self._path = f"{folder}/{self._stem}-{len(self._done):05d}.parquet"
            self._system.create_dir(folder, recursive=True)
            self._stream = self._system.open_output_stream(self._path)
            self._footers = []
            codec = CODECS.get(self._layout.compression, self._layout.compression)
            self._writer = ParquetWriter(
                self._stream,
                self._schema,
                compression=codec,
                store_schema=False,
                metadata_collector=self._footers,
            )
        return self._writer

    def _finish(self) -> None:
        """Finish a partition value."""
        self._flush()
        self._complete()

    def _complete(self) -> None:
        """Close the open file, and add its entry."""
        if self._writer is None:
            return
        self._writer.close()
        size = self._stream.tell()
        self._stream.close()
        self._writer = self._stream = None
        footer = BytesIO()
        self._footers[0].write_metadata_file(footer)
        uri = self._layout.folder[: self._layout.folder.index("://") + 3] + self._path
        self._done.append(
            FileEntry(
                path=uri,
                rows=self._footers[0].num_rows,
                size=size,
                values=self._values,
                footer=footer.getvalue(),
            )
        )


def _folder(name: str, value: Any) -> str:
    """Return `day=2026-11-24`. Readers use the values in the table's log; values that are long, or that readers of
    paths would escape differently, are not in names."""
    folder = f"{name}={'null' if value is None else value}"
    return folder if PLAIN.fullmatch(folder) and len(folder) < LONG else "other"


def fitted(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return the columns of a schema, by name; missing ones are null."""
    import pyarrow as pa

    columns = [
        table.column(field.name).cast(field.type)
        if field.name in table.column_names
        else pa.nulls(table.num_rows, field.type)
        for field in schema
    ]
    return pa.table(columns, schema=schema)


# How a job writes the files of a table, and what it reports about each.


class Layout(Carried):
    """How a job's files are written. `folder` is a URI; `schema` the columns of a file, as Arrow IPC; `parts` the last
    columns of the rows, which are the partition values and not in files; `labels` their names in folders; `size` the
    bytes at which a file is full."""

    folder: str = ""
    schema: bytes = b""
    parts: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    compression: str = "zstd"
    size: int = 128 << 20
    storage: Storage = Storage()


class FileEntry(Carried):
    """A complete file. `size` is in bytes; `values` are its partition values; `footer` is Parquet's metadata."""

    path: str = ""
    rows: int = 0
    size: int = 0
    values: tuple[Any, ...] = ()
    footer: bytes = b""
