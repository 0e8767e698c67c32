"""`kcli pipeline checkpoint`: what a pipeline remembers; --reset-to moves it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from kcli.cli.commands.pipeline.checkpoint.reset import ResetOptions, reset
from kcli.cli.commands.pipeline.session.frame import home
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.render import write
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.runtime.answer import format_of
from kcli.cli.runtime.views import view_of
from kcli.errors import UsageError
from kcli.text.suggest import did_you_mean

if TYPE_CHECKING:
    from kcli.pipeline.jobs.checkpoints import Checkpoint


class CheckpointRow(Row, section="checkpoint"):
    path: str = column("Where it is.", rank=1)
    query: str | None = column("Spark's id of the query.", table=False)
    batch: int | None = column("The last batch that was started; null without one.")
    committed: int | None = column("The last complete batch; null without one.")
    cluster: str | None = column("Id of the cluster, if the checkpoint has it.", unit="word")


class OffsetRow(Row, section="offsets"):
    topic: str = column("Name of the topic.", rank=1)
    topic_id: str | None = column("Id of the topic, if the checkpoint has it.", sparse=True, rank=3, unit="word")
    partition: int = column("Number of the partition.", rank=1)
    offset: int | None = column("First offset of the next batch; null: the log start.", rank=1)
    planned: int | None = column("End offset of the incomplete batch.", sparse=True)


SHAPE = shape("pipeline.checkpoint", "Contents of a checkpoint.", CheckpointRow, OffsetRow)


class CheckpointOptions(ResetOptions):
    """The word names a folder, or a pipeline."""


@command(
    "pipeline checkpoint",
    help="Show or move the offsets where the next run resumes.",
    words="WHERE",
    examples="""
kcli pipeline checkpoint orders-to-lake
kcli pipeline checkpoint /data/checkpoints/orders --format json
kcli pipeline checkpoint s3://lake/checkpoints/orders
kcli pipeline checkpoint orders-to-lake --reset-to @-1d --dry-run
kcli pipeline checkpoint orders-to-lake --reset-to beginning -t orders:0,1 --execute
kcli pipeline checkpoint orders-to-lake --reset-to '{"orders":{"0":42}}' --execute""",
)
def checkpoint(options: CheckpointOptions) -> int:
    """WHERE is the folder of a checkpoint, s3://BUCKET/PATH, or the name of a pipeline. The next run resumes at
    `offset`; a batch up to `planned` was started and is repeated.

    --reset-to moves a pipeline that is not running: back, so that records are read again (earlier output stays), or
    forward, so that records are skipped. kcli prints how to undo it. SQL with sums and windows must not be reset: its
    state would be wrong. `copy --exactly-once` stores its progress in the group kcli-NAME: see `kcli groups reset`."""
    from kcli.pipeline.jobs.checkpoints import read

    if len(options.words) != 1:
        raise UsageError("missing argument: kcli pipeline checkpoint DIR, or the name of a pipeline")
    state = read(place(options.words[0]))
    if options.reset_to is not None:
        return reset(options, options.reset_to.strip(), state)
    if options.execute or options.yes or options.dry_run or options.topics:
        raise UsageError("--execute, --dry-run and --topic require --reset-to PLACE")
    document = Document(shape=SHAPE, view=view_of(options))
    document.of(CheckpointRow).append(
        CheckpointRow(
            path=state.where,
            query=state.query or None,
            batch=_number(state.batch),
            committed=_number(state.committed),
            cluster=_cluster(state.notes),
        )
    )
    document.of(OffsetRow).extend(_offsets(state))
    write(document, format_of(options))
    return 0


def place(word: str) -> Path | str:
    """The folder: of a pipeline's home, or as it is named; or the URI of a store. Raises UsageError."""
    if "://" in word:
        return _store(word)
    path = Path(word)
    if path.is_dir():
        return path / "checkpoint" if (path / "checkpoint" / "offsets").is_dir() else path
    if os.sep in word:
        raise UsageError(f"{word}: folder not found")
    kept = home(word) / "checkpoint"
    if kept.is_dir():
        return kept
    homes = home(word).parent
    known = [path.name for path in homes.iterdir() if (path / "checkpoint").is_dir()] if homes.is_dir() else []
    near = did_you_mean(word, known) or f"; it is not a folder, and {homes} has no pipeline of this name"
    raise UsageError(f"unknown pipeline {word!r}{near}")


def _store(uri: str) -> str:
    """As `checkpoints.stored` has it. Raises UsageError for a store that kcli does not read."""
    from kcli.pipeline.sink.storage import as_s3a, in_s3

    if not in_s3(uri):
        raise UsageError(
            f"{uri} is neither on this machine nor in s3://: copy its folder offsets here and use the copy"
        )
    return as_s3a(uri)


def _offsets(state: Checkpoint) -> list[OffsetRow]:
    ids = state.notes.get("topics") or {}
    return [
        OffsetRow(
            topic=at.topic,
            topic_id=str(ids[at.topic]) if at.topic in ids else None,
            partition=at.partition,
            offset=state.offsets.get(at),
            planned=state.planned.get(at),
        )
        for at in sorted({*state.offsets, *state.planned})
    ]


def _cluster(notes: dict[str, object]) -> str | None:
    noted = notes.get("cluster")
    return str(noted) if noted else None


def _number(batch: int) -> int | None:
    return batch if batch >= 0 else None
