"""A table as the place that an export writes to, beside `Folder` of files: what may be written there, and when."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kcli.errors import OPTION, UsageError
from kcli.pipeline.jobs.checkpoints import ELSEWHERE, begun, names, stored
from kcli.pipeline.jobs.lake.table import Table


class Destination:
    """`mode` is error, append or overwrite. It is used as a `Folder` is: `check`, write, `settle` or `undo`."""

    local = False

    def __init__(self, table: Table, mode: str) -> None:
        self.table = table
        self.mode = self.spark_mode = mode
        self.target = table.label
        self.place = table.where

    def recover(self) -> list[str]:
        """Nothing: files without a commit are in no table, and `pipeline clean` deletes them."""
        return []

    def check(self, form: str = "", partition_by: Sequence[str] = ()) -> None:
        """Raise UsageError for a table that is there, unless rows are added to it or replace its own."""
        there = self.table.exists()
        if there and self.mode == "error":
            raise UsageError(f"the table {self.table.label} exists").hinted("append-overwrite")

    def check_stream(self, checkpoint: Path | str, form: str = "", partition_by: Sequence[str] = ()) -> None:
        """Raise UsageError unless table and checkpoint are of one pipeline, or it is added to."""
        added, self.mode = self.mode == "append", "append"
        if isinstance(checkpoint, str) and not stored(checkpoint):
            raise UsageError(ELSEWHERE).hinted(OPTION)
        there, known = self.table.exists(), begun(checkpoint)
        if there and not known and not added:
            raise UsageError(
                f"the table {self.table.label} exists and {checkpoint} knows nothing of it: name the checkpoint that "
                "wrote it, or append to it"
            ).hinted("append-topic")
        if known and there is False and names(checkpoint, "commits"):
            raise UsageError(
                f"{checkpoint} says that records were written to {self.table.label}, but the table is missing: start "
                "over with another name or checkpoint"
            )

    def settle(self) -> int:
        """Nothing: the commit was all. The bytes are those of the export."""
        return -1

    def undo(self) -> None:
        """Nothing: what is not committed is in no table."""
