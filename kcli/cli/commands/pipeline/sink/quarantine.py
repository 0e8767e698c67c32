"""The folder of --on-bad quarantine: records that do not fit, whole, as the tasks that read them write them down."""

from __future__ import annotations

import os
from pathlib import Path

from kcli.cli.commands.pipeline.options import QuarantineOptions
from kcli.cli.commands.pipeline.session.frame import Frame
from kcli.cli.commands.pipeline.sink.folder import recover
from kcli.errors import UsageError
from kcli.pipeline.jobs.files.folder import Folder


class Quarantine:
    """A folder that a batch fills beside its place and renames when it is whole, and that a stream adds to. `place` is
    its name. Raises UsageError for a place that is none."""

    def __init__(self, frame: Frame, place: str, mode: str) -> None:
        self.place = place
        self._overwrites = mode == "overwrite"
        self._folder = Folder(place, "append" if frame.streaming else mode, direct=frame.streaming)
        if not self._folder.local:
            raise UsageError(f"--quarantine {place}: a folder of a disk that all tasks see is needed")
        recover(frame, self._folder)
        self._folder.check()

    @property
    def target(self) -> str:
        """Where the tasks write."""
        return self._folder.target.removeprefix("file://")

    def begin(self) -> None:
        """Mark the folder of a batch, so that --overwrite knows it."""
        if self._folder.spark_mode == "error":
            Path(self.target).mkdir(parents=True, exist_ok=True)
            Path(self.target, "_SUCCESS").touch()

    def settle(self) -> None:
        """The folder gets its name, where any record is in it or it replaces another."""
        if any(Path(self.target).glob("*.parquet")) or (self._overwrites and Path(self.place).exists()):
            self._folder.settle()
        else:
            self._folder.undo()

    def undo(self) -> None:
        """Leave nothing of a batch behind."""
        self._folder.undo()


def place_of(frame: Frame, options: QuarantineOptions, files: str) -> str:
    """The folder that the line says, or that is beside `files`; "" where nothing is kept. Raises UsageError."""
    if options.on_bad != "quarantine":
        if options.quarantine is not None:
            raise UsageError("--quarantine goes with --on-bad quarantine")
        return ""
    if frame.connector == "jvm":
        raise UsageError("--on-bad quarantine is kcli's: Spark's own connector keeps no bad records")
    if frame.remote is not None:
        raise UsageError("--on-bad quarantine goes with --master: a server of Spark Connect has another disk")
    if options.quarantine is None and (not files or "://" in files):
        raise UsageError("--on-bad quarantine takes --quarantine DIR, a folder for the bad records")
    place = options.quarantine or f"{files.rstrip('/')}.quarantine"
    if files and os.path.realpath(files) in (os.path.realpath(place), *map(str, Path(os.path.realpath(place)).parents)):
        raise UsageError(f"--quarantine {place}: name a folder outside of the files in {files}")
    return place
