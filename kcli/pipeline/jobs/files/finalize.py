"""Deletes files that unfinished batches of a stream left in a folder.

Spark's own readers consult _spark_metadata, which lists the files of every complete batch. Other readers read
everything in the folder, so they see the files of a batch twice if it was interrupted and repeated under other names.
Files that the log does not list are deleted; missing ones are reported. Never run while a job writes there.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from urllib.parse import unquote

from kcli.errors import UsageError
from kcli.pipeline.jobs import locks
from kcli.pipeline.jobs.files.folder import LOG, parts_of
from kcli.system.files import DOCUMENT, read_text
from kcli.text.numbers import counted
from kcli.values import Value, field


class UnfinishedBatches(Value):
    """The result of `find_leftovers`: files (or folders) left by unfinished batches, their size, the files in the log
    (`committed`), and those of them that are `missing`."""

    orphans: list[Path] = field(factory=list)
    sizes: dict[Path, int] = field(factory=dict)
    committed: int = 0
    missing: list[str] = field(factory=list)


def finalize(path: Path) -> UnfinishedBatches:
    """Find and delete such files. Raises UsageError like `find_leftovers`."""
    leftovers = find_leftovers(path)
    remove(leftovers)
    return leftovers


def find_leftovers(path: Path) -> UnfinishedBatches:
    """Return the files to delete. Raises UsageError for a folder that was not written by a Spark stream or an export,
    and while a pipeline writes there."""
    path = path.absolute()
    leftovers = UnfinishedBatches()
    parts, _, _ = parts_of(path.resolve())
    if not path.is_dir() and not parts:
        raise UsageError(f"{path}: folder not found")
    if not (path / LOG).is_dir() and not parts:
        raise UsageError(f"{path} has no {LOG}: no stream wrote it, so there is nothing to finalize")
    locks.check(str(path))
    if (path / LOG).is_dir():
        _against_the_log(path, leftovers)
    leftovers.orphans += parts
    for orphan in leftovers.orphans:
        files = orphan.rglob("*") if orphan.is_dir() else [orphan]
        leftovers.sizes[orphan] = sum(file.stat().st_size for file in files if file.is_file())
    return leftovers


def remove(leftovers: UnfinishedBatches) -> None:
    """Delete what `find_leftovers` found, and folders that are then empty."""
    for orphan in leftovers.orphans:
        if orphan.is_dir():
            shutil.rmtree(orphan)
            continue
        orphan.unlink(missing_ok=True)
        (orphan.parent / f".{orphan.name}.crc").unlink(missing_ok=True)
        if orphan.parent.name.count("=") and not any(orphan.parent.iterdir()):
            orphan.parent.rmdir()


def _against_the_log(path: Path, leftovers: UnfinishedBatches) -> None:
    # Spark puts a random UUID into each name, so names are enough, even if the folder was moved
    named = committed(path)
    there = {
        path.name: path
        for path in sorted(path.rglob("*"))
        if path.is_file() and LOG not in path.parts and not path.name.startswith((".", "_"))
    }
    leftovers.committed = len(named)
    leftovers.missing = sorted(named - set(there))
    if named and len(leftovers.missing) == len(named):
        raise UsageError(
            f"{path / LOG} lists {counted(len(named), 'file')}, but none is in the folder; nothing was done"
        )
    leftovers.orphans = [path for name, path in there.items() if name not in named]


def committed(path: Path) -> set[str]:
    """Return the names of the files of complete batches, from Spark's log. Raises UsageError for a log that cannot be
    read."""
    numbers: dict[int, Path] = {}
    compact = -1
    for entry in (path / LOG).iterdir():
        match = re.fullmatch(r"(\d+)(\.compact)?", entry.name)
        if match is None:
            continue
        number = int(match.group(1))
        if number not in numbers or match.group(2):
            numbers[number] = entry
        if match.group(2):
            compact = max(compact, number)
    files: set[str] = set()
    for number, entry in sorted(numbers.items()):
        if number < compact:
            continue
        version, *lines = read_text(entry, DOCUMENT).splitlines() or [""]
        try:
            if version != "v1":
                raise ValueError(version)
            for line in lines:
                row = json.loads(line)
                name = unquote(row["path"]).rpartition("/")[2]
                (files.add if row["action"] == "add" else files.discard)(name)
        except (ValueError, KeyError, TypeError):
            raise UsageError(f"{entry} is not in the log format of this Spark version; nothing was done") from None
    return files
