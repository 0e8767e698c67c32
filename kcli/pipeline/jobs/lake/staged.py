"""Rows of Spark on their way to a table's library, which runs in the driver: Parquet files in a folder of their own.

Spark's tasks write the folder and the library reads it in batches, so the driver holds a few batches of the rows and
never all of them. The folder is beside Spark's own temporary files, and is deleted when the library is done.
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

from kcli.pipeline.jobs.lake.merging.limits import MOST_BYTES, MOST_ROWS
from kcli.pipeline.jobs.lake.table import NotCommitted

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

BATCH = 1 << 16
"""Rows that the library gets at once, at most."""


class Staged:
    """Rows in a folder. Raises OSError where its files cannot be read."""

    def __init__(self, folder: Path, schema: pa.Schema) -> None:
        self._folder = folder
        self._schema = schema

    def reader(self) -> pa.RecordBatchReader:
        """The rows, a batch at a time."""
        from pyarrow import dataset

        files = dataset.dataset(self._folder, schema=self._schema, format="parquet", partitioning=None)
        return files.scanner(batch_size=BATCH, batch_readahead=1, fragment_readahead=1).to_reader()

    def table(self, label: str) -> pa.Table:
        """All rows, for a merge into the table `label`. Raises NotCommitted for more than the driver can hold."""
        from pyarrow import parquet

        found = [parquet.read_metadata(file) for file in self._folder.glob("*.parquet")]
        rows = sum(one.num_rows for one in found)
        size = sum(one.row_group(number).total_byte_size for one in found for number in range(one.num_row_groups))
        if rows > MOST_ROWS or size > MOST_BYTES:
            raise NotCommitted(
                f"{label}: {rows:,} keys of {size >> 20:,} MiB in a batch are more than the driver merges, "
                f"{MOST_ROWS:,} of {MOST_BYTES >> 20} MiB; nothing was committed: start over with another name "
                "and fewer records per batch"
            ).hinted("max-per-batch")
        return self.reader().read_all()


@contextmanager
def staged(rows: DataFrame) -> Iterator[Staged]:
    """Run the job that makes the rows; they are there until the end of the block. Every column may be null, as in
    tables that Spark writes."""
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
