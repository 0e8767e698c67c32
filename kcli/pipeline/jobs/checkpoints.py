"""What a checkpoint of Spark's holds: the last batch, the offsets it read up to, whether it was committed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from kcli.errors import UsageError
from kcli.model import TopicPartition
from kcli.pipeline.offset_options import from_offsets
from kcli.values import Value, field


class Checkpoint(Value):
    """`batch` is the last that was begun, `committed` the last that is whole (-1: none). `offsets` are where the next
    batch begins; `planned` where the one ends that was begun and is not whole. `sources` have what the reader noted of
    each: its cluster, and the ids of its topics."""

    path: Path = Path()
    query: str = ""
    batch: int = -1
    committed: int = -1
    offsets: dict[TopicPartition, int] = field(factory=dict)
    planned: dict[TopicPartition, int] = field(factory=dict)
    notes: dict[str, Any] = field(factory=dict)


def read(path: Path) -> Checkpoint:
    """Raises UsageError for a folder that is no checkpoint."""
    if not (path / "offsets").is_dir():
        raise UsageError(f"{path} is no checkpoint: it has no folder offsets")
    found = Checkpoint(path=path, batch=_last(path / "offsets"), committed=_last(path / "commits"))
    metadata = path / "metadata"
    if metadata.is_file():
        found.query = str(json.loads(metadata.read_text()).get("id", ""))
    if found.batch < 0:
        return found
    ends = _offsets(path / "offsets" / str(found.batch), found)
    if found.committed == found.batch:
        found.offsets = ends
        return found
    found.planned = ends
    before = path / "offsets" / str(found.committed)
    if before.is_file():
        found.offsets = _offsets(before, found)
    return found


def _last(folder: Path) -> int:
    numbers = [int(one.name) for one in folder.iterdir() if one.name.isdigit()] if folder.is_dir() else []
    return max(numbers, default=-1)


def _offsets(file: Path, found: Checkpoint) -> dict[TopicPartition, int]:
    """The offsets of a batch: a line of version, one of Spark's settings, then one for each source."""
    ends: dict[TopicPartition, int] = {}
    for line in file.read_text().splitlines()[2:]:
        if line.strip() in ("", "-"):
            continue
        try:
            offsets = json.loads(line)
            ends |= from_offsets({name: one for name, one in offsets.items() if name[:1] != "@"})
        except (ValueError, TypeError, AttributeError):
            raise UsageError(f"{file}: this checkpoint is not of a topic: {line[:80]}") from None
        found.notes |= offsets.get("@kcli") or {}
    return ends
