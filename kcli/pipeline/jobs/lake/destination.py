"""A table as destination of an export, with the interface of `Folder`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kcli.errors import OPTION, UsageError
from kcli.pipeline.jobs.checkpoints import ELSEWHERE, begun, names, stored
from kcli.pipeline.jobs.lake.table import Table


class Destination:
    """`mode` is error, append or overwrite. Used like a `Folder`: `check`, write, `settle` or `undo`."""

    local = False

    def __init__(self, table: Table, mode: str) -> None:
        self.table = table
        self.mode = self.spark_mode = mode
        self.target = table.label
        self.place = table.where

    def recover(self) -> list[str]:
        """Do nothing: files without a commit are in no table, and `pipeline clean` deletes them."""
        return []

    def check(self, form: str = "", partition_by: Sequence[str] = ()) -> None:
        """Raise UsageError for an existing table, unless rows are added to it or replace its own."""
        there = self.table.exists()
        if there and self.mode == "error":
            raise UsageError(f"the table {self.table.label} exists").hinted("append-overwrite")

    def check_stream(self, checkpoint: Path | str, form: str = "", partition_by: Sequence[str] = ()) -> None:
        """Raise UsageError unless table and checkpoint belong to the same pipeline, or rows are added."""
        added, self.mode = self.mode == "append", "append"
        if isinstance(checkpoint, str) and not stored(checkpoint):
            raise UsageError(ELSEWHERE).hinted(OPTION)
        there, known = self.table.exists(), begun(checkpoint)
        if there and not known and not added:
            raise UsageError(
                f"the table {self.table.label} exists, but {checkpoint} has no record of it: use the checkpoint "
                "that wrote it, or append to it"
            ).hinted("append-topic")
        if known and there is False and names(checkpoint, "commits"):
            raise UsageError(
                f"{checkpoint} says that records were written to {self.table.label}, but the table is missing: start "
                "over with another name or checkpoint"
            )

    def settle(self) -> int:
        """Do nothing: the commit was all. The size is that of the export."""
        return -1

    def undo(self) -> None:
        """Do nothing: what is not committed is in no table."""
