"""`kcli pipeline checkpoint`: what a pipeline remembers."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kcli.cli.runtime.answer import format_of
from kcli.errors import UsageError
from kcli.pipeline.jobs.checkpoints import Checkpoint

if TYPE_CHECKING:
    from kcli.cli.parsing.option import Values


def run(values: Values) -> int:
    """Show it. Returns the exit code."""
    from kcli.cli.output.render import Document, write
    from kcli.cli.output.shapes.shape import shape
    from kcli.pipeline.jobs.checkpoints import read

    words = values["words"] or []
    if len(words) != 1:
        raise UsageError("which checkpoint? kcli pipeline checkpoint DIR, or the name of a pipeline")
    found = read(place(words[0]))
    if values["reset_to"] is not None:
        from kcli.cli.commands.pipeline.checkpoint.reset import run as reset

        return reset(values, found)
    if values["execute"] or values["dry_run"] or values["topics"]:
        raise UsageError("--execute, --dry-run and --topic go with --reset-to PLACE")
    made = Document(shape=shape("pipeline.checkpoint"))
    made.rows["checkpoint"] = [
        {
            "path": str(found.path), "query": found.query or None, "batch": _number(found.batch),
            "committed": _number(found.committed), "cluster": _cluster(found.notes),
        }
    ]  # fmt: skip
    made.rows["offsets"] = _offsets(found)
    write(made, format_of(values))
    return 0


def place(word: str) -> Path:
    """The folder: of a pipeline's home, of a job that is known, or as it is named. Raises UsageError."""
    from kcli.cli.commands.pipeline.jobs.jobs import named
    from kcli.cli.commands.pipeline.session.frame import home

    path = Path(word)
    if path.is_dir():
        return path / "checkpoint" if (path / "checkpoint" / "offsets").is_dir() else path
    if os.sep in word:
        raise UsageError(f"{word}: there is no such folder")
    kept = home(word) / "checkpoint"
    if kept.is_dir():
        return kept
    entry = named(word)
    if not entry.checkpoint:
        raise UsageError(f"{entry.name} reads a batch: it has no checkpoint")
    if "://" in entry.checkpoint:
        raise UsageError(f"{entry.checkpoint} is not on this machine: copy its folder offsets here and name that")
    return Path(entry.checkpoint)


def _offsets(found: Checkpoint) -> list[dict[str, Any]]:
    ids = found.notes.get("topics") or {}
    return [
        {
            "topic": at.topic,
            "topic_id": str(ids[at.topic]) if at.topic in ids else None,
            "partition": at.partition,
            "offset": found.offsets.get(at),
            "planned": found.planned.get(at),
        }
        for at in sorted({*found.offsets, *found.planned})
    ]


def _cluster(notes: dict[str, Any]) -> str | None:
    noted = notes.get("cluster")
    return str(noted) if noted else None


def _number(batch: int) -> int | None:
    return batch if batch >= 0 else None
