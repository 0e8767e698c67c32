"""Where Spark's own output goes: a file for each run in the state folder. The newest are kept, and
those of processes that run."""

from __future__ import annotations

import os
import time
from pathlib import Path

from kcli.paths import state_folder
from kcli.system.processes import runs

KEPT = 50
"""Logs that are kept besides the new one."""


def folder() -> Path:
    """Where the logs are."""
    return Path(state_folder("spark"))


def log_file() -> Path:
    """The path of a new log. Old ones go."""
    place = folder()
    prune(place)
    return place / time.strftime(f"%Y%m%d-%H%M%S-{os.getpid()}.log")


def prune(place: Path, kept: int = KEPT) -> None:
    """Leave the `kept` newest, by the time that is in their names; one that this user may not remove stays."""
    for old in sorted(place.glob("[0-9]*-[0-9]*-[0-9]*.log"), reverse=True)[kept:]:
        if not runs(int(old.stem.rpartition("-")[2])):
            try:
                old.unlink()
            except OSError:
                continue
