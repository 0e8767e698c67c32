"""What pipelines with a checkpoint share: when they take a batch, and the file that lets them drain."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from kcli.cli.commands.pipeline.session.frame import Frame, cluster_options
from kcli.model import TopicPartition
from kcli.paths import data_folder
from kcli.pipeline.jobs.work import Trigger
from kcli.pipeline.sink.storage import as_s3

USUAL, FILES = 1.0, 60.0
"""Seconds from batch to batch of --continuous: each batch into files or a table makes files, and many small ones are
slow to read."""


def trigger_of(frame: Frame, usual: float = USUAL) -> Trigger:
    """What --once, --continuous and --trigger mean."""
    every = usual if frame.every is None else frame.every
    return Trigger(every=None if frame.mode == "once" else every)


def stop_file_of(frame: Frame, checkpoint: Path | str) -> Path | None:
    """While it is there the source begins no batch. It is beside the checkpoint, and of one in a store in the data
    folder of the driver, which is this machine. None with --remote then."""
    if isinstance(checkpoint, Path):
        whole = Path(os.path.abspath(checkpoint))  # "." and ".." have no name of their own
        return whole.parent / f"{whole.name}.stop"  # others have their checkpoints in the same folder
    if frame.remote is not None:
        return None
    return Path(data_folder("stops")) / sha256(checkpoint.encode()).hexdigest()[:16]


def name_of(command: str, source: str, destination: str, form: str, statements: Sequence[str] = ()) -> str:
    """A pipeline's usual name: readable, and another for another folder of the same name, or other SQL."""
    word = re.sub(r"[^A-Za-z0-9._-]+", "_", f"{command}-{source}-{form}").strip("._")[:80]
    whole = as_s3(destination) if "://" in destination else os.path.abspath(destination)
    return f"{word}-{sha256(chr(0).join((source, whole, *statements)).encode()).hexdigest()[:8]}"


def show_group(frame: Frame, group: str, ends: Mapping[TopicPartition, int]) -> None:
    """Commit where a stream ended under --commit-group: Spark tells the source of every batch but its last."""
    from kcli.pipeline.connection import sealed_of
    from kcli.pipeline.log import Log
    from kcli.pipeline.source.stream import commit

    options = {name.lower(): value for name, value in cluster_options(frame.connection).items()}
    with Log(sealed_of(options)) as log:
        commit(log, group, ends)
