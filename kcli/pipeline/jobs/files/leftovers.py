"""What exports of a folder left beside it when they were killed: `.NAME.part-MACHINE-PID`, files that have no name yet,
and `.NAME.old`, the export that was being replaced."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from kcli.system.processes import born, machine

PART = re.compile(r"\.part-([0-9a-f]{8})-([0-9]{1,10})")


def part_of(path: Path) -> Path:
    """Where a batch of this process fills the folder `path`."""
    return path.parent / f".{path.name}.part-{machine()}-{os.getpid()}"


def old_of(path: Path) -> Path:
    """Where the export is that is being replaced."""
    return path.parent / f".{path.name}.old"


def parts_of(path: Path) -> tuple[list[Path], list[Path], list[Path]]:
    """The parts beside a folder: of processes of this machine that are gone, of such that run, and of other
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
    """Remove what killed exports of this machine left, and give the name back to an export whose replacement was killed
    between the two renames. Returns a sentence for each, and for what may be of a run on another machine."""
    gone, running, others = parts_of(path)
    said = [f"{one} is of an export on another machine: if none runs there, it was killed; remove it" for one in others]
    old = old_of(path)
    if old.is_dir() and not old.is_symlink() and not running and not others:
        if path.exists():
            shutil.rmtree(old)
        else:
            old.rename(path)
            said.append(f"{path} is the export of before again: the run that was replacing it was killed")
    for one in gone:
        shutil.rmtree(one)
        said.append(f"removed {one}, which an export that was killed left")
    return said
