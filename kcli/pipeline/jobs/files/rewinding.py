"""Moves a checkpoint back or forward. Batch numbers remain without gaps, as Spark's file sink requires.

A reset records that the last complete batch ended at the new offsets. An incomplete batch is dropped, unless a folder
of files already contains it: then it counts as complete and ended there, because Spark's file sink skips a number that
it has seen. `skip_to` adds a complete batch that ends where a table is.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kcli.errors import UsageError
from kcli.model import TopicPartition
from kcli.pipeline.jobs.checkpoints import Checkpoint, names, text_of
from kcli.pipeline.jobs.files.folder import LOG
from kcli.pipeline.offset_options import from_offsets, to_json
from kcli.pipeline.sink.storage import storage_here

VERSION = "v1"
"""Supported version of the files."""
COMMITTED = f'{VERSION}\n{{"nextBatchWatermarkMs":0}}'


def check(checkpoint: Checkpoint) -> None:
    """Raise UsageError for a checkpoint with more state than offsets, without offsets, or in a store."""
    if checkpoint.store:
        raise UsageError(
            f"{checkpoint.store} is in an object store, where kcli cannot reset a checkpoint: start another "
            "pipeline with another checkpoint at the offsets you want, or append to the same table"
        )
    if checkpoint.batch < 0:
        raise UsageError(f"{checkpoint.path} has no batch yet: the options of the first run set where it starts")
    if checkpoint.committed < 0:
        raise UsageError(
            f"{checkpoint.path} has no complete batch yet: its first batch will be repeated as planned; to "
            "start elsewhere, use another name or checkpoint"
        )
    _check_form(checkpoint)


def _check_form(checkpoint: Checkpoint) -> None:
    place = checkpoint.place
    if names(place, "state") or (isinstance(place, Path) and (place / "state").is_dir()):
        raise UsageError(
            f"{place} also stores aggregates and windows of the records read; with other offsets they would be "
            "wrong: start over "
            "with another name or checkpoint"
        )
    version = text_of(place, f"offsets/{checkpoint.batch}").split("\n", 1)[0].strip()
    if version != VERSION:
        raise UsageError(
            f"{place} was written by another Spark version: its offsets have {version[:20]}, not {VERSION}"
        )


def rewrite(checkpoint: Checkpoint, offsets: Mapping[TopicPartition, int], *, sunk: bool = False) -> int:
    """Make the next batch begin at `offsets`; other partitions are unchanged. `sunk`: the incomplete batch is in the
    sink. Returns the number of the batch that records this. Raises UsageError like `check`."""
    check(checkpoint)
    made = _moved(checkpoint, checkpoint.committed, offsets)
    planned = checkpoint.batch > checkpoint.committed
    number = checkpoint.batch if planned and sunk else checkpoint.committed
    _put(checkpoint.place, f"offsets/{number}", made)
    if planned and sunk:
        _put(checkpoint.place, f"commits/{number}", COMMITTED)
    elif planned:
        for name in (str(checkpoint.batch), f".{checkpoint.batch}.crc"):
            (checkpoint.path / "offsets" / name).unlink(missing_ok=True)
    return number


def skip_to(checkpoint: Checkpoint, offsets: Mapping[TopicPartition, int]) -> None:
    """Make the next batch begin at `offsets`, which a table already has. The incomplete batch, or else an additional
    one, counts as complete and ended there.

    If this is killed in between, the next run finds a batch that the table has. Raises UsageError for a checkpoint that
    also has other state.
    """
    _check_form(checkpoint)
    number = checkpoint.batch if checkpoint.batch > checkpoint.committed else checkpoint.batch + 1
    _put(checkpoint.place, f"offsets/{number}", _moved(checkpoint, checkpoint.batch, offsets))
    whole = text_of(checkpoint.place, f"commits/{checkpoint.committed}") if checkpoint.committed >= 0 else ""
    _put(checkpoint.place, f"commits/{number}", whole or COMMITTED)


def sunk(checkpoint: Checkpoint, destination: str) -> bool:
    """Whether the destination folder already has files of the incomplete batch. Raises UsageError for a folder that
    cannot be read from here."""
    if "://" in destination:
        raise UsageError(
            f"batch {checkpoint.batch} is not complete, and this machine cannot see whether {destination} has its "
            "files: let the pipeline finish the batch, then reset it"
        )
    log = Path(destination) / LOG  # every tenth batch is in a file with the previous ones
    return any((log / f"{checkpoint.batch}{suffix}").exists() for suffix in ("", ".compact"))


def _moved(checkpoint: Checkpoint, number: int, offsets: Mapping[TopicPartition, int]) -> str:
    """Return the offsets of a batch, with some replaced."""
    lines = text_of(checkpoint.place, f"offsets/{number}").splitlines()
    return "\n".join([*lines[:2], *(_line(line, offsets) for line in lines[2:])])


def _line(text: str, offsets: Mapping[TopicPartition, int]) -> str:
    """Return a source's offsets, with those of its topics replaced."""
    if text.strip() in ("", "-"):
        return text
    before: dict[str, Any] = json.loads(text)
    kept = {name: one for name, one in before.items() if name[:1] == "@"}
    topics = {at.topic for at in from_offsets(before)}
    made = from_offsets(before) | {at: offset for at, offset in offsets.items() if at.topic in topics}
    return json.dumps({**to_json(made), **kept}, separators=(",", ":"))


def _put(place: Path | str, name: str, text: str) -> None:
    """Write the file atomically, and remove the checksum of its previous content, which Hadoop keeps beside it."""
    if isinstance(place, str):
        storage_here().write(f"{place}/{name}", text.encode())
        return
    file = place / name
    file.parent.mkdir(parents=True, exist_ok=True)
    (file.parent / f".{file.name}.crc").unlink(missing_ok=True)
    part = file.parent / f".{file.name}.kcli"
    with part.open("w") as out:
        out.write(text)
        out.flush()
        os.fsync(out.fileno())
    part.replace(file)
