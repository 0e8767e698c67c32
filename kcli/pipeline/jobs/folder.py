"""The folder that files are written to. A batch fills one beside it and renames it when it is whole: so there is all of
an export or nothing, and what it replaces is there until then. What is not on this machine is left to Spark.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from kcli.errors import UsageError

MARKS = ("_SUCCESS", "_delta_log", "_spark_metadata")
"""What Spark leaves in a folder that it wrote."""


class Folder:
    """`place` is a path or a URI; `mode` is error, append or overwrite. `check` first, write to `target`, then `settle`
    or `undo`."""

    def __init__(self, place: str, mode: str, *, direct: bool = False) -> None:
        self.place = place.removeprefix("file://") if place.startswith("file:///") else place
        self.mode = mode
        self.local = "://" not in self.place and not self.place.startswith("hdfs:")
        self._path = Path(self.place)
        beside = self._path.absolute().parent / f".{self._path.absolute().name}.part-{os.getpid()}"
        self._part = beside if self.local and mode != "append" and not direct else None

    @property
    def target(self) -> str:
        """Where Spark writes."""
        if self._part is not None:
            return uri_of(self._part)
        return uri_of(self._path) if self.local else self.place

    @property
    def spark_mode(self) -> str:
        """Spark's word for what to do with what is there."""
        return "error" if self._part is not None else self.mode

    def check(self) -> None:
        """Raise UsageError for a place that is no place for this."""
        if not self.local:
            return
        path = self._path
        if path.exists() and not path.is_dir():
            raise UsageError(f"{path} is a file; an export is a folder of files")
        above = next(one for one in path.absolute().parents if one.exists())
        if not (above.is_dir() and os.access(above, os.W_OK | os.X_OK)):
            raise UsageError(f"{path}: nothing can be written in {above}")
        there = sorted(os.listdir(path)) if path.exists() else []
        if not there or self.mode == "append":
            return
        if self.mode == "error":
            raise UsageError(f"{path} is not empty: --append adds to it, --overwrite replaces it")
        if not any(mark in there for mark in MARKS):
            raise UsageError(f"--overwrite: {path} has {there[0]} in it and is no export; remove it yourself")

    def check_stream(self, checkpoint: Path | str) -> None:
        """Raise UsageError unless folder and checkpoint are of one pipeline: both new, or both there."""
        if not self.local or isinstance(checkpoint, str):
            return
        self.mode = "append"
        self.check()
        there = os.listdir(self._path) if self._path.is_dir() else []
        known = (checkpoint / "offsets").is_dir() and any((checkpoint / "offsets").iterdir())
        if there and not known:
            raise UsageError(
                f"{self._path} is not empty and was not written by this pipeline ({checkpoint} knows nothing of it): "
                "name an empty folder, or the --checkpoint that wrote it"
            )
        if known and not there:
            raise UsageError(
                f"{checkpoint} says that records were written to {self._path}, and nothing is there any more: another "
                "--name or --checkpoint begins anew"
            )

    def settle(self) -> int:
        """Put what was written where it belongs. Returns its bytes, -1 where nobody can say."""
        if self._part is not None:
            old = self._part.with_suffix(".old")
            if self._path.exists():
                self._path.rename(old)
            self._part.rename(self._path)
            shutil.rmtree(old, ignore_errors=True)
        return size_of(self._path) if self.local else -1

    def undo(self) -> None:
        """Leave nothing behind."""
        if self._part is not None:
            shutil.rmtree(self._part, ignore_errors=True)


def uri_of(path: Path) -> str:
    """A path of this machine for Spark, whatever its default file system: Hadoop takes the text as it is, so nothing is
    escaped."""
    return f"file://{path.absolute()}"


def size_of(path: Path) -> int:
    """Bytes of the data files in a folder."""
    return sum(one.stat().st_size for one in path.rglob("*") if one.is_file() and not one.name.startswith((".", "_")))
