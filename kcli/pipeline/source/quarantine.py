"""Records that did not fit their format, kept whole: a parquet file for each range that has any.

The name of a file is that of its range, and it gets it when the range is read to its end: a task that runs again, or a
batch that is done again after a crash, leaves one file with each record once.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyarrow.parquet import ParquetWriter

    from kcli.pipeline.source.ranges import Range

NEEDS = frozenset({"key", "value", "offset", "timestamp"})
"""Columns that have to be fetched for it."""
SCHEMA = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("timestamp", pa.timestamp("us", "UTC")),
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("reason", pa.string()),
    ]
)


class Kept:
    """The bad records of one range: `add` them, then `settle`, or `undo` where the range was not read to its end."""

    def __init__(self, folder: str, wanted: Range) -> None:
        self._range = wanted
        name = f"{wanted.topic}-{wanted.partition:05}-{wanted.start:020}-{wanted.end:020}.parquet"
        self._file = Path(folder, name)
        self._part = Path(folder, f".{name}.{uuid4().hex}")
        self._writer: ParquetWriter | None = None

    def add(
        self, offsets: pa.Array, times: pa.Array, keys: pa.Array, values: pa.Array, reasons: Mapping[int, str]
    ) -> None:
        """The rows of `reasons`, out of the raw columns of a batch."""
        from pyarrow import parquet

        rows = pa.array(sorted(reasons), pa.int64())
        count = len(rows)
        columns = [
            pa.repeat(pa.scalar(self._range.topic, pa.string()), count),
            pa.repeat(pa.scalar(self._range.partition, pa.int32()), count),
            *(column.take(rows) for column in (offsets, times, keys, values)),
            pa.array([reasons[row] for row in sorted(reasons)], pa.string()),
        ]
        if self._writer is None:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            self._writer = parquet.ParquetWriter(self._part, SCHEMA, compression="zstd")
        self._writer.write_batch(pa.record_batch(columns, schema=SCHEMA))

    def settle(self) -> None:
        """The file gets its name; what an earlier attempt wrote of the range goes."""
        if self._writer is None:
            self._file.unlink(missing_ok=True)
            return
        self._writer.close()
        self._writer = None
        os.replace(self._part, self._file)

    def undo(self) -> None:
        """Leave nothing of an attempt that did not settle."""
        if self._writer is not None:
            self._writer.close()
            self._part.unlink(missing_ok=True)
