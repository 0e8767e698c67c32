"""What a checkpoint of Spark's holds: the last batch, the offsets it read up to, whether it was committed."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kcli.errors import UsageError
from kcli.model import TopicPartition
from kcli.pipeline.offset_options import KEY, from_offsets
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


def by_kcli(path: Path) -> bool:
    """Whether kcli's reader wrote the last batch: its offsets name the cluster and the ids of the topics, which Spark's
    own connector takes for topics."""
    last = path / "offsets" / str(_last(path / "offsets"))
    return last.is_file() and f'"{KEY}":' in last.read_text().replace(" ", "")


def read(path: Path) -> Checkpoint:
    """Raises UsageError for a folder that is no checkpoint."""
    if not (path / "offsets").is_dir():
        raise UsageError(f"{path} is no checkpoint: it has no folder offsets")
    checkpoint = Checkpoint(path=path, batch=_last(path / "offsets"), committed=_last(path / "commits"))
    metadata = path / "metadata"
    if metadata.is_file():
        checkpoint.query = str(json.loads(metadata.read_text()).get("id", ""))
    if checkpoint.batch < 0:
        return checkpoint
    ends = _offsets(path / "offsets" / str(checkpoint.batch), checkpoint)
    if checkpoint.committed == checkpoint.batch:
        checkpoint.offsets = ends
        return checkpoint
    checkpoint.planned = ends
    before = path / "offsets" / str(checkpoint.committed)
    if before.is_file():
        checkpoint.offsets = _offsets(before, checkpoint)
    return checkpoint


def begun(path: Path) -> bool:
    """Whether a checkpoint has a batch: then something may be written of it."""
    return _last(path / "offsets") >= 0


class Beside:
    """A JSON object kept in a file beside a checkpoint, such as checkpoint.schema.json. What was kept of a checkpoint
    without a batch holds nothing. Raises UsageError for a file that is none."""

    def __init__(self, checkpoint: Path | str, word: str, what: str) -> None:
        self.path = Path(f"{checkpoint}.{word}.json")
        self._what = what
        held = self.path.exists() and begun(Path(checkpoint))
        self.known: dict[str, str] = self._read() if held else {}

    def _read(self) -> dict[str, str]:
        try:
            texts = json.loads(self.path.read_text(encoding="utf-8"))
            return {str(name): str(text) for name, text in texts.items()}
        except (OSError, ValueError, AttributeError) as problem:
            raise UsageError(f"{self.path} is not {self._what}: {problem}") from problem

    def keep(self, texts: Mapping[str, str]) -> None:
        """Write it down, with what is known. Raises UsageError."""
        part = self.path.with_suffix(f".{os.getpid()}")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            part.write_text(json.dumps({**self.known, **texts}, indent=1) + "\n", encoding="utf-8")
            part.replace(self.path)
        except OSError as problem:
            raise UsageError(f"{self.path} cannot be written: {problem.strerror}") from problem


def _last(folder: Path) -> int:
    numbers = [int(path.name) for path in folder.iterdir() if path.name.isdigit()] if folder.is_dir() else []
    return max(numbers, default=-1)


def _offsets(file: Path, checkpoint: Checkpoint) -> dict[TopicPartition, int]:
    """The offsets of a batch: a line of version, one of Spark's settings, then one for each source."""
    ends: dict[TopicPartition, int] = {}
    for line in file.read_text().splitlines()[2:]:
        if line.strip() in ("", "-"):
            continue
        try:
            offsets = json.loads(line)
            ends |= from_offsets({name: offset for name, offset in offsets.items() if name[:1] != "@"})
        except (ValueError, TypeError, AttributeError):
            raise UsageError(f"{file}: this checkpoint is not of a topic: {line[:80]}") from None
        checkpoint.notes |= offsets.get(KEY) or {}
    return ends
