"""How a job writes the files of a table, and what it tells of each."""

from __future__ import annotations

from typing import Any

from kcli.pipeline.pickling import Carried
from kcli.pipeline.sink.storage import Storage


class Layout(Carried):
    """How a job's files are written. `folder` is a URI; `schema` the columns of a file, as Arrow's IPC; `parts` the
    last columns of the rows, which are the partition values and in no file; `labels` their names in folders; `size` the
    bytes after which a file is full."""

    folder: str = ""
    schema: bytes = b""
    parts: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    compression: str = "zstd"
    size: int = 128 << 20
    storage: Storage = Storage()


class FileEntry(Carried):
    """A file that is complete. `size` is in bytes; `values` are its partition values; `footer` is
    parquet's metadata."""

    path: str = ""
    rows: int = 0
    size: int = 0
    values: tuple[Any, ...] = ()
    footer: bytes = b""
