"""Reads Spark's checkpoints: the last batch, its end offsets, whether it was committed. A checkpoint is a folder of
this machine (a Path), or in a store (a URI), of which kcli reads s3a://."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from kcli.errors import KcliError, UsageError
from kcli.model import TopicPartition
from kcli.pipeline.offset_options import KEY, from_offsets
from kcli.pipeline.sink.storage import storage_here
from kcli.system import files
from kcli.values import Frozen, Value, field

ELSEWHERE = "checkpoint: a stream into a table needs a folder on this machine, or s3://BUCKET/PATH"
MOST = 16 << 20
"""Maximum size of a file beside a checkpoint."""


class Checkpoint(Value):
    """`batch` is the last one started, `committed` the last complete one (-1: none). `offsets` are where the next batch
    begins; `planned` where an incomplete batch ends. `sources` have the reader's notes for each: its cluster, and the
    ids of its topics. `store` is the URI of a checkpoint in a store, which has no `path`."""

    path: Path = Path()
    store: str = ""
    query: str = ""
    batch: int = -1
    committed: int = -1
    offsets: dict[TopicPartition, int] = field(factory=dict)
    planned: dict[TopicPartition, int] = field(factory=dict)
    notes: dict[str, Any] = field(factory=dict)

    @property
    def place(self) -> Path | str:
        """The folder, or the URI."""
        return self.store or self.path

    @property
    def where(self) -> str:
        """The location in a sentence."""
        return str(self.place)


def by_kcli(path: Path) -> bool:
    """Whether kcli's reader wrote the last batch: its offsets contain the cluster and the topic ids, which Spark's own
    connector takes for topics."""
    last = path / "offsets" / str(latest(names(path, "offsets")))
    return last.is_file() and f'"{KEY}":' in files.read_text(last, files.TEXT).replace(" ", "")


def read(place: Path | str) -> Checkpoint:
    """Read a checkpoint. Raises UsageError for a folder that is not one, KcliError for a store that cannot be read."""
    found = names(place, "offsets")
    if not found and not (isinstance(place, Path) and (place / "offsets").is_dir()):
        raise UsageError(f"{place} is not a checkpoint: it has no folder offsets")
    checkpoint = Checkpoint(store=place) if isinstance(place, str) else Checkpoint(path=place)
    checkpoint.batch, checkpoint.committed = latest(found), latest(names(place, "commits"))
    metadata = text_of(place, "metadata")
    if metadata:
        checkpoint.query = str(json.loads(metadata).get("id", ""))
    if checkpoint.batch < 0:
        return checkpoint
    ends = _offsets(text_of(place, f"offsets/{checkpoint.batch}"), checkpoint)
    if checkpoint.committed == checkpoint.batch:
        checkpoint.offsets = ends
        return checkpoint
    checkpoint.planned = ends
    checkpoint.offsets = _offsets(text_of(place, f"offsets/{checkpoint.committed}"), checkpoint)
    return checkpoint


def begun(checkpoint: Path | str) -> bool:
    """Whether a checkpoint has a batch, so that part of it may be written. Raises KcliError for a store that cannot be
    read."""
    return any(name.isdigit() for name in names(checkpoint, "offsets"))


def stored(checkpoint: Path | str) -> bool:
    """Whether it is in a store that kcli reads."""
    return isinstance(checkpoint, str) and checkpoint.startswith("s3a://")


def names(checkpoint: Path | str, folder: str) -> list[str]:
    """Return the names of the files of a folder in it. Raises KcliError for a store that cannot be read."""
    if isinstance(checkpoint, str):
        return storage_here().names(f"{checkpoint}/{folder}") if stored(checkpoint) else []
    place = checkpoint / folder
    return [path.name for path in place.iterdir()] if place.is_dir() else []


def batch_of(place: Path | str, number: int) -> Checkpoint:
    """Return the state of a batch that Spark has started: `offsets` are where it begins, `planned` where it ends.
    Raises KcliError if the checkpoint does not have it."""
    state = Checkpoint(store=place) if isinstance(place, str) else Checkpoint(path=place)
    state.batch, state.committed = number, number - 1
    state.query = str(json.loads(_needed(state, "metadata"))["id"])
    if number > 0:
        state.offsets = _offsets(_needed(state, f"offsets/{number - 1}"), state)
    state.planned = _offsets(_needed(state, f"offsets/{number}"), state)
    return state


def _needed(state: Checkpoint, name: str) -> str:
    text = text_of(state.place, name)
    if not text:
        raise KcliError(f"{state.where}: the checkpoint has no file {name}")
    return text


class Beside:
    """A JSON object stored in a file beside a checkpoint, such as checkpoint.schema.json. It is ignored if the
    checkpoint has no batch. Raises UsageError for an invalid file."""

    def __init__(self, checkpoint: Path | str, word: str, what: str) -> None:
        name = f"{checkpoint}.{word}.json"
        self.path: Path | str = name if stored(checkpoint) else Path(name)
        self._what = what
        text = self._text()
        self.known: dict[str, str] = self._read(text) if text and begun(checkpoint) else {}

    def _text(self) -> str:
        """Return the content of the file; "" if it does not exist."""
        if isinstance(self.path, str):
            return storage_here().read(self.path, MOST).decode(errors="replace")
        try:
            return files.read_text(self.path, files.TEXT)
        except FileNotFoundError:
            return ""
        except (OSError, ValueError) as problem:
            raise UsageError(f"{self.path} is not {self._what}: {problem}") from problem

    def _read(self, text: str) -> dict[str, str]:
        try:
            texts = json.loads(text)
            return {str(name): str(text) for name, text in texts.items()}
        except (ValueError, AttributeError) as problem:
            raise UsageError(f"{self.path} is not {self._what}: {problem}") from problem

    def keep(self, texts: Mapping[str, str]) -> None:
        """Store it together with what is already known. Raises UsageError, KcliError for a store that cannot be
        written."""
        text = json.dumps({**self.known, **texts}, indent=1) + "\n"
        if isinstance(self.path, str):
            storage_here().write(self.path, text.encode())
            return
        part = self.path.with_suffix(f".{os.getpid()}")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            part.write_text(text, encoding="utf-8")
            part.replace(self.path)
        except OSError as problem:
            raise UsageError(f"{self.path} cannot be written: {problem.strerror}") from problem


class Sink(Frozen):
    """The destination of a pipeline, stored in a file beside its checkpoint: `folder` of files, "" for a topic or a
    table."""

    folder: str = ""

    @classmethod
    def of(cls, checkpoint: Path) -> Sink | None:
        """Read it; None if no run of kcli stored it."""
        known = Beside(checkpoint, "sink", "the sink of a pipeline").known
        return cls(folder=known["folder"]) if "folder" in known else None

    def note(self, checkpoint: Path) -> None:
        """Store it. Raises UsageError."""
        Beside(checkpoint, "sink", "the sink of a pipeline").keep({"folder": self.folder})


def latest(batches: Iterable[str]) -> int:
    """Return the last batch that has a file, -1 for none."""
    return max((int(name) for name in batches if name.isdigit()), default=-1)


def text_of(place: Path | str, name: str) -> str:
    """Return a file of a checkpoint; "" if it does not exist."""
    if isinstance(place, str):
        return storage_here().read(f"{place}/{name}", MOST).decode()
    file = place / name
    return files.read_text(file, files.TEXT) if file.is_file() else ""


def _offsets(text: str, checkpoint: Checkpoint) -> dict[TopicPartition, int]:
    """Return the offsets of a batch: its file has a line with the version, one with Spark's settings, then one for each
    source."""
    ends: dict[TopicPartition, int] = {}
    for line in text.splitlines()[2:]:
        if line.strip() in ("", "-"):
            continue
        try:
            offsets = json.loads(line)
            ends |= from_offsets({name: offset for name, offset in offsets.items() if name[:1] != "@"})
        except (ValueError, TypeError, AttributeError):
            raise UsageError(f"{checkpoint.where}: this checkpoint does not belong to a topic: {line[:80]}") from None
        checkpoint.notes |= offsets.get(KEY) or {}
    return ends
