"""The columns that a stream writes into a folder of files, kept beside its checkpoint, so that a later run with other
ones leaves a folder that can be read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kcli.errors import KcliError
from kcli.pipeline.jobs.checkpoints import Beside

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType


class ColumnsChanged(KcliError):
    """Files with these columns and those that are there cannot be read together."""


def check_and_keep(frame: DataFrame, checkpoint: Path | str, form: str) -> None:
    """Hold the columns against those of earlier runs, then write them down. Raises ColumnsChanged."""
    from kcli.pipeline.jobs.schemas import ddl_of, struct_of

    if isinstance(checkpoint, str):
        return
    kept, now = Beside(checkpoint, "columns", "the columns of a pipeline"), frame.schema
    before = kept.known.get("columns")
    if before is not None:
        known = struct_of(frame.sparkSession, before)
        if form == "csv" and known.names != now.names:
            raise ColumnsChanged(
                f"the columns are {', '.join(now.names)}, and earlier runs wrote {', '.join(known.names)}: CSV files "
                "of both cannot be read together; nothing was written"
            )
        if form in ("parquet", "orc"):
            _check_types(known, now, form)
    kept.keep({"columns": ddl_of(now)})


def _check_types(known: StructType, now: StructType, form: str) -> None:
    from kcli.pipeline.jobs.schemas import difference

    found = difference(known, now)
    types = {**found.changed, **found.widened}
    if types:
        path, (before, after) = next(iter(types.items()))
        raise ColumnsChanged(
            f"the column {path} is {after}, and earlier runs wrote {before}: Spark reads no folder with {form} files "
            "of both; nothing was written"
        ).hinted("columns-changed")
