"""The rows of a merge, on the driver: a table's own library merges them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kcli.pipeline.jobs.lake.merging.limits import MOST_BYTES, MOST_ROWS
from kcli.pipeline.jobs.lake.table import NotCommitted

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame


def staged(rows: DataFrame, label: str) -> pa.Table:
    """The rows, in memory: a partition after the other, so that more than the driver can hold is found in time. Raises
    NotCommitted for that."""
    import pyarrow as pa
    from pyspark.sql.pandas.types import to_arrow_schema

    schema = to_arrow_schema(rows.schema, timezone="UTC")
    parts, size = [schema.empty_table()], 0
    for row in rows.mapInArrow(packed, "rows BINARY").toLocalIterator():
        parts.append(pa.ipc.open_stream(row["rows"]).read_all().cast(schema))
        size += parts[-1].nbytes
        if size > MOST_BYTES or sum(part.num_rows for part in parts) > MOST_ROWS:
            raise NotCommitted(
                f"{label}: a batch has more keys than the driver merges, which is {MOST_ROWS:,} of "
                f"{MOST_BYTES >> 20} MiB; nothing was committed: start over with another name and fewer records per "
                "batch"
            ).hinted("max-per-batch")
    return pa.concat_tables(parts)


def packed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """In a task: each batch as one cell, which crosses Spark without an object for each value."""
    import pyarrow as pa

    for batch in batches:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as stream:
            stream.write_batch(batch)
        yield pa.record_batch({"rows": pa.array([sink.getvalue().to_pybytes()], pa.binary())})
