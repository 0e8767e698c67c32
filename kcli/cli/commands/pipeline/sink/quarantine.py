"""The place of --on-bad quarantine, a folder or a topic: records that do not fit, whole, as the tasks that read them
write them down."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

from kcli.cli.commands.pipeline.options import QuarantineOptions
from kcli.cli.commands.pipeline.session.frame import Frame
from kcli.cli.commands.pipeline.sink.folder import FolderOptions, folder_mode, recover
from kcli.cli.commands.pipeline.sink.target import Target
from kcli.errors import UsageError
from kcli.pipeline.jobs.files.folder import Folder
from kcli.pipeline.options import TOPIC


class Quarantine:
    """A folder that a batch fills beside its place and renames when it is whole, and that a stream adds to. `place` is
    its name. Raises UsageError for a place that is none."""

    def __init__(self, frame: Frame, place: str, mode: str) -> None:
        self.place = place
        self._overwrites = mode == "overwrite"
        self._folder = Folder(place, "append" if frame.streaming else mode, direct=frame.streaming)
        if not self._folder.local:
            raise UsageError(f"--quarantine {place}: expected a folder that all tasks can reach")
        recover(frame, self._folder)
        self._folder.check()

    @property
    def target(self) -> str:
        """Where the tasks write."""
        return self._folder.target.removeprefix("file://")

    def prepare(self, topics: Collection[str]) -> None:
        """Nothing of the cluster's."""

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


class QuarantineTopic:
    """A topic that the tasks send to, in the cluster that is read. It is used as a folder is; what was sent stays."""

    def __init__(self, frame: Frame, place: str) -> None:
        self.target = place
        self.topic = place.removeprefix(TOPIC)
        self._topic = Target(frame, self.topic, None)

    def prepare(self, topics: Collection[str]) -> None:
        """Raise UsageError for a topic that is read, KcliError for one that is not there."""
        if self.topic in topics:
            raise UsageError(f"--quarantine {self.target}: that topic is the source; use another one")
        self._topic.check()

    def begin(self) -> None:
        """Nothing."""

    def settle(self) -> None:
        """Nothing: a task ends when the topic has its records."""

    def undo(self) -> None:
        """Nothing: the topic keeps what was sent."""


def quarantine_of(frame: Frame, options: FolderOptions, place: str) -> Quarantine | QuarantineTopic | None:
    """The folder or topic of bad records at a place; None for "". Raises UsageError."""
    if not place:
        return None
    return (
        QuarantineTopic(frame, place)
        if place.startswith(TOPIC)
        else Quarantine(frame, place, folder_mode(frame, options))
    )


def place_of(frame: Frame, options: QuarantineOptions, files: str) -> str:
    """The folder, or topic:NAME, that the line says, or the folder beside `files`; "" where nothing is kept. Raises
    UsageError."""
    if options.on_bad != "quarantine":
        if options.quarantine is not None:
            raise UsageError("--quarantine requires --on-bad quarantine")
        return ""
    if frame.connector == "jvm":
        raise UsageError("--on-bad quarantine requires kcli's connector: Spark's own connector keeps no bad records")
    if (options.quarantine or "").startswith(TOPIC):
        if options.quarantine == TOPIC:
            raise UsageError("--quarantine topic: the name is missing; write topic:NAME")
        return options.quarantine or ""
    if frame.remote is not None:
        raise UsageError("--on-bad quarantine requires --master: a Spark Connect server uses another disk")
    if options.quarantine is None and (not files or "://" in files):
        raise UsageError("--on-bad quarantine needs a place for the bad records: --quarantine DIR or topic:NAME")
    place = options.quarantine or f"{files.rstrip('/')}.quarantine"
    if files and os.path.realpath(files) in (os.path.realpath(place), *map(str, Path(os.path.realpath(place)).parents)):
        raise UsageError(f"--quarantine {place}: choose a folder outside the files in {files}")
    return place
