"""Topics into files, and rows counted on the way."""

from __future__ import annotations

from kcli.errors import UsageError
from kcli.pipeline.jobs.counting import Counted
from kcli.pipeline.jobs.work import Action, Stream
from kcli.values import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from pyspark.sql import DataFrame

CODECS = {
    "parquet": ("none", "uncompressed", "snappy", "gzip", "lz4", "lz4_raw", "brotli", "zstd"),
    "delta": ("none", "uncompressed", "snappy", "gzip", "lz4", "lz4_raw", "brotli", "zstd"),
    "orc": ("none", "snappy", "zlib", "lzo", "lz4", "zstd", "brotli"),
    "json": ("none", "bzip2", "gzip", "lz4", "snappy", "deflate", "zstd"),
    "csv": ("none", "bzip2", "gzip", "lz4", "snappy", "deflate", "zstd"),
}
USUAL = {"parquet": "zstd", "delta": "zstd", "orc": "zstd"}
TEXT = ("json", "csv")
"""The formats in which keys and values are strings unless something else is said."""


class FileForm(Frozen):
    """How files are written. `files` 0 leaves their number to Spark."""

    form: str = "parquet"
    compression: str = ""
    partition_by: tuple[str, ...] = ()
    files: int = 0


def check(form: FileForm) -> None:
    """Raise UsageError for a codec that the format does not have."""
    if form.compression and form.compression not in CODECS[form.form]:
        raise UsageError(f"-z {form.compression}: {form.form} has {', '.join(CODECS[form.form])}")


class Export:
    """A frame to write. `rows` is known after a batch ended well."""

    def __init__(self, frame: DataFrame, form: FileForm) -> None:
        missing = [name for name in form.partition_by if name not in frame.columns]
        if missing:
            there = ", ".join(frame.columns)
            raise UsageError(f"--partition-by {missing[0]}: there is no such column; there are {there}")
        if form.files:
            frame = frame.repartition(form.files)
        self._form = form
        self._counted = Counted(frame)
        self._frame = self._counted.frame

    def batch(self, target: str, mode: str) -> Action:
        """All of it, once."""
        return Action(self._frame.sparkSession, lambda: self.write(target, mode))

    def write(self, target: str, mode: str) -> None:
        """All of it, now."""
        self._set(self._frame.write.format(self._form.form).mode(mode)).save(target)

    def stream(self, target: str, checkpoint: Path | str, trigger: dict[str, Any], stop_file: Path | None) -> Stream:
        """As it comes."""
        writer = self._set(self._frame.writeStream.format(self._form.form).outputMode("append"))
        writer = writer.option("checkpointLocation", str(checkpoint)).option("path", target).trigger(**trigger)
        return Stream(writer.start, stop_file)

    def _set(self, writer: Any) -> Any:
        compression = self._form.compression or USUAL.get(self._form.form)
        if compression:
            writer = writer.option("compression", compression)
        if self._form.form == "csv":
            writer = writer.option("header", "true")
        return writer.partitionBy(*self._form.partition_by) if self._form.partition_by else writer

    @property
    def rows(self) -> int:
        """What was written; -1 where nobody counted."""
        return self._counted.rows
