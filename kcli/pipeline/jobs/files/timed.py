"""How long a table's commits take, and what they hold: for the metrics of a run."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic
from typing import TYPE_CHECKING, Any

from kcli.values import Value

if TYPE_CHECKING:
    from kcli.pipeline.jobs.lake.committer import Committer
    from kcli.pipeline.sink.layout import FileEntry


class Written(Value):
    """What a batch put into its table: files, their bytes, and the seconds of the commit."""

    files: int = 0
    bytes: int = 0
    commit: float = 0.0


class Timed:
    """A table whose commits are timed: `seconds` of the last one. Everything else is the table's own."""

    def __init__(self, table: Committer) -> None:
        self._table = table
        self.seconds = 0.0

    def __getattr__(self, name: str) -> Any:
        if name == "_table":  # while it is unpickled
            raise AttributeError(name)
        return getattr(self._table, name)

    def commit(self, entries: Sequence[FileEntry], mode: str, query: str, batch: int) -> None:
        """As `Committer.commit`."""
        began = monotonic()
        self._table.commit(entries, mode, query, batch)
        self.seconds = monotonic() - began
