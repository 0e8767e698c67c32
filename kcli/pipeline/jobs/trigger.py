"""When a stream takes its batches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.values import Frozen

if TYPE_CHECKING:
    from pyspark.sql.streaming.readwriter import DataStreamWriter


class Trigger(Frozen):
    """All that is there now and then the end (`every` is None), or a batch every `every` seconds."""

    every: float | None = None

    def on(self, writer: DataStreamWriter) -> DataStreamWriter:
        if self.every is None:
            return writer.trigger(availableNow=True)
        return writer.trigger(processingTime=f"{round(self.every * 1000)} milliseconds")
