"""Passes Spark's rows to a table's library, which runs in the driver.

Added rows are Parquet files in a separate folder: Spark's tasks write it and the library reads it in batches, so the
driver holds only a few batches. The folder is beside Spark's temporary files, and deleted when the library is done.
Merged rows are in the driver's memory, up to a limit.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from kcli.pipeline.jobs.lake.table import NotCommitted

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

BATCH = 1 << 16
"""Maximum number of rows that the library gets at once."""


class Staged:
    """Rows in a folder. Raises OSError if its files cannot be read."""

    def __init__(self, folder: Path, schema: pa.Schema) -> None:
        self._folder = folder
        self._schema = schema

    def reader(self) -> pa.RecordBatchReader:
        """Return the rows, a batch at a time."""
        from pyarrow import dataset

        files = dataset.dataset(self._folder, schema=self._schema, format="parquet", partitioning=None)
        return files.scanner(batch_size=BATCH, batch_readahead=1, fragment_readahead=1).to_reader()


@contextmanager
def staged(rows: DataFrame) -> Iterator[Staged]:
    """Run the job that creates the rows; they exist until the end of the block. Every column is nullable, as in tables
    that Spark writes."""
    from pyspark.sql.pandas.types import to_arrow_schema
    from pyspark.sql.types import StructType

    shape = re.sub(r'("(?:nullable|containsNull|valueContainsNull)":)false', r"\1true", rows.schema.json())
    schema = to_arrow_schema(StructType.fromJson(json.loads(shape)), timezone="UTC")
    spark = rows.sparkSession
    place = os.environ.get("SPARK_LOCAL_DIRS") or spark.conf.get("spark.local.dir", "") or tempfile.gettempdir()
    root = place.split(",")[0]
    os.makedirs(root, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="kcli-rows-", dir=root, ignore_cleanup_errors=True) as folder:
        inside = Path(folder) / "rows"
        rows.write.option("compression", "snappy").parquet(f"file://{inside}")
        yield Staged(inside, schema)


def collected(rows: DataFrame, label: str) -> pa.Table:
    """Return the rows of a merge in memory, partition by partition, so that exceeding the driver's limit is detected in
    time. Raises NotCommitted for that."""
    import pyarrow as pa
    from pyspark.sql.pandas.types import to_arrow_schema

    schema = to_arrow_schema(rows.schema, timezone="UTC")
    parts, size = [schema.empty_table()], 0
    for row in rows.mapInArrow(packed, "rows BINARY").toLocalIterator():
        parts.append(pa.ipc.open_stream(row["rows"]).read_all().cast(schema))
        size += parts[-1].nbytes
        if size > MOST_BYTES or sum(part.num_rows for part in parts) > MOST_ROWS:
            raise NotCommitted(
                f"{label}: a batch has more keys than the driver can merge ({MOST_ROWS:,} keys or "
                f"{MOST_BYTES >> 20} MiB); nothing was committed: start over with another name and fewer records per "
                "batch"
            ).hinted("max-per-batch")
    return pa.concat_tables(parts)


def packed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """In a task: pack each batch into one cell, which passes through Spark without an object per value."""
    import pyarrow as pa

    for batch in batches:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as stream:
            stream.write_batch(batch)
        yield pa.record_batch({"rows": pa.array([sink.getvalue().to_pybytes()], pa.binary())})


MOST_ROWS = 1_000_000
MOST_BYTES = 512 << 20
"""Of uncompressed columns: the library uses more while it merges."""
USUAL_ROWS, USUAL_BYTES = 500_000, 256 << 20
"""Default limits of a stream's batch."""
