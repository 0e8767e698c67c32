"""Move a checkpoint: the last whole batch is recorded as having ended at the new place. Numbers of batches stay
without gaps, as Spark's file sink wants them. A batch that was begun and is not whole is forgotten, unless the sink has
it already: then it is whole, and ended there, because a sink skips a number that it has seen.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kcli.errors import UsageError
from kcli.model import TopicPartition
from kcli.pipeline.jobs.checkpoints import Checkpoint
from kcli.pipeline.jobs.files.folder import DELTA, LOG
from kcli.pipeline.offset_options import from_offsets, to_json
from kcli.system import files

VERSION = "v1"
"""Of the files that are understood here."""


def check(checkpoint: Checkpoint) -> None:
    """Raise UsageError for a checkpoint whose offsets are not all that it remembers, that has none yet, or that is in a
    store."""
    if checkpoint.store:
        raise UsageError(
            f"{checkpoint.store} is in a store, where kcli moves nothing: begin another pipeline with another "
            "checkpoint at the offsets that you want, or append to the same table"
        )
    if checkpoint.batch < 0:
        raise UsageError(f"{checkpoint.path} has no batch yet: where a first run begins, its options say")
    if checkpoint.committed < 0:
        raise UsageError(
            f"{checkpoint.path} has no whole batch yet: its first is done again as it was begun; another name or "
            "checkpoint begins elsewhere"
        )
    if (checkpoint.path / "state").is_dir():
        raise UsageError(
            f"{checkpoint.path} also keeps sums and windows of what was read; with other offsets they would be wrong: "
            "start over with another name or checkpoint"
        )
    lines = _lines(checkpoint.path / "offsets" / str(checkpoint.batch))
    if lines[0].strip() != VERSION:
        raise UsageError(
            f"{checkpoint.path} is of another Spark: its offsets say {lines[0].strip()[:20]}, not {VERSION}"
        )


def rewrite(checkpoint: Checkpoint, offsets: Mapping[TopicPartition, int], *, sunk: bool = False) -> int:
    """Let the next batch begin at `offsets`; partitions that are not in it stay. `sunk`: the batch that is not whole is
    in the sink. Returns the number of the batch that says so. Raises UsageError as `check`."""
    check(checkpoint)
    lines = _lines(checkpoint.path / "offsets" / str(checkpoint.committed))
    made = "\n".join([*lines[:2], *(_line(line, offsets) for line in lines[2:])])
    planned = checkpoint.batch > checkpoint.committed
    number = checkpoint.batch if planned and sunk else checkpoint.committed
    _put(checkpoint.path / "offsets" / str(number), made)
    if planned and sunk:
        _put(checkpoint.path / "commits" / str(number), f'{VERSION}\n{{"nextBatchWatermarkMs":0}}')
    elif planned:
        for name in (str(checkpoint.batch), f".{checkpoint.batch}.crc"):
            (checkpoint.path / "offsets" / name).unlink(missing_ok=True)
    return number


def sunk(checkpoint: Checkpoint, destination: str) -> bool:
    """Whether the files in the folder that is written to are of the batch that is not whole, too. Raises UsageError
    for a folder that cannot be looked into from here."""
    if "://" in destination:
        raise UsageError(
            f"batch {checkpoint.batch} is not complete, and this machine cannot see whether {destination} has its "
            "files: let the pipeline end the batch first, then reset it"
        )
    folder = Path(destination)
    if (folder / DELTA).is_dir():
        from kcli.pipeline.jobs.files import delta

        return delta.written(folder, checkpoint.query) >= checkpoint.batch
    log = folder / LOG  # every tenth batch is in a file with those before it
    return any((log / f"{checkpoint.batch}{suffix}").exists() for suffix in ("", ".compact"))


def _lines(file: Path) -> list[str]:
    return files.read_text(file, files.DOCUMENT).splitlines()


def _line(text: str, offsets: Mapping[TopicPartition, int]) -> str:
    """A source's offsets, with those of its topics in the place of the old ones."""
    if text.strip() in ("", "-"):
        return text
    before: dict[str, Any] = json.loads(text)
    kept = {name: one for name, one in before.items() if name[:1] == "@"}
    topics = {at.topic for at in from_offsets(before)}
    made = from_offsets(before) | {at: offset for at, offset in offsets.items() if at.topic in topics}
    return json.dumps({**to_json(made), **kept}, separators=(",", ":"))


def _put(file: Path, text: str) -> None:
    """The file as a whole, and not the checksum of another before it (Hadoop keeps them beside)."""
    file.parent.mkdir(parents=True, exist_ok=True)
    (file.parent / f".{file.name}.crc").unlink(missing_ok=True)
    part = file.parent / f".{file.name}.kcli"
    with part.open("w") as out:
        out.write(text)
        out.flush()
        os.fsync(out.fileno())
    part.replace(file)
