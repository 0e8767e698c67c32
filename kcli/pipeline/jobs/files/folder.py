"""The destination folder of files. A batch writes to a temporary folder beside it, which is renamed when complete: an
export is visible completely or not at all, and what it replaces is kept until then. Remote folders are left to Spark.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from kcli.errors import UsageError
from kcli.pipeline.jobs.checkpoints import begun, names, stored
from kcli.pipeline.sink.storage import as_s3a
from kcli.system.processes import born, machine

LOG, DELTA = "_spark_metadata", "_delta_log"
MARKS = ("_SUCCESS", DELTA, LOG)
"""Entries that Spark leaves in a folder it wrote."""
PART = re.compile(r"\.part-([0-9a-f]{8})-([0-9]{1,10})")


class Folder:
    """`place` is a path or a URI; `mode` is error, append or overwrite. Call `recover` and `check` first, write to
    `target`, then call `settle` or `undo`."""

    table = None
    """Not a table, unlike `lake.destination.Destination`."""

    def __init__(self, place: str, mode: str, *, direct: bool = False) -> None:
        self.place = place.removeprefix("file://") if place.startswith("file:///") else place
        self.mode = mode
        self.local = "://" not in self.place and not self.place.startswith("hdfs:")
        # the target of a link is written and renamed, never the link
        self._path = Path(os.path.realpath(self.place) if os.path.islink(self.place) else self.place)
        beside = part_of(self._path.absolute())
        self._part = beside if self.local and mode != "append" and not direct else None

    def recover(self) -> list[str]:
        """Clean up after killed exports; return a sentence about each."""
        return recover(self._path.absolute()) if self.local else []

    @property
    def target(self) -> str:
        """Return where Spark writes."""
        if self._part is not None:
            return uri_of(self._part)
        return uri_of(self._path) if self.local else as_s3a(self.place)

    @property
    def spark_mode(self) -> str:
        """Return Spark's word for how to treat existing data."""
        return "error" if self._part is not None else self.mode

    def check(self, form: str = "", partition_by: Sequence[str] = ()) -> None:
        """Raise UsageError if the place cannot be written like this; with a form, also if files do not match the
        existing ones."""
        if not self.local:
            return
        there = self._listed()
        if LOG in there and self.mode == "append":
            raise UsageError(
                f"{self._path} was written by a stream, so Spark reads only the files listed in its log {LOG}: add "
                "to it with a stream, or use a separate folder"
            )
        if there and self.mode == "append" and form:
            self._check_adding(form, partition_by)
        if not there or self.mode == "append":
            return
        if self.mode == "error":
            raise UsageError(f"{self._path} is not empty").hinted("append-overwrite")
        if not any(mark in there for mark in MARKS):
            raise UsageError(
                f"{self._path} contains {there[0]}, so it is not an export that kcli can replace; remove it yourself"
            )

    def _check_adding(self, form: str, partition_by: Sequence[str]) -> None:
        """Raise UsageError for files that do not match the existing ones, and for a Delta table, whose log would not
        list them."""
        from kcli.pipeline.jobs.files.adding import check_files, files_in

        if (self._path / DELTA).is_dir():
            raise UsageError(
                f"{self._path} is a Delta table, whose log would not list new files: add to it with the format delta"
            )
        check_files(str(self._path), list(files_in(str(self._path))), form, partition_by)

    def _listed(self) -> list[str]:
        """Return what exists there, sorted. Raises UsageError if no folder can be written."""
        path = self._path
        if path.exists() and not path.is_dir():
            raise UsageError(f"{path} is a file; an export needs a folder")
        above = next(parent for parent in path.absolute().parents if parent.exists())
        if not (above.is_dir() and os.access(above, os.W_OK | os.X_OK)):
            raise UsageError(f"{path}: cannot write in {above}")
        if self._part is not None and os.path.ismount(path):
            raise UsageError(f"{path} is a mount point, which cannot be renamed: use a folder in it")
        return sorted(os.listdir(path)) if path.exists() else []

    def check_stream(self, checkpoint: Path | str, form: str = "", partition_by: Sequence[str] = ()) -> None:
        """Raise UsageError unless folder and checkpoint belong to the same pipeline: both new, or both existing. With a
        form, like `check`."""
        if not self.local:
            self._one_pipeline(checkpoint)
            return
        self.mode = "append"
        there = self._listed()
        if isinstance(checkpoint, str) and not stored(checkpoint):
            return
        known = begun(checkpoint)
        if there == [LOG] and not known and last(self._path, LOG) < 0:
            there = []  # Spark creates its log first: a run stopped before its first batch wrote nothing
        if there and not known:
            raise UsageError(
                f"{self._path} is not empty and was not written by this pipeline ({checkpoint} has no record of "
                "it): use an empty folder, or the checkpoint that wrote it"
            )
        if known and not there:
            raise UsageError(
                f"{checkpoint} says that records were written to {self._path}, but the folder is empty: start over "
                "with another name or checkpoint"
            )
        if known and form:
            self._check_adding(form, partition_by)
        if known:
            self._one_pipeline(checkpoint)

    def _one_pipeline(self, checkpoint: Path | str) -> None:
        """Raise UsageError if the batch numbers show that the folder is ahead of the checkpoint, or belongs to another
        pipeline: Spark's file sink skips a batch whose number is in the folder's log, whatever its content. Only for
        folders and checkpoints that kcli can read."""
        place = self._path if self.local else as_s3a(self.place)
        if not all(isinstance(one, Path) or stored(one) for one in (place, checkpoint)):
            return
        written, begun, done = last(place, LOG), last(checkpoint, "offsets"), last(checkpoint, "commits")
        if written > begun:
            raise UsageError(
                f"{place} has batches of a pipeline up to {written}, but {checkpoint} only up to {begun}: the "
                "checkpoint was restored from a backup, or belongs to another pipeline. Its next records would be "
                "lost, because Spark skips batch numbers that the folder already has; use the checkpoint that wrote "
                "the folder, or start at the missing offsets in an empty folder with another checkpoint"
            )
        if written < 0 <= done:
            raise UsageError(
                f"{checkpoint} says that records were written to {place}, which has no log of them ({LOG}): the "
                "folder was replaced since; use an empty folder and another name or checkpoint"
            )
        if written < done:
            raise UsageError(
                f"{checkpoint} says that batches up to {done} were written, but {place} has them only up to "
                f"{written}: the folder was restored from a backup; start at the missing offsets in an empty "
                "folder with "
                "another checkpoint"
            )

    def settle(self) -> int:
        """Move what was written to its place. Returns its size in bytes, -1 if unknown."""
        if self._part is not None:
            old = old_of(self._path.absolute())
            if self._path.exists():
                shutil.rmtree(old, ignore_errors=True)  # from a run that was killed while deleting it
                self._path.rename(old)
            self._part.rename(self._path)
            shutil.rmtree(old, ignore_errors=True)
        return size_of(self._path) if self.local else -1

    def undo(self) -> None:
        """Remove everything that was written."""
        if self._part is not None:
            shutil.rmtree(self._part, ignore_errors=True)


def last(place: Path | str, folder: str) -> int:
    """Return the number of the last batch in one of Spark's folders (its log, offsets, commits); -1 for none."""
    found = names(place, folder)
    return max((int(one) for name in found if (one := name.removesuffix(".compact")).isdigit()), default=-1)


def uri_of(path: Path) -> str:
    """Return the URI of a local path, whatever Spark's default file system. Nothing is escaped, because Hadoop takes
    the text literally."""
    return f"file://{path.absolute()}"


def size_of(path: Path) -> int:
    """Return the size of the data files in a folder."""
    return sum(
        path.stat().st_size for path in path.rglob("*") if path.is_file() and not path.name.startswith((".", "_"))
    )


def part_of(path: Path) -> Path:
    """Return the temporary folder of this process for the folder `path`."""
    return path.parent / f".{path.name}.part-{machine()}-{os.getpid()}"


def old_of(path: Path) -> Path:
    """Return where the replaced export is kept."""
    return path.parent / f".{path.name}.old"


def parts_of(path: Path) -> tuple[list[Path], list[Path], list[Path]]:
    """Return the temporary folders beside a folder: of dead processes of this machine, of running ones, and of other
    machines."""
    gone: list[Path] = []
    running: list[Path] = []
    others: list[Path] = []
    prefix = f".{path.name}"
    for folder in sorted(path.parent.iterdir()) if path.parent.is_dir() else ():
        match = PART.fullmatch(folder.name.removeprefix(prefix)) if folder.name.startswith(prefix) else None
        if match is None or folder.is_symlink() or not folder.is_dir():
            continue
        place, pid = match.groups()
        (others if place != machine() else running if born(int(pid)) else gone).append(folder)
    return gone, running, others


def recover(path: Path) -> list[str]:
    """Remove what killed exports of this machine left, and restore an export whose replacement was killed between the
    two renames. Returns a sentence for each, and for what may belong to a run on another machine."""
    gone, running, others = parts_of(path)
    said = [
        f"{one} belongs to an export on another machine: if none is running there, it was killed; remove the file"
        for one in others
    ]
    old = old_of(path)
    if old.is_dir() and not old.is_symlink() and not running and not others:
        if path.exists():
            shutil.rmtree(old)
        else:
            old.rename(path)
            said.append(f"{path} has the previous export again, because the run that was replacing it was killed")
    for one in gone:
        shutil.rmtree(one)
        said.append(f"removed {one}, left behind by a killed export")
    return said
